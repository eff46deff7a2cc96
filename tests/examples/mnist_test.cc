// The program as its users run it: each model, saving and loading, the same run twice, mistakes.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

std::string FileOf(const std::string& name) { return ::testing::TempDir() + "/" + name; }

ProgramResult Mnist(std::vector<std::string> flags) {
  flags.insert(flags.begin(), "--dataset=digits");
  return RunProgram("examples/mnist", flags);
}

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of('\n');
  return output.substr(output.rfind('\n', end) + 1, end - output.rfind('\n', end));
}

class MnistModelTest : public ::testing::TestWithParam<std::string> {};

TEST_P(MnistModelTest, LearnsAndKeepsItsAccuracyInAFile) {
  const std::string file = FileOf(GetParam() + ".safetensors"), model = "--model=" + GetParam();
  std::filesystem::remove(file);
  const ProgramResult trained = Mnist({model, "--depth=1", "--epochs=2", "--save=" + file});
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_GT(NumberAfter(trained.output, "test accuracy: "), 0.5);
  const ProgramResult loaded =
      Mnist({model, "--depth=1", "--epochs=0", "--quiet", "--load=" + file});
  ASSERT_EQ(loaded.exit_code, 0) << loaded.errors;
  EXPECT_EQ(loaded.output, LastLine(trained.output) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Models, MnistModelTest,
                         ::testing::Values("lenet", "mlp", "resnet", "deep_cnn"),
                         [](const auto& name) { return name.param; });

TEST(MnistTest, SaysWhatItDoes) {
  const ProgramResult run = Mnist({"--epochs=1"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  for (const char* text :
       {"conv1", "[64, 16, 8, 8]", "100.0%", "epoch 1/1: loss ", " images/s, "}) {
    EXPECT_THAT(run.output, HasSubstr(text));
  }
  EXPECT_EQ(run.output.find('\r'), std::string::npos);  // no terminal
  EXPECT_THAT(LastLine(run.output), ::testing::MatchesRegex("test accuracy: 0\\.[0-9]{4}"));
}

// Losses of each tenth of an epoch, without the speeds beside them.
std::vector<std::string> Losses(const std::string& output) {
  std::vector<std::string> losses;
  for (size_t at = output.find("loss "); at != std::string::npos; at = output.find("loss ", at + 1))
    losses.push_back(output.substr(at, 11));
  return losses;
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(MnistTest, EqualSeedsGiveEqualRuns) {
  std::vector<std::vector<std::string>> losses;
  std::vector<std::string> files;
  for (const char* seed : {"--seed=7", "--seed=7", "--seed=8"}) {
    const std::string file = FileOf("seed" + std::to_string(files.size()) + ".safetensors");
    const ProgramResult run = Mnist({seed, "--epochs=1", "--threads=2", "--save=" + file});
    ASSERT_EQ(run.exit_code, 0) << run.errors;
    losses.push_back(Losses(run.output));
    files.push_back(Contents(file));
  }
  EXPECT_FALSE(losses[0].empty());
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_NE(losses[0], losses[2]);
  EXPECT_FALSE(files[0].empty());
  EXPECT_TRUE(files[0] == files[1]);
  EXPECT_FALSE(files[0] == files[2]);
}

TEST(MnistTest, LearnsInBf16) {
  const ProgramResult f32 = Mnist({"--model=lenet", "--epochs=3"});
  const ProgramResult bf16 = Mnist({"--model=lenet", "--epochs=3", "--precision=bf16"});
  ASSERT_EQ(bf16.exit_code, 0) << bf16.errors;
  EXPECT_GT(NumberAfter(bf16.output, "test accuracy: "), 0.8);
  EXPECT_NE(Losses(bf16.output), Losses(f32.output));  // it did compute in another type
}

TEST(MnistTest, RefusesBadFlags) {
  struct Case {
    const char *flag, *message;
  };
  for (const Case& c : std::vector<Case>{
           {"--no_such_flag=1", "no_such_flag"},
           {"--epochs=many", "epochs"},
           {"--epochs=-1", "--epochs is -1"},
           {"--batch_size=0", "--batch_size is 0"},
           {"--threads=-2", "--threads is -2"},
           {"--lr=-0.1", "--lr is -0.1"},
           {"--lr=nan", "--lr is nan"},
           {"--model=vgg", "there is no model 'vgg' (want lenet, mlp, resnet or deep_cnn)"},
           {"--optimizer=lion", "there is no optimizer 'lion' (want sgd, momentum or adam)"},
           {"--precision=f16", "there is no precision 'f16' (want f32 or bf16)"},
           {"--dataset=cats", "there is no data set 'cats' (want fashion or digits)"},
           {"--save=net.pt", "--save is net.pt (want a name that ends in .safetensors)"},
           {"--load=/nowhere/net.safetensors", "/nowhere/net.safetensors"},
           {"stray", "unexpected argument 'stray'"},
       }) {
    const ProgramResult run = Mnist({c.flag});
    EXPECT_GT(run.exit_code, 0) << c.flag;
    EXPECT_THAT(run.errors, HasSubstr(c.message)) << c.flag;
  }
  const ProgramResult run = RunProgram("examples/mnist", {"--data_dir=/nowhere"});
  EXPECT_GT(run.exit_code, 0);
  EXPECT_THAT(run.errors, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace firn::testing
