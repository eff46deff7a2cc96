// firn forward: pictures, tables and data sets through a saved graph, normalised as its file says,
// and refused if neither the file nor the command line says how.
#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/image/image.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/dataset_command.h"

namespace firn::cli {
namespace {

using io::TempPath;
using io::WriteFile;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Pixels from 0 to 255 become -1 to 1.
io::GraphInfo DayOrNight() {
  return {.pixel_scale = 1.0 / 255, .mean = {0.5}, .stddev = {0.5}, .classes = {"day", "night"}};
}

// Batches of two pictures [1, 2, 3]; the scores are their mean and its negative.
std::string Graph(const std::string& name, const io::GraphInfo& info) {
  const auto scores = [](const Tensor& x) {
    const Tensor mean = Mean(Flatten(x, 1), 1, true);
    return Concat({mean, -mean}, 1);
  };
  io::SaveGraph(TempPath(name), Freeze(scores, Zeros({2, 1, 2, 3})), {.info = info});
  return TempPath(name);
}

nlohmann::json Forward(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "forward");
  arguments.push_back("--json");
  const Outcome o = Firn(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  return o.status == 0 ? nlohmann::json::parse(o.out) : nlohmann::json();
}
std::string Error(std::vector<std::string> arguments, int status = 1) {
  arguments.insert(arguments.begin(), "forward");
  const Outcome o = Firn(arguments);
  EXPECT_EQ(o.status, status);
  EXPECT_EQ(o.out, "");
  return o.err;
}

// The Softmax of the scores of a picture that is all `value`, for its class.
double Probability(double value) {
  const double mean = std::abs(value / 255 - 0.5) / 0.5;
  return 1 / (1 + std::exp(-2 * mean));
}

TEST(ForwardTest, PicturesAreNormalisedAsTheGraphFileSays) {
  const std::string graph = Graph("day.firn", DayOrNight()), folder = Folder("three");
  std::vector<std::string> line = {graph};
  for (const int value : {255, 0, 102}) {  // a batch and a half
    line.push_back(folder + "/" + std::to_string(value) + ".png");
    AddImage(line.back(), value, {1, 2, 3});
  }
  const nlohmann::json said = Forward(line);
  EXPECT_EQ(said["samples"], 3);
  EXPECT_FALSE(said.contains("accuracy"));
  ASSERT_EQ(said["rows"].size(), 3u);
  const std::vector<const char*> classes = {"day", "night", "night"};
  const std::vector<double> values = {255, 0, 102};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(said["rows"][i]["sample"], line[i + 1]);
    EXPECT_EQ(said["rows"][i]["class"], classes[i]);
    EXPECT_NEAR(said["rows"][i]["probability"], Probability(values[i]), 1e-6);
  }
  // A folder gives the same results as its pictures, and a picture alone the same as among others.
  EXPECT_EQ(Forward({graph, folder})["rows"].size(), 3u);
  EXPECT_EQ(Forward({graph, line[3]})["rows"][0], said["rows"][2]);
  line.insert(line.begin(), "forward");
  const Outcome text = Firn(line);
  EXPECT_THAT(text.out, AllOf(HasSubstr("night"), HasSubstr("0.880797")));
  EXPECT_EQ(text.err,
            "firn: pixels (u8) are divided by 255, then lose the mean 0.5 and are divided by 0.5, "
            "as the graph file says\n");
}

TEST(ForwardTest, WritesATable) {
  const std::string graph = Graph("day.firn", DayOrNight()), out = TempPath("night.csv");
  AddImage(TempPath("a, b.png"), 0, {1, 2, 3});
  const nlohmann::json said = Forward({graph, TempPath("a, b.png"), "-o", out, "--numbers"});
  EXPECT_EQ(said["output"], out);
  EXPECT_FALSE(said.contains("rows"));
  const std::vector<std::string> lines = Lines(out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "sample,class,probability,y__0,y__1");
  EXPECT_THAT(lines[1], AllOf(HasSubstr("a, b.png\",night,0.8807"), HasSubstr(",-1.0,1.0")));
  // After an error the old file stays.
  WriteFile(TempPath("bad.png"), "no picture");
  EXPECT_THAT(
      Error({graph, TempPath("a, b.png"), TempPath("a, b.png"), TempPath("bad.png"), "-o", out}),
      HasSubstr("bad.png: "));
  EXPECT_EQ(Lines(out), lines);
  EXPECT_THAT(Error({graph, TempPath("a, b.png"), "-o", TempPath("a, b.png")}, 2),
              HasSubstr("the output would replace"));
}

TEST(ForwardTest, PixelsOfWhichNobodySaysTheMeaningAreRefused) {
  const std::string graph = Graph("plain.firn", {}), picture = TempPath("white.png");
  AddImage(picture, 255, {1, 2, 3});
  EXPECT_THAT(
      Error({graph, picture}),
      AllOf(HasSubstr("white.png: it has pixels, u8 from 0 to 255, and the graph takes f32"),
            HasSubstr("--scale 1/255")));
  const auto y = [&](const std::vector<std::string>& options) {
    std::vector<std::string> line = {graph, picture};
    line.insert(line.end(), options.begin(), options.end());
    return Forward(line)["rows"][0]["y__0"].get<double>();
  };
  EXPECT_EQ(y({"--scale", "1"}), 255);
  EXPECT_EQ(y({"--scale", "1/255"}), 1);
  EXPECT_NEAR(y({"--scale", "1/255", "--mean", "0.25", "--std", "2"}), 0.375, 1e-6);
  EXPECT_EQ(Forward({graph, picture, "--scale", "1", "--classes", "day,night"})["rows"][0]["class"],
            "day");
  // The command line overrides the file.
  const std::string said = Graph("day.firn", DayOrNight());
  EXPECT_EQ(Forward({said, picture, "--scale", "2", "--numbers"})["rows"][0]["y__0"], 510);

  // A mean on the command line does not imply that pixels are divided before, whatever the file
  // said.
  EXPECT_THAT(Error({said, picture, "--mean", "0.5", "--std", "0.5"}), HasSubstr("--scale 1/255"));

  EXPECT_THAT(Error({graph, picture, "--scale", "0"}, 2), HasSubstr("a number like 0.5 or 1/255"));
  EXPECT_THAT(Error({graph, picture, "--scale", "1/0"}, 2), HasSubstr("a number like"));
  EXPECT_THAT(Error({graph, picture, "--mean", "1"}, 2), HasSubstr("as many numbers for --mean"));
  EXPECT_THAT(Error({graph, picture, "--mean", "1", "--std", "0"}, 2), HasSubstr("above 0"));
  EXPECT_THAT(Error({graph, picture, "--mean", "1,2", "--std", "1,1"}),
              HasSubstr("for each channel, or one, got 2; the graph takes f32 [2, 1, 2, 3]"));
  EXPECT_THAT(Error({graph, picture, "--scale", "1", "--classes", "a,b,c"}),
              HasSubstr("expected 3 classes as its result, got f32 [2, 2]"));
  EXPECT_THAT(Error({graph, picture, "--scale", "1", "--classes", "a,a"}, 2),
              HasSubstr("different names for --classes"));
}

TEST(ForwardTest, PicturesHaveTheGraphsSizeOrAreResized) {
  const std::string graph = Graph("day.firn", DayOrNight()), picture = TempPath("large.png");
  AddImage(picture, 255, {3, 20, 30});
  EXPECT_THAT(
      Error({graph, picture}),
      HasSubstr("large.png: it is u8 [1, 20, 30] on cpu, the graph takes f32 [2, 1, 2, 3] "
                "on cpu, a batch "
                "of [1, 2, 3] (--resize stretches pictures to it, --crop N cuts the middle out)"));
  EXPECT_EQ(Forward({graph, picture, "--resize"})["rows"][0]["class"], "day");
  io::SaveGraph(TempPath("rows.firn"),
                Freeze([](const Tensor& x) { return Relu(x); }, Zeros({1, 6})));
  EXPECT_THAT(Error({TempPath("rows.firn"), picture, "--scale", "1"}),
              HasSubstr("pictures are for graphs that take [batch, channels, height, width]"));
}

TEST(ForwardTest, FoldersOfClassesHaveLabels) {
  const std::string graph = Graph("day.firn", DayOrNight()), folder = Folder("labelled");
  AddImage(folder + "/night/1.png", 0, {1, 2, 3});
  AddImage(folder + "/night/2.png", 50, {1, 2, 3});
  AddImage(folder + "/night/3.png", 250, {1, 2, 3});
  // Without a folder for day, night is the first one and yet the second class.
  const nlohmann::json said = Forward({graph, folder});
  EXPECT_NEAR(said["accuracy"], 2.0 / 3, 1e-12);
  EXPECT_EQ(said["rows"][2]["label"], "night");
  EXPECT_EQ(said["rows"][2]["class"], "day");
  AddImage(folder + "/dusk/1.png", 100, {1, 2, 3});
  EXPECT_THAT(Error({graph, folder}),
              HasSubstr("the folder dusk is called as no class of the graph (day, night)"));
  const nlohmann::json unlabelled = Forward({graph, folder, "--no-labels"});
  EXPECT_EQ(unlabelled["samples"], 4);
  EXPECT_FALSE(unlabelled.contains("accuracy"));
  EXPECT_THAT(Error({graph, Folder("empty")}), HasSubstr("expected pictures in the folder"));
}

TEST(ForwardTest, DataSetsHaveLabels) {
  const std::string graph = Graph("day.firn", DayOrNight()), folder = Folder("table");
  AddImage(folder + "/1.png", 0, {1, 2, 3});
  AddImage(folder + "/2.png", 255, {1, 2, 3});
  const std::string table = folder + "/t.csv", out = folder + "/out.csv";
  WriteFile(table, "x,y,note\n1.png,1,any\n2.png,1,text\n2.png,0,\n");
  EXPECT_NEAR(Forward({graph, table, "-o", out})["accuracy"], 2.0 / 3, 1e-12);
  EXPECT_EQ(Lines(out)[0], "sample,label,class,probability");
  EXPECT_THAT(Lines(out)[1], HasSubstr("0,night,night,0.88"));
  EXPECT_THAT(Lines(out)[2], HasSubstr("1,night,day,0.88"));
  EXPECT_FALSE(Forward({graph, table, "--no-labels"}).contains("accuracy"));
  EXPECT_THAT(Error({graph, table, "--y", "z"}), HasSubstr("a variable called z"));
  WriteFile(table, "x,y\n1.png,2\n");
  EXPECT_THAT(Error({graph, table}),
              HasSubstr("t.csv: sample 0: its label is 2: expected a class from 0 to 1"));
  // With a graph that names no classes, labels are not used, and a message says so.
  const Outcome plain = Firn({"forward", Graph("plain.firn", {}), table, "--scale", "1"});
  EXPECT_EQ(plain.status, 0);
  EXPECT_THAT(plain.err, HasSubstr("y is not compared with results"));
}

TEST(ForwardTest, ArraysAreTakenAsTheyWereForTraining) {
  const std::string graph = Graph("day.firn", DayOrNight());
  StateDict pixels;
  pixels.Insert("x", Full({3, 1, 2, 3}, 102).To(DType::kU8));
  pixels.Insert("y", FromVector(std::vector<int64_t>{1, 1, 0}));
  io::Save(TempPath("pixels.h5"), pixels);
  const nlohmann::json said = Forward({graph, TempPath("pixels.h5"), "--numbers"});
  EXPECT_NEAR(said["accuracy"], 2.0 / 3, 1e-12);
  EXPECT_NEAR(said["rows"][0]["y__0"], -0.2, 1e-6);
  // Floating point numbers are from 0 to 1 already, as in training.
  io::WriteNpy(TempPath("numbers.npy"), Full({2, 1, 2, 3}, 0.4));
  EXPECT_NEAR(Forward({graph, TempPath("numbers.npy"), "--numbers"})["rows"][1]["y__0"], -0.2,
              1e-6);
  io::WriteNpy(TempPath("deep.npy"), Full({2, 1, 2, 3}, 40000).To(DType::kI32));
  EXPECT_THAT(Error({graph, TempPath("deep.npy")}),
              HasSubstr("deep.npy: sample 0: it is i32, and the graph was made for pixels"));
  // The command line refers to the numbers as they are stored, of any type.
  const Outcome deep =
      Firn({"forward", graph, TempPath("deep.npy"), "--scale", "1/40000", "--numbers", "--json"});
  EXPECT_EQ(deep.err, "firn: numbers are divided by 40000, as the command line says\n");
  EXPECT_NEAR(nlohmann::json::parse(deep.out)["rows"][0]["y__0"], 1, 1e-6);
  EXPECT_THAT(Error({graph, TempPath("numbers.npy"), "--y", "z"}),
              HasSubstr("--y is for data sets whose variables have names"));
}

TEST(ForwardTest, SamplesWithNanHaveNoClass) {
  const std::string graph = Graph("day.firn", DayOrNight());
  Tensor x = Zeros({2, 1, 2, 3});
  x.Select(0, 1).CopyFrom(Full({1, 2, 3}, std::nan("")));
  io::WriteNpy(TempPath("nan.npy"), x);
  const Outcome o = Firn({"forward", graph, TempPath("nan.npy"), "--json"});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.err, HasSubstr("1 of 2 samples have NaN among their scores"));
  const nlohmann::json said = nlohmann::json::parse(o.out);
  EXPECT_EQ(said["without_class"], 1);
  EXPECT_EQ(said["rows"][0]["class"], "night");
  EXPECT_EQ(said["rows"][1]["class"], "");
  EXPECT_TRUE(said["rows"][1]["probability"].is_null());
}

