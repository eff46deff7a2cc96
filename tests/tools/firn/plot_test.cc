// Pictures of runs: which series of which files share one, and the names of the curves.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firn/io/monitors/event_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"
#include "tests/tools/firn/train/training.h"

namespace firn::cli {
namespace {

using ::firn::io::ReadFile;
using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Names = std::vector<std::string>;
using nlohmann::json;

std::string NewFolder(const std::string& name) {
  const std::string folder = TempPath(name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::string Svg() { return TempPath("plot.svg"); }

// Draws files, and returns the command's output.
json Plot(Names arguments) {
  arguments.insert(arguments.begin(), "plot-series");
  for (const std::string& word : Names{"-o", Svg(), "--json"}) arguments.push_back(word);
  const Outcome o = Firn(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  return o.status == 0 ? json::parse(o.out) : json();
}

// A line of a picture that has this colour and these dashes ("" for none).
std::string Line(const std::string& color, const std::string& dashes) {
  return "stroke=\"" + color +
         "\" stroke-width=\"1.6\" stroke-linejoin=\"round\" "
         "stroke-linecap=\"round\"" +
         (dashes.empty() ? "" : " stroke-dasharray=\"" + dashes + "\"") + " points=";
}

// The columns of Fit's table.
constexpr char kHeading[] = "epoch,step,loss,lr,validation loss,metric\n";

// Draws the losses as a user does who looks for overfitting.
TEST(PlotTest, ShowsTrainingAndValidationOfARealRun) {
  const json config = json::parse(
      R"({"data": {"kind": "digits"}, "validation": {"kind": "digits", "part": "test"},
    "model": {"name": "mlp", "hidden": [8]}, "epochs": 3, "output": "run"})");
  const std::string path = WriteConfig("plot", config);
  Trained(path);
  const std::string run = std::filesystem::path(path).parent_path() / "run";
  const json table = Plot({run + "/epochs.csv"});
  EXPECT_EQ(table["series"], json({"loss", "validation loss"}));
  EXPECT_EQ(table["others"], json({"lr", "metric"}));
  const std::string svg = ReadFile(Svg());
  EXPECT_THAT(svg, HasSubstr(">loss</text>"));
  EXPECT_THAT(svg, HasSubstr(">validation loss</text>"));
  EXPECT_THAT(svg, HasSubstr(">step</text>"));
  EXPECT_THAT(svg, HasSubstr(Line("#0072b2", "")));
  EXPECT_THAT(svg, HasSubstr(Line("#0072b2", "7 5")));
  // Draws the losses of all steps, too, by naming their file or the folder.
  for (const Names& files :
       {Names{run + "/training-loss.series.txt", run + "/epochs.csv"}, Names{run}}) {
    const json all = Plot(files);
    EXPECT_THAT(all["series"].get<Names>(),
                ::testing::UnorderedElementsAre("training-loss", "loss", "validation loss"));
  }
  // The page of the run has the same chart.
  const Outcome page = Firn({"monitor", run, "-o", TempPath("page.html"), "--json"});
  ASSERT_EQ(page.status, 0) << page.err;
  EXPECT_EQ(json::parse(page.out)["charts"], json({"loss", "lr", "metric"}));
  const std::string html = ReadFile(TempPath("page.html"));
  for (const char* name : {"loss", "training-loss", "validation loss"}) {
    EXPECT_THAT(html, HasSubstr("</span><bdi>" + std::string(name) + "</bdi>"));
  }
}

TEST(PlotTest, TellsRunsApart) {
  const std::string folder = NewFolder("runs");
  for (const char* run : {"a", "b"}) {
    std::filesystem::create_directories(folder + "/" + run);
    WriteFile(folder + "/" + run + "/epochs.csv",
              std::string(kHeading) + "0,10,0.5,0.1,0.6,0.7\n1,20,0.4,0.1,0.55,0.8\n");
  }
  const std::string a = folder + "/a/epochs.csv", b = folder + "/b/epochs.csv";
  EXPECT_EQ(Plot({a, b})["series"],
            json({"a/loss", "a/validation loss", "b/loss", "b/validation loss"}));
  const std::string svg = ReadFile(Svg());
  for (const char* color : {"#0072b2", "#d55e00"}) {
    EXPECT_THAT(svg, HasSubstr(Line(color, "")));
    EXPECT_THAT(svg, HasSubstr(Line(color, "7 5")));
  }
  EXPECT_THAT(svg, Not(HasSubstr("#009e73")));
  EXPECT_EQ(Plot({a, b, "--chart", "LR"})["series"], json({"a/lr", "b/lr"}));
  EXPECT_EQ(Plot({a, "--chart", "lr", "--chart", "metric"})["series"], json({"lr", "metric"}));
  EXPECT_EQ(Plot({a, "--chart", "validation loss"})["series"], json({"loss", "validation loss"}));
  // Files of one folder, and a file twice.
  WriteFile(folder + "/a/more.csv", "step,loss\n0,1\n");
  EXPECT_EQ(Plot({a, folder + "/a/more.csv", a})["series"],
            json({"loss (epochs.csv)", "validation loss (epochs.csv)", "loss (more.csv)",
                  "loss (epochs.csv) (2)", "validation loss (epochs.csv) (2)"}));
}

TEST(PlotTest, ReadsEverySeriesThatMonitorsDo) {
  const std::string folder = NewFolder("kinds");
  {
    io::EventWriter events(folder);
    events.AddScalar("acc/train", 0.5, 1);
    events.AddScalar("acc/val", 0.25, 1);
  }
  WriteFile(folder + "/run.jsonl", "{\"epoch\":0,\"step\":5,\"test_acc\":0.5,\"1\":2}\n");
  WriteFile(folder + "/._run.csv", "step,loss\n0\n");  // what some systems put beside each file
  EXPECT_EQ(Plot({folder})["series"], json({"test_acc", "acc/train", "acc/val"}));
  EXPECT_EQ(Plot({folder})["others"], json::array({"1"}));
  // A damaged file is named, and the others are drawn.
  WriteFile(folder + "/damaged.csv", "step,loss\n0,1,2\n");
  EXPECT_EQ(Plot({folder})["series"], json({"test_acc", "acc/train", "acc/val"}));
  EXPECT_THAT(Firn({"plot-series", folder, "-o", Svg()}).err,
              ContainsRegex("a file is left out: .*damaged.csv: record 1: expected 2 fields"));
  std::filesystem::remove(folder + "/damaged.csv");
  WriteFile(folder + "/numbers.csv", "0,1\n1,2\n");  // no heading
  EXPECT_EQ(Plot({folder + "/numbers.csv"})["series"], json::array({"1"}));
  EXPECT_THAT(ReadFile(Svg()),
              ContainsRegex(Line("#0072b2", "") + "\"[0-9.]+,[0-9.]+ [0-9.]+,[0-9.]+\""));
  WriteFile(folder + "/marked.csv",
            "\xEF\xBB\xBF" + std::string("epoch,step,loss\n0,300,1\n1,600,2\n"));
  EXPECT_EQ(Plot({folder + "/marked.csv"})["series"], json::array({"loss"}));
  EXPECT_THAT(ReadFile(Svg()), HasSubstr(">400</text>"));  // x counts steps
}

// Files that are given by name are always drawn, whatever they hold.
TEST(PlotTest, DrawsAllSeriesOfMonitors) {
  const std::string folder = NewFolder("series");
  for (const char* name : {"loss", "lr"}) {
    WriteFile(folder + "/" + name + ".series.txt", "0 1\n1 2\n");
  }
  const json all = Plot({folder + "/loss.series.txt", folder + "/lr.series.txt"});
  EXPECT_EQ(all["series"], json({"loss", "lr"}));
  EXPECT_EQ(all["others"], json::array());
}

TEST(PlotTest, SaysWhatItLeavesOutAndWhatIsNotThere) {
  const std::string folder = NewFolder("wrong"), table = folder + "/epochs.csv";
  WriteFile(table, std::string(kHeading) + "0,10,0.5,0.1,nan,0.7\n");
  const Outcome o = Firn({"plot-series", table, "-o", Svg()});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.err, HasSubstr("drawn is loss; --chart draws lr, metric"));
  EXPECT_THAT(o.err, HasSubstr("validation loss has no point to draw: all are NaN"));
  const Outcome none = Firn({"plot-series", table, "-o", Svg(), "--chart", "acuracy"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("there is no chart acuracy; there are loss, lr, metric"));
  WriteFile(folder + "/words.csv", "a,b\nx,y\n");
  for (const std::string& path : {folder + "/words.csv", NewFolder("empty")}) {
    const Outcome empty = Firn({"plot-series", path, "-o", Svg()});
    EXPECT_EQ(empty.status, 1);
    EXPECT_THAT(empty.err, HasSubstr("no series of numbers there"));
  }
  WriteFile(table, "epoch,loss\n0\n");
  EXPECT_THAT(Firn({"plot-series", folder, "-o", Svg()}).err,
              HasSubstr("expected 2 fields, got 1"));
}

TEST(PlotTest, NamesInFilesAreNoMarkup) {
  const std::string folder = NewFolder("hostile");
  Names arguments = {"plot-series", "-o", Svg()};
  for (const char* run : {"<i>1", "<i>2"}) {
    std::filesystem::create_directories(folder + "/" + run);
    arguments.push_back(folder + "/" + run + "/a.csv");
    WriteFile(arguments.back(),
              "step,train <b>&'\x1b]0;loss,\"val <b>&'\x1b]0;loss\"\n0,1,2\n1,2,3\n");
  }
  const Outcome o = Firn(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out + o.err, Not(HasSubstr("\x1b")));
  const std::string svg = ReadFile(Svg());
  EXPECT_THAT(svg, HasSubstr(">&lt;i&gt;1/train &lt;b&gt;&amp;&#39; ]0;loss</text>"));
  EXPECT_THAT(svg, HasSubstr(">&lt;i&gt;2/val &lt;b&gt;&amp;&#39; ]0;loss</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("<i>")));
}

}  // namespace
}  // namespace firn::cli
