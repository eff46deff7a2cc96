// Descriptions of inputs and outputs in graph files: they come back as they were given, add no byte
// to files without them, and are refused if they make no sense.
#include "firn/io/graph/graph_info.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/graph_info_text.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/graph/changed_graph_file.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

// A description with every field, for the graph of SmallFile.
GraphInfo Everything() {
  return {.pixel_scale = 1.0 / 255,
          .scale = 0.5,
          .mean = {0.1, 0.2, 0.3, 0.4},
          .stddev = {1, 2, 3, 4},
          .columns = {{.name = "size"}, {.name = "color", .words = {"blue", "red"}}, {.place = 7}},
          .target = GraphColumn{.name = "kind"},
          .missing = -1,
          .missing_words = {"", "-"},
          .classes = {"cat", "dog, large"},
          .probabilities = true};
}

std::string SmallPath(const std::string& bytes) {
  const std::string path = TempPath("info.firn");
  WriteFile(path, bytes);
  return path;
}

TEST(GraphInfoTest, ComesBackAsItWasGiven) {
  const std::string path = SmallPath(SmallFile(Everything()));
  EXPECT_EQ(LoadGraphInfo(path), Everything());
  const auto file = TryReadGraph(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->info, Everything());
  EXPECT_TRUE(Try(ReadFile(path)).ok());

  GraphInfo nan = {.columns = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}},
                   .missing = std::nan("")};
  const GraphInfo back = LoadGraphInfo(SmallPath(SmallFile(nan)));
  EXPECT_TRUE(back.missing.has_value() && std::isnan(*back.missing));
  EXPECT_EQ(back.columns, nan.columns);
}

// The form in which files of other formats keep the description.
TEST(GraphInfoTest, ComesBackFromText) {
  const auto file = TryReadGraph(SmallPath(SmallFile(Everything())));
  ASSERT_TRUE(file.ok()) << file.status();
  const auto parse = [&](const std::string& text) { return TryParseGraphInfo(text, file->graph); };
  auto back = parse(GraphInfoText(Everything()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, Everything());
  EXPECT_EQ(GraphInfoText({}), "{}");
  EXPECT_EQ(*parse("{}"), GraphInfo());
  const GraphInfo table = {.columns = {{.name = "a"}, {.place = 1}, {.name = "c"}, {.name = "d"}},
                           .missing = std::nan("")};
  back = parse(GraphInfoText(table));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->missing.has_value() && std::isnan(*back->missing));
  EXPECT_EQ(back->columns, table.columns);
  EXPECT_EQ(GraphInfoFields(table), (std::vector<std::string>{"columns", "missing"}));
  EXPECT_THAT(firn::testing::ErrorOf([] { GraphInfoText({.classes = {"\xff"}}); }),
              HasSubstr("expected names in UTF-8"));
}

TEST(GraphInfoTest, TextThatSaysSomethingElseIsRefused) {
  const auto file = TryReadGraph(SmallPath(SmallFile()));
  ASSERT_TRUE(file.ok()) << file.status();
  LoadLimits limits;
  limits.max_tensors = 5;
  limits.max_name_bytes = 8;
  const auto error = [&](const std::string& text) {
    const auto info = TryParseGraphInfo(text, file->graph, limits);
    return info.ok() ? "none" : std::string(info.status().message());
  };
  const std::string all = GraphInfoText(Everything());
  for (size_t n = 0; n < all.size(); ++n) EXPECT_NE(error(all.substr(0, n)), "none") << n;
  for (const char* text :
       {"[]", "1", "null", R"({"mean":1})", R"({"mean":[[1]]})", R"({"mean":["1"]})",
        R"({"classes":{}})", R"({"columns":[1]})", R"({"columns":[{"place":-1}]})",
        R"({"columns":[{"words":[[]]}]})", R"({"columns":[{"target":{}}]})", R"({"target":[]})",
        R"({"missing":"inf"})", R"({"probabilities":1})", R"({"scale":null})"}) {
    EXPECT_THAT(error(text), HasSubstr(": expected what GraphInfo has there, got ")) << text;
  }
  EXPECT_EQ(error(R"({"means":[1]})"), "\"means\": expected a field of GraphInfo, got a list");
  EXPECT_EQ(error(R"({"scale":1,"scale":2})"), "\"scale\": expected one, got two");
  EXPECT_THAT(error(R"({"columns":[{"place":0,"place":1}]})"), HasSubstr("expected one, got two"));
  EXPECT_THAT(error(R"({"classes":["a","b","c","d","e","f"]})"), HasSubstr("(limits.max_tensors)"));
  EXPECT_THAT(error(R"({"classes":["123456789"]})"), HasSubstr("(limits.max_name_bytes)"));
  EXPECT_THAT(error(R"({"scale":0})"), HasSubstr("GraphInfo::scale is 0"));
  EXPECT_THAT(error(R"({"classes":["a"]})"), HasSubstr("GraphInfo names 1 classes"));
}

// Older programs read files without a description.
TEST(GraphInfoTest, FilesWithoutItAreAsTheyWere) {
  const std::string without = SmallFile(), with = SmallFile(Everything());
  EXPECT_EQ(without[8], 1);
  EXPECT_EQ(with[8], 2);
  EXPECT_EQ(Parts(with).structure.substr(0, Parts(without).structure.size()),
            Parts(without).structure);
  EXPECT_EQ(LoadGraphInfo(SmallPath(without)), GraphInfo());
  const std::string old = "tests/io/graph/data/graph_v1.firn";
  EXPECT_EQ(LoadGraphInfo(old), GraphInfo());
  // A file that was written before there were descriptions.
  const Parts parts(ReadFile(old));
  EXPECT_EQ(internal::EncodeGraph(parts.graph()), parts.structure);
}