TEST(ForwardTest, ProbabilitiesAreTakenAsTheyAre) {
  io::SaveGraph(TempPath("p.firn"),
                Freeze([](const Tensor& x) { return Softmax(x, 1); }, Zeros({1, 2})),
                {.info = {.classes = {"a", "b"}, .probabilities = true}});
  io::WriteNpy(TempPath("rows.npy"), FromVector(std::vector<float>{0, 3}, {1, 2}));
  const nlohmann::json row = Forward({TempPath("p.firn"), TempPath("rows.npy")})["rows"][0];
  EXPECT_EQ(row["class"], "b");
  EXPECT_NEAR(row["probability"], 1 / (1 + std::exp(-3.0)), 1e-6);
  // Other names do not turn the results into scores.
  const nlohmann::json other =
      Forward({TempPath("p.firn"), TempPath("rows.npy"), "--classes", "a,z"})["rows"][0];
  EXPECT_EQ(other["class"], "z");
  EXPECT_EQ(other["probability"], row["probability"]);
}

TEST(ForwardTest, NamesAreNoLinesOfTheirOwn) {
  const std::string graph =
      Graph("lines.firn", {.pixel_scale = 1, .classes = {"day\n7 night", "night"}});
  io::WriteNpy(TempPath("day.npy"), Ones({1, 1, 2, 3}));
  EXPECT_THAT(Firn({"forward", graph, TempPath("day.npy")}).out, HasSubstr("day\\x0a7 night"));
}

