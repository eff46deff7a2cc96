// Reads written files with Firn's reader; tensorboard_test reads them with TensorBoard.
#include "firn/io/monitors/event_writer.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "firn/io/monitors/event_reader.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(EventWriterTest, NamesItsFileAndSaysItsVersion) {
  const EventWriter first(TempPath("names"), {.suffix = ".x", .clock = [] { return 1234.5; }});
  const EventWriter second(TempPath("names"));
  EXPECT_NE(first.path(), second.path());
  EXPECT_THAT(
      first.path(),
      MatchesRegex(".*/names/events\\.out\\.tfevents\\.0000001234\\..*\\.[0-9]+\\.[0-9]+\\.x"));
  const EventFile file = LoadEvents(first.path());
  ASSERT_EQ(file.events.size(), 1u);
  EXPECT_EQ(file.events[0].file_version, "brain.Event:2");
  EXPECT_EQ(file.events[0].wall_time, 1234.5);
}

TEST(EventWriterTest, WritesScalars) {
  EventWriter events(TempPath("scalars"), {.purge_step = 5, .clock = [] { return 7.0; }});
  events.AddScalar("loss", 0.5, 10);
  events.AddScalar("loss", FromValues({0.25}), int64_t{1} << 40);
  events.AddScalar("bad", std::nan(""), -1);
  const EventFile file = LoadEvents(events.path());
  ASSERT_EQ(file.events.size(), 5u);
  EXPECT_TRUE(file.events[1].starts_session);
  EXPECT_EQ(file.events[1].step, 5);
  EXPECT_EQ(file.events[2].scalars[0].tag, "loss");
  EXPECT_EQ(file.events[2].scalars[0].value, 0.5f);
  EXPECT_EQ(file.events[2].wall_time, 7);
  EXPECT_EQ(file.events[3].step, int64_t{1} << 40);
  EXPECT_TRUE(std::isnan(file.events[4].scalars[0].value));
  EXPECT_EQ(file.events[4].step, -1);
}

EventHistogram HistogramOf(const Tensor& values) {
  EventWriter events(TempPath("histograms"));
  events.AddHistogram("h", values, 3);
  return LoadEvents(events.path()).events.at(1).histograms.at(0).histogram;
}

TEST(EventWriterTest, CountsElementsInEqualParts) {
  const EventHistogram h = HistogramOf(Arange(0, 61));
  EXPECT_EQ(h.min, 0);
  EXPECT_EQ(h.max, 60);
  EXPECT_EQ(h.num, 61);
  EXPECT_EQ(h.sum, 60 * 61 / 2);
  EXPECT_EQ(h.sum_squares, 60 * 61 * 121 / 6);
  ASSERT_EQ(h.buckets.size(), 30u);
  EXPECT_EQ(h.bucket_limits.back(), 60);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(h.buckets[i], i == 29 ? 3 : 2) << i;
}

TEST(EventWriterTest, LeavesOutWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const EventHistogram h = HistogramOf(FromValues({std::nan(""), infinity, -infinity, 3.0, 3.0}));
  EXPECT_THAT(h.buckets, ElementsAre(2));
  EXPECT_THAT(h.bucket_limits, ElementsAre(3));
  EXPECT_THAT(HistogramOf(FromValues({std::nan("")})).buckets, ElementsAre(0));
  EXPECT_EQ(HistogramOf(Zeros({0})).num, 0);
  const double largest = std::numeric_limits<double>::max();
  const EventHistogram wide = HistogramOf(FromValues({-largest, largest}));
  EXPECT_EQ(wide.buckets.front(), 1);
  EXPECT_EQ(wide.buckets.back(), 1);
  EXPECT_EQ(wide.bucket_limits.back(), largest);
}

TEST(EventWriterTest, WritesImagesTextAndGraphs) {
  EventWriter events(TempPath("rest"));
  events.AddImage("grey", Zeros({4, 6}), 1);
  events.AddImage("colours", Zeros({3, 4, 6}, DType::kU8), 2);
  events.AddText("note", "a *b*\n\xc3\xa4", 3);
  events.AddGraph({{.name = "x", .op = "input", .output_shapes = {{2, 3}, {}}},
                   {.name = "net/relu", .op = "relu", .inputs = {"x"}, .device = "cpu"}});
  const EventFile file = LoadEvents(events.path());
  ASSERT_EQ(file.events.size(), 5u);
  const EventImage& grey = file.events[1].images.at(0).image;
  EXPECT_EQ(grey.height, 4);
  EXPECT_EQ(grey.width, 6);
  EXPECT_EQ(grey.colorspace, 1);
  EXPECT_TRUE(grey.encoded.starts_with("\x89PNG"));
  EXPECT_EQ(file.events[2].images.at(0).image.colorspace, 3);
  EXPECT_EQ(file.events[3].texts.at(0).tag, "note");
  EXPECT_EQ(file.events[3].texts.at(0).text, "a *b*\n\xc3\xa4");
  const std::vector<EventGraphNode>& graph = file.events[4].graph;
  ASSERT_EQ(graph.size(), 2u);
  EXPECT_THAT(graph[0].output_shapes, ElementsAre(ElementsAre(2, 3), ElementsAre()));
  EXPECT_THAT(graph[1].inputs, ElementsAre("x"));
  EXPECT_EQ(graph[1].name + graph[1].op + graph[1].device, "net/relurelucpu");
}

TEST(EventWriterTest, RefusesWhatItCannotWriteAndKeepsTheFile) {
  EventWriter events(TempPath("refuses"));
  const std::string before = ReadFile(events.path());
  EXPECT_THAT(ErrorOf([&] { events.AddScalar("", 1, 0); }), HasSubstr("the tag is empty"));
  EXPECT_THAT(ErrorOf([&] { events.AddText("", "x", 0); }), HasSubstr("the tag is empty"));
  EXPECT_THAT(ErrorOf([&] {
                events.AddImage("i", Zeros({2, 4, 4}), 0);
              }),
              HasSubstr("an image is [2, 4, 4] f32"));
  EXPECT_THAT(ErrorOf([&] {
                events.AddImage("i", Zeros({4, 4}, DType::kI64), 0);
              }),
              HasSubstr("u8 or floating"));
  EXPECT_THAT(ErrorOf([&] { events.AddImage("i", Zeros({0, 4}), 0); }), HasSubstr("images are"));
  EXPECT_THAT(ErrorOf([&] {
                events.AddGraph({{.name = "a"}, {.name = "a"}});
              }),
              HasSubstr("stands twice"));
  EXPECT_EQ(ReadFile(events.path()), before);
  events.AddGraph({{.name = "a"}});
  EXPECT_THAT(ErrorOf([&] { events.AddGraph({}); }), HasSubstr("has a graph already"));
  std::filesystem::remove(events.path());
  EXPECT_THAT(ErrorOf([&] { events.AddScalar("x", 1, 0); }), HasSubstr("was removed or replaced"));
  WriteFile(TempPath("file"), "");
  EXPECT_THAT(ErrorOf([] { EventWriter(TempPath("file")); }), HasSubstr("file"));
  EXPECT_THAT(ErrorOf([] { EventWriter(TempPath("x"), {.suffix = "/x"}); }), HasSubstr("slash"));
}

}  // namespace
}  // namespace firn::io
