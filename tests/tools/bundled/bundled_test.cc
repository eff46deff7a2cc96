// Programs of one file compute the results of the modules from which their graphs were captured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "examples/models.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/npy/npy.h"
#include "firn/nn/linear.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/examples/run_program.h"

namespace firn::testing {
namespace {

using ::testing::HasSubstr;

std::string Temp(const std::string& name) { return ::testing::TempDir() + "/" + name; }

ProgramResult Link(const std::string& graph, const std::string& program) {
  return RunProgram("tools/bundled/link", {"tools/bundled/parts.txt", graph, program});
}

// LeNet's graph as a program, made once.
struct BundledLenet {
  BundledLenet() {
    ManualSeed(1);
    net.Eval();
    const StaticGraph graph =
        Freeze([&](const Tensor& x) { return net(x); }, Zeros({2, 1, 28, 28}));
    io::SaveGraph(Temp("lenet.firn"), graph, {.names = net.state_dict()});
    linked = Link(Temp("lenet.firn"), program);
  }
  examples::Lenet net;
  std::string program = Temp("lenet");
  ProgramResult linked;
};
BundledLenet& Bundled() {
  static auto* const bundled = new BundledLenet;
  return *bundled;
}

class BundledTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Bundled().linked.errors.find("instrumented by a sanitizer") != std::string::npos) {
      GTEST_SKIP() << Bundled().linked.errors;
    }
  }
};

TEST_F(BundledTest, ComputesWhatTheModuleDoes) {
  ASSERT_EQ(Bundled().linked.exit_code, 0) << Bundled().linked.errors;
  const Tensor x = Randn({2, 1, 28, 28});
  io::WriteNpy(Temp("x.npy"), x);
  const ProgramResult run = RunProgram(Bundled().program, {"--output=" + Temp("y"), Temp("x.npy")});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const Tensor want = Bundled().net(x).Detach(), got = io::ReadNpy(Temp("y.0.npy"));
  ASSERT_EQ(got.shape(), want.shape());
  // Sums of at most 800 products of numbers about 1 in another order.
  EXPECT_LT(Max(Abs(Sub(got, want))).Item<float>(), 1e-5);
}

TEST_F(BundledTest, IsOneSmallFile) {
  ASSERT_EQ(Bundled().linked.exit_code, 0) << Bundled().linked.errors;
  struct stat info = {};
  ASSERT_EQ(stat(Bundled().program.c_str(), &info), 0);
  EXPECT_LT(info.st_size, 6'000'000);
  // It needs no loader, hence no library.
  std::ifstream file(Bundled().program, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes.find("/ld-linux"), bytes.npos);
  EXPECT_EQ(bytes.find("libstdc++.so"), bytes.npos);
  // It has no operations that are not in the graph, either.
  EXPECT_NE(bytes.find("max_pool2d"), bytes.npos);
  EXPECT_EQ(bytes.find("cumsum"), bytes.npos);
}

// A program in use stays whole, and a graph is not written over.
TEST_F(BundledTest, ChangesNothingWhereItFails) {
  ASSERT_EQ(Bundled().linked.exit_code, 0) << Bundled().linked.errors;
  std::ofstream(Temp("kept")) << "kept";
  std::ofstream(Temp("text")) << "no graph";
  EXPECT_NE(Link(Temp("text"), Temp("kept")).exit_code, 0);
  std::string kept;
  std::ifstream(Temp("kept")) >> kept;
  EXPECT_EQ(kept, "kept");
  EXPECT_THAT(Link(Temp("lenet.firn"), Temp("lenet.firn")).errors,
              HasSubstr("is the graph itself"));
}

// A matrix of zeros has no inverse.
TEST_F(BundledTest, TakesGraphsThatRefuseZeros) {
  const StaticGraph graph = Freeze([](const Tensor& x) { return Inv(x); }, Eye(3));
  io::SaveGraph(Temp("inverse.firn"), graph);
  const ProgramResult linked = Link(Temp("inverse.firn"), Temp("inverse"));
  ASSERT_EQ(linked.exit_code, 0) << linked.errors;
  EXPECT_THAT(linked.output, HasSubstr("the run on zeros ended early"));
  io::WriteNpy(Temp("two.npy"), Mul(Eye(3), Full({}, 2.0)));
  const ProgramResult run = RunProgram(Temp("inverse"), {Temp("two.npy")});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_NEAR(NumberAfter(run.output, "cpu\n"), 0.5, 1e-6);
}

TEST_F(BundledTest, TellsWhatItTakes) {
  const ProgramResult asked = RunProgram(Bundled().program);
  EXPECT_EQ(asked.exit_code, 0) << asked.errors;
  EXPECT_EQ(asked.output, "input 0: f32 [2, 1, 28, 28] on cpu\nresult 0: f32 [2, 10] on cpu\n");
}

TEST_F(BundledTest, RefusesByName) {
  ASSERT_EQ(Bundled().linked.exit_code, 0) << Bundled().linked.errors;
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& why) {
    const ProgramResult run = RunProgram(Bundled().program, arguments);
    EXPECT_EQ(run.exit_code, 1) << why;
    EXPECT_THAT(run.errors, HasSubstr(why));
  };
  const StaticGraph other = Freeze([](const Tensor& x) { return Cumsum(x, 0); }, Zeros({4}));
  io::SaveGraph(Temp("other.firn"), other);
  refused({"--graph=" + Temp("other.firn")}, "cumsum");
  std::ofstream(Temp("text")) << "no graph";
  refused({"--graph=" + Temp("text")}, "not a graph file");
  refused({"--graph=/nowhere"}, "cannot open /nowhere");
  refused({"--inputs"}, "there is no option --inputs");
  refused({"1", "2"}, "expected 1 inputs, got 2");
  refused({"/nowhere.npy"}, "cannot open /nowhere.npy");
  io::WriteNpy(Temp("wide.npy"), Zeros({2, 3}));
  refused({Temp("wide.npy")}, "expected f32 [2, 1, 28, 28] on cpu, got f32 [2, 3] on cpu");
  EXPECT_THAT(Link(Temp("text"), Temp("none")).errors, HasSubstr("is not a graph file"));
}

TEST_F(BundledTest, TakesTrainingStepsToo) {
  nn::Linear net({.in = 3, .out = 2});
  optim::Sgd sgd(net.parameters(), {.lr = 0.1});
  const Tensor x = Full({4, 3}, 0.5), labels = Zeros({4}, DType::kI64);
  StaticGraph step = Freeze(
      [&](const Tensor& in, const Tensor& targets) {
        sgd.ZeroGrad();
        Tensor loss = CrossEntropy(net(in), targets);
        loss.Backward();
        sgd.Step();
        return loss;
      },
      x, labels);
  io::SaveGraph(Temp("step.firn"), step, {.names = net.state_dict()});
  const ProgramResult linked = Link(Temp("step.firn"), Temp("step"));
  ASSERT_EQ(linked.exit_code, 0) << linked.errors;
  EXPECT_THAT(linked.output, HasSubstr("sgd_step"));
  const ProgramResult run = RunProgram(Temp("step"), {"0.5", "0"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_NEAR(NumberAfter(run.output, "f32 [] on cpu\n"), step(x, labels).Item<float>(), 1e-5);
}

}  // namespace
}  // namespace firn::testing