TEST(ForwardTest, WholeNumbersStayWhole) {
  const StaticGraph graph =
      Freeze([](const Tensor& i) { return i + 1; }, Zeros({2, 3}, DType::kI64));
  io::SaveGraph(TempPath("whole.firn"), graph);
  WriteFile(TempPath("whole.csv"), "x__0,x__1,x__2\n1,2,3\n4,5,6\n7,8,9\n");
  const nlohmann::json said = Forward({TempPath("whole.firn"), TempPath("whole.csv")});
  EXPECT_EQ(said["rows"][2],
            (nlohmann::json{{"sample", 2}, {"y__0", 8}, {"y__1", 9}, {"y__2", 10}}));
  const int64_t large = (int64_t{1} << 53) + 2;  // and one more is no f64
  io::WriteNpy(TempPath("large.npy"), Full({1, 3}, large, DType::kI64));
  EXPECT_EQ(
      Forward({TempPath("whole.firn"), TempPath("large.npy")})["rows"][0]["y__0"].get<int64_t>(),
      large + 1);
  WriteFile(TempPath("half.csv"), "x__0,x__1,x__2\n1,2,3.5\n");
  EXPECT_THAT(Error({TempPath("whole.firn"), TempPath("half.csv")}),
              HasSubstr("which does not hold all of its numbers"));
  EXPECT_THAT(Error({TempPath("whole.firn"), TempPath("whole.csv"), "--scale", "2"}),
              HasSubstr("whole numbers, which the command line would normalise"));
}

