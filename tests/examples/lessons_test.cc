// Checks the claims of each lesson in its output.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "firn/nn/zoo/zoo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

// The output of a program that must succeed.
std::string OutputOf(const std::string& program, const std::vector<std::string>& arguments = {}) {
  const ProgramResult run = RunProgram(program, arguments);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  return run.output;
}

TEST(LessonsTest, CustomModuleLearnsWithUnitsLeftOut) {
  EXPECT_GT(NumberAfter(OutputOf("examples/custom_module"), "test accuracy "), 0.8);
}

TEST(LessonsTest, CustomOpGradientsHold) {
  const std::string output = OutputOf("examples/custom_op");
  EXPECT_THAT(output, HasSubstr("its gradient: [1. 1. 1.]"));
  EXPECT_THAT(output, HasSubstr("gradient of gauss: OK\nits gradient: OK"));
}

TEST(LessonsTest, RnnLearnsWithAndWithoutCutting) {
  const std::string output = OutputOf("examples/rnn");
  const double all = NumberAfter(output, "gradient of all rows: test accuracy ");
  const double cut = NumberAfter(output, "gradient of the last four rows: test accuracy ");
  EXPECT_GT(all, 0.8);
  EXPECT_GT(cut, 0.3);
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(LessonsTest, SiameseBringsEqualDigitsTogetherAndDrawsThem) {
  const std::string path = ::testing::TempDir() + "/embedding.svg";
  const std::string output = OutputOf("examples/siamese", {path});
  EXPECT_LT(2 * NumberAfter(output, "equal digits "), NumberAfter(output, "different ones "));
  const std::string svg = Contents(path);
  EXPECT_EQ(Count(svg, "<text "), 297);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_THAT(svg, HasSubstr("hsl(324,80%,40%)'>9</text>"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(LessonsTest, ResumeEndsAsIfItHadNotBeenKilled) {
  const std::string alone = NewFolder("alone"), killed = NewFolder("killed");
  const std::string undisturbed = OutputOf("examples/resume", {alone, "10"});
  int kills = 0;
  for (const char* step : {"000000000010", "000000000100", "000000000200"}) {
    const std::string file = killed + "/checkpoint_" + step + ".h5";
    // Only the last two checkpoints stay, so this test may miss one of them, but hardly all three.
    kills += KillProgram("examples/resume", {killed, "10"},
                         [&] { return std::filesystem::exists(file); })
                 ? 1
                 : 0;
  }
  EXPECT_GT(kills, 0);
  const std::string rest = OutputOf("examples/resume", {killed, "10"});
  EXPECT_THAT(rest, HasSubstr("went on after step "));
  const std::string end = "after step 290: sum of all parameters ";
  ASSERT_THAT(undisturbed, HasSubstr(end));
  EXPECT_EQ(rest.substr(rest.find(end)), undisturbed.substr(undisturbed.find(end)));
  EXPECT_EQ(RunProgram("examples/resume").exit_code, 2);
}

TEST(LessonsTest, ClassifyFolderMakesAClassifierOfPhotos) {
  // Digits as photos of several sizes.
  const std::string photos = NewFolder("photos"), output = NewFolder("classifier");
  const auto digits = io::Digits();
  const std::vector<std::string> names = {"zero", "one", "two"};
  int64_t at = 0;
  for (int count = 0; count < 120; ++at) {
    const io::Sample s = digits->Get(at);
    const auto label = static_cast<size_t>(s.target.Item());
    if (label >= names.size()) continue;
    const int64_t side = 20 + count % 30;
    const Tensor large = AdaptiveAvgPool2d(s.input.Unsqueeze(0), {side, side + 5}).Squeeze({0});
    std::filesystem::create_directories(photos + "/" + names[label]);
    io::WriteImage(photos + "/" + names[label] + "/" + std::to_string(count++) + ".png",
                   (large * 255).To(DType::kU8));
  }
  const std::string text = OutputOf("examples/classify_folder", {photos, output, "10"});
  EXPECT_GT(NumberAfter(text, "accuracy "), 0.85);
  EXPECT_EQ(Contents(output + "/classes.txt"), "one\ntwo\nzero\n");

  // Another program runs the network.
  StaticGraph net = io::LoadGraph(output + "/net.firn");
  int right = 0, all = 0;
  for (; all < 30; ++at) {
    const io::Sample s = digits->Get(at);
    const auto label = static_cast<size_t>(s.target.Item());
    if (label >= names.size()) continue;
    const Tensor image = AdaptiveAvgPool2d(s.input.Unsqueeze(0), {32, 32}).Expand({1, 3, 32, 32});
    const auto found = Argmax(net(image), 1).Item<int64_t>();
    right +=
        std::vector<std::string>{"one", "two", "zero"}[static_cast<size_t>(found)] == names[label];
    ++all;
  }
  EXPECT_GT(right, 22);
  // Started again, the program has nothing left to do.
  EXPECT_THAT(OutputOf("examples/classify_folder", {photos, output, "10"}),
              HasSubstr("went on after step 60"));
  EXPECT_EQ(RunProgram("examples/classify_folder", {"/nowhere", output}).exit_code, 1);
}

TEST(LessonsTest, QuantizeKeepsTheAccuracy) {
  const std::string output = OutputOf("examples/quantize", {"3"});
  const double f32 = NumberAfter(output, "f32: test accuracy ");
  EXPECT_GT(f32, 0.9);
  for (const char* way : {"extremes", "percentiles", "least error", "trained for it"}) {
    const std::string text = std::string("i8, ") + way + ": test accuracy ";
    EXPECT_GT(NumberAfter(output, text), f32 - 0.005) << output;
  }
}

TEST(LessonsTest, FinetuneLearnsFromFewImages) {
  const std::string path = ::testing::TempDir() + "/finetune.h5";
  const ProgramResult run = RunProgram("examples/finetune", {path});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_GT(NumberAfter(run.output, "digits 0 to 4: test accuracy "), 0.9);
  EXPECT_GT(NumberAfter(run.output, "images: test accuracy "), 0.75);
  EXPECT_THAT(run.output, HasSubstr("the frozen layer is as it was"));
}

TEST(LessonsTest, ZooClassifiesAnImageByTheWeightsOfAFile) {
  const std::string folder = ::testing::TempDir();
  const std::string image = folder + "/photo.png", weights = folder + "/resnet18.safetensors";
  ManualSeed(1);
  io::WriteImage(image, Randint(0, 256, {3, 250, 300}).To(DType::kU8));
  const std::unique_ptr<nn::Layer> net = zoo::Make("resnet18");
  StateDict state = net->state_dict();
  state.Set("fc.bias", Where(Eq(Arange(1000), 281), 100.0, 0.0));
  io::Save(weights, state);
  const std::string output = OutputOf("examples/zoo", {"--weights=" + weights, "--image=" + image});
  EXPECT_THAT(output, HasSubstr(" 1.000  tabby\n"));
  EXPECT_EQ(Count(output, "\n"), 6);  // what was loaded, and five names
}

TEST(LessonsTest, ZooSaysWhatIsWrong) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const ProgramResult run = RunProgram("examples/zoo", arguments);
    EXPECT_EQ(run.exit_code, 1);
    return run.errors;
  };
  const std::string text = ::testing::TempDir() + "/text.png";
  std::ofstream(text) << "no image";
  EXPECT_THAT(error({"--image=" + text}),
              AllOf(HasSubstr("text.png"), HasSubstr("expected PNG, JPEG, GIF, TIFF, BMP or PNM")));
  EXPECT_THAT(error({"--model=resnet_18", "--image=" + text}), HasSubstr("resnet18"));
  EXPECT_THAT(error({"--image=/nowhere.png"}), HasSubstr("/nowhere.png"));
}

TEST(LessonsTest, MixedPrecisionLearnsAsWell) {
  const std::string output = OutputOf("examples/mixed_precision");
  const double whole = NumberAfter(output, "f32: test accuracy ");
  EXPECT_GT(whole, 0.85);
  EXPECT_GT(NumberAfter(output, "bf16: test accuracy "), whole - 0.03);
  EXPECT_GT(NumberAfter(output, "\nf16: test accuracy "), whole - 0.03);
}

TEST(LessonsTest, VaeCodesImagesInFewerNats) {
  const std::string output = OutputOf("examples/vae");
  const double first = NumberAfter(output, "epoch 1: pixels ");
  const double last = NumberAfter(output, "epoch 30: pixels ");
  EXPECT_LT(last, first - 5);
  EXPECT_GT(NumberAfter(output.substr(output.find("epoch 30")), "distance "), 2);
}

TEST(LessonsTest, GanDrawsWhatLooksWritten) {
  const std::string output = OutputOf("examples/gan");
  // Six seeds gave 0.076 to 0.119.
  EXPECT_LT(NumberAfter(output, "mean difference of mean pixels "), 0.15);
}

TEST(LessonsTest, VectorLengthLearnsAndDraws) {
  const std::string path = ::testing::TempDir() + "/length.svg";
  const ProgramResult run = RunProgram("examples/vector_length", {path});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_LT(NumberAfter(run.output, "mean error "), 0.05);
  const std::string svg = Contents(path);
  EXPECT_THAT(svg, HasSubstr("<rect"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

TEST(LessonsTest, TensorsSharesViewsAndBlobs) {
  const std::string output = OutputOf("examples/tensors");
  EXPECT_THAT(output, HasSubstr("last row: [ 0  9  0 11]"));
  EXPECT_THAT(output, HasSubstr("elements above 5: [ 7  9 11]"));
  EXPECT_THAT(output, HasSubstr("first 7"));
}

}  // namespace
}  // namespace firn::testing
