#include "tools/firn/monitor/collector.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/monitor.h"
#include "firn/io/monitors/monitor_image.h"
#include "firn/io/monitors/record_writer.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::cli {
namespace {

using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunContents Look(Collector* collector) {
  EXPECT_TRUE(collector->Update().ok());
  return collector->Contents();
}

std::vector<std::string> NamesOf(const RunContents& contents) {
  std::vector<std::string> names;
  for (const Chart& chart : contents.charts) names.push_back(chart.name);
  return names;
}

const ThinCurve& CurveOf(const RunContents& contents, const std::string& name,
                         const std::string& run = "") {
  static const ThinCurve none;
  for (const Chart& chart : contents.charts) {
    for (const Curve& curve : chart.curves) {
      if (curve.name == name && curve.run == run) return curve.points;
    }
  }
  ADD_FAILURE() << "no curve " << name << " of " << run;
  return none;
}

std::string NewFolder() {
  const std::string folder = TempPath("run");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(CollectorTest, FindsWhatMonitorsWrite) {
  const std::string folder = NewFolder();
  const io::Monitor monitor(folder);
  io::MonitorSeries("training loss", monitor).Add(1, 0.5);
  io::MonitorTimeElapsed("time", monitor, {.interval = 1}).Add(3);
  io::MonitorImageTile("samples", monitor, {.interval = 1}).Add(0, Rand({4, 1, 8, 8}));
  io::CsvWriter(folder + "/run.csv", {"step", "lr", "note"}).Write({3, 0.25, "text"});
  io::JsonLinesWriter(folder + "/run.jsonl").Write({{"step", 4}, {"accuracy", 0.75}});
  io::EventWriter events(folder);
  events.AddScalar("loss", 2, 5);
  events.AddHistogram("weights", Arange(0, 61), 5);
  events.AddImage("image", Full({3, 4, 6}, 0.5), 5);
  events.AddText("note", "hello", 5);
  events.AddGraph({{.name = "x"}, {.name = "net/relu", .op = "relu", .inputs = {"x"}}});

  Collector collector(folder);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(contents.problems, IsEmpty());
  EXPECT_FALSE(contents.beyond_limits);
  EXPECT_EQ(contents.files, 6);
  EXPECT_THAT(NamesOf(contents), ElementsAre("loss", "lr", "accuracy", "time: seconds a step",
                                             "time: seconds in total"));
  EXPECT_EQ(CurveOf(contents, "loss").Points("").y, std::vector<double>{2});
  EXPECT_EQ(CurveOf(contents, "training-loss").Points("").y, std::vector<double>{0.5});
  EXPECT_EQ(CurveOf(contents, "lr").Points("").x, std::vector<double>{3});
  EXPECT_EQ(CurveOf(contents, "accuracy").Points("").y, std::vector<double>{0.75});
  ASSERT_EQ(contents.pictures.size(), 2u);
  EXPECT_EQ(contents.pictures[0].name, "image");
  EXPECT_EQ(contents.pictures[0].pictures.at(0)->caption, "step 5");
  EXPECT_EQ(contents.pictures[1].name, "samples");
  EXPECT_EQ(io::DecodeImage(contents.pictures[1].pictures.at(0)->bytes).size(1), 18);
  EXPECT_EQ(contents.histograms.at(0).histograms.at(0).histogram.num, 61);
  EXPECT_EQ(contents.texts.at(0).text, "hello");
  EXPECT_EQ(contents.graphs.at(0).nodes.size(), 2u);
}

TEST(CollectorTest, ReadsOnWhereAFileHasGrown) {
  const std::string folder = NewFolder();
  const std::string path = folder + "/a.series.txt";
  WriteFile(path, "0 1\n1 2\n2 ");
  Collector collector(folder);
  EXPECT_THAT(CurveOf(Look(&collector), "a").Points("").y, ElementsAre(1, 2));
  EXPECT_FALSE(*collector.Update());
  WriteFile(path, "0 1\n1 2\n2 3\n");
  EXPECT_TRUE(*collector.Update());
  EXPECT_THAT(CurveOf(collector.Contents(), "a").Points("").y, ElementsAre(1, 2, 3));
  // A run that goes on has removed a line and written others: longer, and not the same.
  WriteFile(path, "0 1\n1 7\n2 8\n3 9\n");
  EXPECT_THAT(CurveOf(Look(&collector), "a").Points("").y, ElementsAre(1, 7, 8, 9));
  WriteFile(path, "0 5\n");
  EXPECT_THAT(CurveOf(Look(&collector), "a").Points("").y, ElementsAre(5));
  std::filesystem::remove(path);
  EXPECT_TRUE(*collector.Update());
  EXPECT_THAT(collector.Contents().charts, IsEmpty());
}

TEST(CollectorTest, LeavesOutWhatALaterSessionDoesAgain) {
  const std::string folder = NewFolder();
  {
    io::EventWriter first(folder, {.clock = [] { return 1.6e9; }});
    for (int step = 0; step < 5; ++step) first.AddScalar("loss", step, step);
    first.AddHistogram("w", Arange(0, 3), 4);
  }
  io::EventWriter second(folder, {.purge_step = 3, .clock = [] { return 1.7e9; }});
  second.AddScalar("loss", 30, 3);
  // This file belongs to no session: its curve has the file's name, beside the other one.
  io::CsvWriter(folder + "/a.csv", {"step", "loss"}).Write({9, 9});
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(CurveOf(contents, "loss").Points("").y, ElementsAre(0, 1, 2, 30));
  EXPECT_THAT(CurveOf(contents, "loss", "a.csv").Points("").y, ElementsAre(9));
}

TEST(CollectorTest, CountsNoPicturesThatALaterSessionDoesAgain) {
  const std::string folder = NewFolder();
  const Tensor image = Full({1, 4, 4}, 0.5);
  io::EventWriter first(TempPath("first")), second(TempPath("second"), {.purge_step = 3});
  for (int step = 0; step < 6; ++step) first.AddImage("part", image, step);
  for (int step = 3; step < 9; ++step) first.AddImage("whole", image, step);
  second.AddImage("part", image, 3);
  WriteFile(folder + "/events.out.tfevents.1",
            io::ReadFile(first.path()) + io::ReadFile(second.path()));
  MonitorLimits limits;
  limits.max_pictures = 4;
  Collector collector(folder, limits);
  const RunContents contents = Look(&collector);
  ASSERT_EQ(contents.pictures.size(), 2u);
  EXPECT_EQ(contents.pictures[0].pictures.size(), 2u);
  EXPECT_EQ(contents.pictures[0].left_out, 2);
  EXPECT_THAT(contents.pictures[1].pictures, IsEmpty());
  EXPECT_EQ(contents.pictures[1].left_out, 0);
}

TEST(CollectorTest, NumbersTheColumnsOfATableWithoutAHeading) {
  const std::string folder = NewFolder();
  WriteFile(folder + "/a.csv", "0,5,x\n1,6,\n");
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(NamesOf(contents), ElementsAre("1"));
  EXPECT_THAT(CurveOf(contents, "1").Points("").x, ElementsAre(0, 1));
  EXPECT_THAT(CurveOf(contents, "1").Points("").y, ElementsAre(5, 6));
}

TEST(CollectorTest, PutsRunsInFoldersIntoOneChart) {
  const std::string folder = NewFolder();
  for (const char* run : {"a", "b"}) {
    std::filesystem::create_directories(folder + "/" + run);
    WriteFile(folder + "/" + run + "/loss.series.txt", "0 1\n");
  }
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  ASSERT_EQ(contents.charts.size(), 1u);
  EXPECT_EQ(contents.charts[0].curves.size(), 2u);
  EXPECT_EQ(contents.charts[0].curves[1].run, "b");
}

// Curves as "run:name" in the order of the chart.
std::vector<std::string> CurvesOf(const RunContents& contents, const std::string& chart_name) {
  std::vector<std::string> names;
  for (const Chart& chart : contents.charts) {
    if (chart.name != chart_name) continue;
    for (const Curve& curve : chart.curves) names.push_back(curve.run + ":" + curve.name);
  }
  return names;
}

// The files that Fit and firn train write, in two runs.
TEST(CollectorTest, PutsTrainingAndValidationIntoOneChart) {
  const std::string folder = NewFolder();
  for (const char* run : {"a", "b"}) {
    const std::string below = folder + "/" + run;
    io::MonitorSeries series("training loss", io::Monitor(below));
    for (int step = 0; step < 20; ++step) series.Add(step, 1.0 / (1 + step));
    io::CsvWriter table(below + "/epochs.csv",
                        {"epoch", "step", "loss", "lr", "validation loss", "metric"});
    table.Write({0, 10, 0.5, 0.1, 0.6, 0.7});
    table.Write({1, 20, 0.25, 0.1, 0.4, 0.8});
  }
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  // Neither epochs nor steps are curves.
  EXPECT_THAT(NamesOf(contents), ElementsAre("loss", "lr", "metric"));
  EXPECT_THAT(CurvesOf(contents, "loss"),
              ElementsAre("a:loss", "a:training-loss", "a:validation loss", "b:loss",
                          "b:training-loss", "b:validation loss"));
  EXPECT_THAT(contents.charts[0].kind, ChartKind::kLoss);
  // The x of all of them counts steps.
  EXPECT_THAT(CurveOf(contents, "validation loss", "b").Points("").x, ElementsAre(10, 20));
  EXPECT_THAT(CurveOf(contents, "validation loss", "b").Points("").y, ElementsAre(0.6, 0.4));
  EXPECT_EQ(CurveOf(contents, "training-loss", "a").Points("").x.back(), 19);
}

TEST(CollectorTest, PutsPartsOfAnySeriesIntoOneChart) {
  const std::string folder = NewFolder();
  io::EventWriter events(folder);
  for (const char* tag :
       {"accuracy/train", "accuracy/val", "Loss/Test", "train/f1", "a b", "a-b"}) {
    events.AddScalar(tag, 0.5, 1);
  }
  io::JsonLinesWriter json(folder + "/run.jsonl");
  json.Write({{"epoch", 0}, {"step", 7}, {"test_accuracy", 0.25}, {"val_f1", 0.5}});
  json.Write({{"step", 9}, {"epoch", 1}, {"test_accuracy", 0.5}});
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  // Only the part differs; a series alone keeps its name.
  EXPECT_THAT(NamesOf(contents), ElementsAre("Loss/Test", "a b", "a-b", "accuracy", "f1"));
  EXPECT_THAT(CurvesOf(contents, "accuracy"),
              ElementsAre(":accuracy/train", ":accuracy/val", ":test_accuracy"));
  EXPECT_THAT(CurveOf(contents, "test_accuracy").Points("").x, ElementsAre(7, 9));
}

TEST(CollectorTest, EpochsAndStepsShareNoAxis) {
  const std::string folder = NewFolder();
  WriteFile(folder + "/training-loss.series.txt", "0 1\n1000 0.5\n");
  WriteFile(folder + "/e.csv", "epoch,loss,validation loss\n0,1,2\n1,0.5,1\n");
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(CurvesOf(contents, "training-loss"), ElementsAre(":training-loss"));
  EXPECT_THAT(CurvesOf(contents, "loss"), ElementsAre(":loss", ":validation loss"));
  // Two series of the same name are told apart.
  WriteFile(folder + "/val-loss.series.txt", "1000 0.5\n");
  EXPECT_THAT(CurvesOf(Look(&collector), "loss"), ElementsAre(":training-loss", ":val-loss"));
  EXPECT_THAT(CurvesOf(collector.Contents(), "loss by epoch"),
              ElementsAre(":loss", ":validation loss"));
}

TEST(CollectorTest, ShowsTheNewestPicturesOfAName) {
  const std::string folder = NewFolder();
  io::MonitorImage images("x", io::Monitor(folder), {.interval = 1, .num_images = 2});
  for (int i = 0; i < 3; ++i) images.Add(i, Rand({2, 1, 4, 4}));
  WriteFile(folder + "/x/000007-000.png", "no picture");
  MonitorLimits limits;
  limits.max_pictures = 4;
  Collector collector(folder, limits);
  const RunContents contents = Look(&collector);
  std::vector<std::string> captions;
  for (const auto& picture : contents.pictures.at(0).pictures) captions.push_back(picture->caption);
  EXPECT_THAT(captions, ElementsAre("000002-000.png", "000002-001.png", "000001-000.png"));
  EXPECT_EQ(contents.pictures[0].left_out, 4);
  ASSERT_EQ(contents.problems.size(), 1u);
  EXPECT_THAT(contents.problems[0].what, HasSubstr("000007-000.png"));
}

TEST(CollectorTest, ShowsSavedGraphs) {
  const std::string folder = NewFolder();
  const Tensor w = FromVector(std::vector<float>{1, 2});
  const StaticGraph graph = Freeze([&](const Tensor& x) { return Mul(Relu(x), w); }, Zeros({3, 2}));
  io::SaveGraph(folder + "/net.firn", graph, {.names = {{"w", w}}});
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  const auto& nodes = contents.graphs.at(0).nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_TRUE(contents.graphs[0].by_module);
  EXPECT_EQ(nodes[1].op, "relu");
  EXPECT_THAT(nodes[1].inputs, ElementsAre("input0"));
  EXPECT_THAT(nodes[2].inputs, ElementsAre(nodes[1].name));
}

TEST(CollectorTest, NamesDamagedFilesAndShowsTheOthers) {
  const std::string folder = NewFolder();
  WriteFile(folder + "/a.series.txt", "0 1\n1 x\n2 3\n");
  WriteFile(folder + "/b.csv", "step,loss\n1,2\n3\n");
  WriteFile(folder + "/c.jsonl", "{\"step\":1,\"loss\":2}\n[]\n");
  WriteFile(folder + "/events.out.tfevents.1", std::string(40, 'x'));
  WriteFile(folder + "/g.firn", "no graph");
  WriteFile(folder + "/ok.series.txt", "0 1\n");
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  ASSERT_EQ(contents.problems.size(), 5u);
  EXPECT_THAT(contents.problems[0].what, HasSubstr("a.series.txt: offset 4: "));
  EXPECT_THAT(contents.problems[1].what, HasSubstr("b.csv: offset 14: "));
  EXPECT_THAT(contents.problems[2].what, HasSubstr("c.jsonl: offset 20: "));
  EXPECT_THAT(contents.problems[3].what, HasSubstr("tfevents.1: offset 0, record length"));
  EXPECT_THAT(contents.problems[4].what, HasSubstr("g.firn"));
  EXPECT_THAT(CurveOf(contents, "a").Points("").y, ElementsAre(1));  // what stands before
  EXPECT_THAT(CurveOf(contents, "ok").Points("").y, ElementsAre(1));
}

TEST(CollectorTest, PassesLinksAndHiddenFilesOver) {
  const std::string folder = NewFolder();
  WriteFile(TempPath("outside.series.txt"), "0 1\n");
  std::filesystem::create_symlink(TempPath("outside.series.txt"), folder + "/link.series.txt");
  std::filesystem::create_directory_symlink(folder, folder + "/circle");
  WriteFile(folder + "/.hidden.series.txt", "0 1\n");
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(contents.charts, IsEmpty());
  EXPECT_EQ(contents.passed_over, 2);
}

TEST(CollectorTest, KeepsNoMoreThanItsLimits) {
  const std::string folder = NewFolder();
  MonitorLimits limits;
  limits.curve_bytes = 3 * (ThinCurve::MaxBytes() + 512);
  limits.max_record_bytes = 1 << 20;
  limits.max_name_bytes = 10;
  limits.embedded_bytes = 2600;
  io::JsonLinesWriter many(folder + "/a.jsonl");
  for (int i = 0; i < 10; ++i) many.Write({{"step", i}, {"value" + std::to_string(i), i}});
  WriteFile(folder + "/b.jsonl", "{\"step\": 1, \"" + std::string(2 << 20, 'x') + "\": 1}\n");
  const Tensor noise = Rand({3, 20, 20});
  for (int i = 0; i < 3; ++i) {
    io::WriteImage(folder + "/" + std::to_string(i) + ".png", Mul(noise, 255).To(DType::kU8));
  }
  io::EventWriter events(folder);
  for (int i = 0; i < 100; ++i) events.AddImage("i", Full({1, 4, 4}, 0.5), i);
  events.AddText(std::string(1000, 't'), std::string(100'000, 'x'), 1);

  Collector collector(folder, limits);
  RunContents contents = Look(&collector);
  EXPECT_TRUE(contents.beyond_limits);
  EXPECT_EQ(contents.charts.size(), 3u);
  ASSERT_EQ(contents.problems.size(), 1u);
  EXPECT_THAT(contents.problems[0].what, HasSubstr("a record of more than 1048576 bytes"));
  EXPECT_EQ(contents.pictures.at(0).left_out, 100 - 16);
  EXPECT_EQ(contents.pictures.at(1).left_out, 2);  // one of 1.2 KiB fits beside the small ones
  EXPECT_EQ(contents.texts.at(0).name, "tttttttttt");
  EXPECT_EQ(contents.texts.at(0).text.size(), static_cast<size_t>(limits.max_text_bytes));
  // The room that a file had is given back when it is gone.
  std::filesystem::remove(folder + "/a.jsonl");
  WriteFile(folder + "/c.series.txt", "0 1\n");
  contents = Look(&collector);
  EXPECT_THAT(NamesOf(contents), ElementsAre("c"));
}

TEST(CollectorTest, RefusesAFolderThatIsNone) {
  EXPECT_TRUE(absl::IsNotFound(Collector(TempPath("none")).Update().status()));
}

}  // namespace
}  // namespace firn::cli