TEST(GraphInfoTest, DamageIsAnError) {
  const std::string file = SmallFile(Everything());
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_EQ(Try(file.substr(0, n)).code(), absl::StatusCode::kDataLoss) << n;
  }
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(Try(damaged).ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

// Changes the file and makes the checksums fit.
TEST(GraphInfoTest, NoByteOfItIsTrusted) {
  const Parts sound(SmallFile(Everything()));
  const size_t begin = Parts(SmallFile()).structure.size();
  int accepted = 0;
  for (size_t at = begin; at < sound.structure.size(); ++at) {
    for (const int byte : {0x00, 0x01, 0x02, 0x7f, 0x80, 0xff}) {
      Parts parts = sound;
      parts.structure[at] = static_cast<char>(byte);
      const absl::Status status = Try(parts.File());
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss) << status;
      accepted += status.ok() ? 1 : 0;
    }
    Parts cut = sound;
    cut.structure.resize(at);
    EXPECT_EQ(Try(cut.File()).code(), absl::StatusCode::kDataLoss) << at;
  }
  EXPECT_GT(accepted, 0);  // names may be anything
}

// A mistake of a program, and the same in a file.
TEST(GraphInfoTest, WhatMakesNoSenseIsRefused) {
  static StaticGraph graph = Freeze([](const Tensor& x) { return Relu(x); }, Zeros({2, 3}));
  const auto refused = [](const GraphInfo& info) {
    const std::string path = TempPath("refused.firn");
    const absl::Status saved = testing::StatusOf([&] { SaveGraph(path, graph, {.info = info}); });
    EXPECT_EQ(saved.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(TryLoadGraphInfo(path).ok()) << "there is a file";
    const absl::Status read = Try(Changed(graph, [&](StoredGraph& g) {
      g.version = 2;
      g.info = info;
    }));
    EXPECT_EQ(read.code(), absl::StatusCode::kDataLoss);
    const std::string message(read.message());
    EXPECT_THAT(std::string(saved.message()), HasSubstr(message.substr(message.find(": ") + 2)));
    return message;
  };
  EXPECT_THAT(refused({.pixel_scale = 0}), HasSubstr("GraphInfo::pixel_scale is 0"));
  EXPECT_THAT(refused({.scale = 1e300}), HasSubstr("GraphInfo::scale is 1e+300"));
  EXPECT_THAT(refused({.mean = {0, 0, 0}, .stddev = {1}}),
              HasSubstr("has 3 means and 1 deviations (want as many)"));
  EXPECT_THAT(refused({.mean = {0, 0}, .stddev = {1, 1}}),
              HasSubstr("2 means and deviations (want one for each channel, or one), the graph's "
                        "first input is f32 [2, 3]"));
  EXPECT_THAT(refused({.mean = {std::nan("")}, .stddev = {1}}), HasSubstr("mean[0] is nan"));
  EXPECT_THAT(refused({.mean = {0}, .stddev = {-1}}), HasSubstr("stddev[0] is -1"));
  EXPECT_THAT(refused({.columns = {{.name = "a"}, {.words = {"b"}}}}),
              HasSubstr("make 2 features, the graph's first input is f32 [2, 3]"));
  EXPECT_THAT(refused({.missing = 0}), HasSubstr("are of tables (want columns)"));
  EXPECT_THAT(refused({.classes = {"a", "b"}}),
              HasSubstr("names 2 classes, the graph's first result is f32 [2, 3]"));
  EXPECT_THAT(refused({.classes = {"a", "b", "a"}}), HasSubstr("has 'a' twice"));
  EXPECT_THAT(refused({.probabilities = true}), HasSubstr("it names none"));
}

TEST(GraphInfoTest, LimitsHoldForIt) {
  const std::string path = SmallPath(SmallFile(Everything()));
  const auto read = [&](const LoadLimits& limits) {
    return TryLoadGraphInfo(path, {.limits = limits}).status();
  };
  Parts parts(ReadFile(path));
  StoredGraph many = parts.graph();
  const size_t values = many.values.size();
  for (size_t i = 0; i < values; ++i) many.info.missing_words.push_back("x");
  parts.structure = internal::EncodeGraph(many);
  WriteFile(path, parts.File());
  const absl::Status more = read({.max_tensors = static_cast<int64_t>(values)});
  EXPECT_EQ(more.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(more.message()), HasSubstr("missing words, more than the"));
  many.info.missing_words = {std::string(5000, 'x')};
  parts.structure = internal::EncodeGraph(many);
  WriteFile(path, parts.File());
  EXPECT_EQ(read({}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(read({.max_name_bytes = 5000}).ok());
}

TEST(GraphInfoTest, NamesThePathOfWhatIsNoGraph) {
  EXPECT_THAT(testing::ErrorOf([] { LoadGraphInfo(TempPath("none.firn")); }),
              HasSubstr("none.firn"));
  WriteFile(TempPath("text.firn"), std::string(100, 'x'));
  EXPECT_EQ(TryLoadGraphInfo(TempPath("text.firn")).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace firn::io
