// Several threads call one network of a file, with inputs of many shapes, and list its parameters.
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/io/onnx/onnx.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"
#include "tests/io/onnx/onnx_builder.h"

namespace firn::io::internal {
namespace {

OnnxModel Doubler() {
  return Model(Graph({Node("Shape", {"x"}, {"sizes"}), Node("Reshape", {"x", "sizes"}, {"same"}),
                      Node("Add", {"same", "x"}, {"twice"}), Node("Mul", {"twice", "w"}, {"y"})},
                     {"x"}, {"y"}, {{"w", FromVector<float>({3}, {1})}}));
}

TEST(OnnxThreadsTest, MayCallOneNetworkAtOnce) {
  const OnnxImport net = Import(Doubler()).value();
  constexpr int kThreads = 4, kCalls = 60, kShapes = 11;  // more shapes than the network remembers
  std::vector<int> right(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&net, &right, t] {
      SetNumThreads(1);
      const NoGradScope no_grad;
      const Network copy = net.network;  // using the shapes that other threads have prepared
      for (int i = 0; i < kCalls; ++i) {
        const Tensor x = Full({1 + (i * (t + 1)) % kShapes}, i);
        right[t] += (i % 2 == 0 ? net.network : copy)(x).Equals(Mul(x, 6)) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kCalls));
}

TEST(OnnxThreadsTest, PrintsInputs) {
  const Network net = Import(Doubler()).value().network;
  std::ostringstream text;
  for (const auto& input : net.inputs()) text << input;
  EXPECT_EQ(text.str(), "x: " + net.inputs()[0].Type());
  const autograd::NetworkPort port = {
      .name = "image",
      .dtype = DType::kF32,
      .dims = std::vector<autograd::NetworkDim>{{.symbol = "N"}, {.size = 3}, {}}};
  EXPECT_EQ(port.Type(), "f32 [N, 3, ?]");
  EXPECT_EQ(autograd::NetworkPort{.name = "any"}.Type(), "any dtype");
}

}  // namespace
}  // namespace firn::io::internal
