// The look of a saved network, in the picture of draw-graph and on the page of monitor.
#include <filesystem>
#include <string>

#include "firn/firn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::firn::io::ReadFile;
using ::firn::io::TempPath;
using ::testing::HasSubstr;
using ::testing::Not;

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

// A residual network of 8 convolutions, as `firn train` saves one.
std::string Network() {
  const std::string folder = TempPath("network");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  nn::Sequential net;
  for (int i = 0; i < 8; ++i) {
    net.Append(nn::New<nn::Conv2d>({.out = 8, .kernel = 3, .padding = 1}));
    net.Append(nn::New<nn::BatchNorm2d>());
  }
  const Tensor x = Zeros({1, 3, 8, 8});
  const NoGradScope no_grad;
  net(x);
  net.Eval();
  const StaticGraph graph = Freeze([&](const Tensor& in) { return net(in); }, x);
  io::SaveGraph(folder + "/net.firn", graph, {.names = net.state_dict()});
  return folder;
}

TEST(RunGraphTest, ABatchNormIsOneBoxAndStatesHaveTheirNames) {
  const std::string file = Network() + "/net.firn", dot = TempPath("net.dot");
  ASSERT_EQ(Firn({"draw-graph", file, "-o", dot}).status, 0);
  const std::string modules = ReadFile(dot);
  EXPECT_EQ(CountOf(modules, "shape=box"), 16u) << modules;
  EXPECT_THAT(modules, HasSubstr("label=\"state 0.weight\\n"));
  EXPECT_THAT(modules, HasSubstr("label=\"state 15.running_var\\n"));
  EXPECT_THAT(modules, Not(HasSubstr("state %")));
  EXPECT_THAT(modules, HasSubstr("rsqrt"));  // the box says what is in it
  ASSERT_EQ(Firn({"draw-graph", file, "-o", dot, "--by-module"}).status, 0);
  EXPECT_EQ(ReadFile(dot), modules);
  ASSERT_EQ(Firn({"draw-graph", file, "-o", dot, "--by-operation"}).status, 0);
  EXPECT_GE(CountOf(ReadFile(dot), "shape=box"), 8 + 8 * 4u);
  EXPECT_EQ(Firn({"draw-graph", file, "-o", dot, "--by-operation", "--by-module"}).status, 2);
}

TEST(RunGraphTest, ThePageOfARunHasABoxForABatchNormToo) {
  const std::string folder = Network(), path = TempPath("page.html");
  ASSERT_EQ(Firn({"monitor", folder, "-o", path}).status, 0);
  const std::string page = ReadFile(path);
  EXPECT_EQ(CountOf(page, "class=\"node"), 17u) << page;  // and the input
  EXPECT_GE(CountOf(page, "class=\"node group\""), 8u);
  EXPECT_THAT(page, Not(HasSubstr(">rsqrt<")));
}

}  // namespace
}  // namespace firn::cli
