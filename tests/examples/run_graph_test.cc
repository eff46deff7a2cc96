// A program without modules runs the graphs of modules.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/format.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 1, .out = 4, .kernel = 3, .padding = 1});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 4 * 25, .out = 3});
  Tensor Forward(const Tensor& x) { return fc(Flatten(Relu(conv(x)), 1)); }
};

TEST(RunGraphTest, LinksNoModulesAndOfOptimizersOperationsAlone) {
  EXPECT_EQ(Read("tests/examples/run_graph_classes"), "");
  EXPECT_THAT(Read("tests/examples/mnist_classes"), HasSubstr("//optim:"));  // the query finds them
}

TEST(RunGraphTest, OfTheZooTheFamilyThatIsUsed) {
  const std::string linked = Read("tests/examples/mnist_classes");
  EXPECT_THAT(linked, HasSubstr("//nn/zoo:small\n"));
  EXPECT_THAT(linked, Not(HasSubstr("//nn/zoo:resnet")));
  EXPECT_THAT(linked, Not(HasSubstr("//nn/zoo:zoo")));
}

TEST(RunGraphTest, ComputesWhatTheModuleDoes) {
  Net net;
  const std::string path = ::testing::TempDir() + "/run_graph.firn";
  const StaticGraph graph =
      Freeze([&net](const Tensor& x) { return net.Forward(x); }, Zeros({2, 1, 5, 5}));
  io::SaveGraph(path, graph, {.names = net.state_dict()});
  const ProgramResult run = RunProgram("examples/run_graph", {path, "0.25"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("state conv.weight: f32 [4, 1, 3, 3] on cpu"));
  EXPECT_THAT(run.output, HasSubstr("# net.conv\n"));
  std::ostringstream want;
  want << "result " << net.Forward(Full({2, 1, 5, 5}, 0.25)).Detach() << "\n";
  EXPECT_THAT(run.output, HasSubstr(want.str()));
}

TEST(RunGraphTest, RunsAWholeTrainingStep) {
  Net net;
  optim::Adam adam(net.parameters(), {.lr = 0.1});
  const Tensor x = Full({2, 1, 5, 5}, 0.25), labels = Zeros({2}, DType::kI64);
  StaticGraph step = Freeze(
      [&](const Tensor& in, const Tensor& targets) {
        adam.ZeroGrad();
        Tensor loss = CrossEntropy(net.Forward(in), targets);
        loss.Backward();
        adam.Step();
        return loss;
      },
      x, labels);
  const std::string path = ::testing::TempDir() + "/run_graph_step.firn";
  io::SaveGraph(path, step, {.names = net.state_dict()});
  const ProgramResult run = RunProgram("examples/run_graph", {path, "0.25"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("adam_step"));
  std::ostringstream want;
  want << "result " << step(x, labels) << "\n";
  EXPECT_THAT(run.output, HasSubstr(want.str()));
}

TEST(RunGraphTest, SaysWhatIsWrong) {
  EXPECT_EQ(RunProgram("examples/run_graph").exit_code, 2);
  const ProgramResult run = RunProgram("examples/run_graph", {"/nowhere.firn"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("cannot open /nowhere.firn"));
  for (const std::string word : {"abc", "0.5x", ""}) {
    const ProgramResult no_number = RunProgram("examples/run_graph", {"/nowhere.firn", word});
    EXPECT_EQ(no_number.exit_code, 2) << word;
    EXPECT_THAT(no_number.errors, HasSubstr("'" + word + "' is not a number"));
  }
}

TEST(RunGraphTest, SaysThatAnInputIsTooLarge) {
  const std::string path = ::testing::TempDir() + "/run_graph_large.firn";
  const StaticGraph graph =
      Freeze([](const Tensor& x) { return Sum(x); }, Zeros({4, 1024, 1024}));  // 16 MiB
  io::SaveGraph(path, graph);
  setenv("FIRN_CPU_MEMORY_LIMIT", "8M", 1);
  const ProgramResult run = RunProgram("examples/run_graph", {path});
  unsetenv("FIRN_CPU_MEMORY_LIMIT");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("run_graph: full: out of memory on cpu: asked for 16.00 MiB"));
}

}  // namespace
}  // namespace firn::testing