TEST(ForwardTest, OtherGraphsAreRefusedOrSaidToBeThat) {
  const auto save = [](const char* name, const StaticGraph& graph) {
    io::SaveGraph(TempPath(name), graph);
    return TempPath(name);
  };
  io::WriteNpy(TempPath("two.npy"), Ones({2, 3}));
  const Tensor x = Zeros({2, 3});
  EXPECT_THAT(
      Error({save("two.firn", Freeze([](const Tensor& a, const Tensor& b) { return a + b; }, x, x)),
             TempPath("two.npy")}),
      HasSubstr("expected a graph with 1 input, a batch, and results; got 2 and 1"));
  EXPECT_THAT(
      Error({save("sum.firn", Freeze([](const Tensor& a) { return Sum(a); }, x)),
             TempPath("two.npy")}),
      HasSubstr(
          "expected [batch, ...] as input and results, got f32 [2, 3] on cpu and f32 [] on cpu"));
  Tensor count = Zeros({3});
  const StaticGraph counts = Freeze(
      [&](const Tensor& a) {
        count.CopyFrom(count + 1);
        return a + count;
      },
      x);
  EXPECT_THAT(Firn({"forward", save("count.firn", counts), TempPath("two.npy")}).err,
              HasSubstr("the graph changes its states with every batch"));
  const StaticGraph drops = Freeze([](const Tensor& a) { return Dropout(a, 0.5, true); }, x);
  EXPECT_THAT(Firn({"forward", save("drops.firn", drops), TempPath("two.npy")}).err,
              HasSubstr("the graph draws numbers by chance"));
  EXPECT_THAT(Error({TempPath("count.firn"), TempPath("none.csv")}),
              HasSubstr("none.csv: there is no such file"));
}

// An .onnx keeps the description of the graph file, so the command line need not repeat it.
TEST(ForwardTest, AnOnnxSaysItToo) {
  const std::string graph = Graph("day.firn", DayOrNight()), onnx = TempPath("day.onnx");
  ASSERT_EQ(Firn({"convert", graph, onnx, "--force"}).status, 0);
  const std::string picture = TempPath("grey.png");
  AddImage(picture, 204, {1, 2, 3});
  const nlohmann::json want = Forward({graph, picture}),
                       said = Forward({onnx, "--batch", "2", picture});
  EXPECT_EQ(said["rows"][0]["class"], "day");
  EXPECT_EQ(said["normalization"], want["normalization"]);
  EXPECT_NEAR(said["rows"][0]["probability"], Probability(204), 1e-6);
}

TEST(ForwardTest, InspectTellsWhatAGraphFileSays) {
  const Outcome o = Firn({"inspect", Graph("day.firn", DayOrNight())});
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.out, AllOf(HasSubstr("pixel scale: 0.0039"), HasSubstr("mean: [0.5]"),
                           HasSubstr("\"night\"")));
}

}  // namespace
}  // namespace firn::cli
