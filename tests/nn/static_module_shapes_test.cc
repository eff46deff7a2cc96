// More shapes than a StaticModule keeps graphs of.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/nn/activation.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/storage.h"
#include "tests/nn/scale_layer.h"

namespace firn::nn {
namespace {

TEST(StaticModuleShapesTest, TheGraphUsedLongestAgoGoesFirst) {
  Relu relu;
  StaticModule fast(relu, {.max_graphs = 3});
  const Tensor a = Zeros({1}), b = Zeros({2}), c = Zeros({3}), d = Zeros({4});
  fast(a);
  fast(b);
  fast(c);
  fast(a);
  EXPECT_FALSE(Captures(fast, d));  // since the shape may never come again
  EXPECT_TRUE(Captures(fast, d));   // b goes
  EXPECT_EQ(fast.size(), 3u);
  EXPECT_EQ(fast.dropped(), 1);
  EXPECT_FALSE(Captures(fast, a));
  EXPECT_FALSE(Captures(fast, c));
  EXPECT_FALSE(Captures(fast, d));
  EXPECT_FALSE(Captures(fast, b));
  EXPECT_TRUE(Captures(fast, b));
  EXPECT_THROW(StaticModule(relu, {.max_graphs = 0}), Error);
}

// One shape more than there is room for, all in turn: no graph makes room for it. (Dropping the one
// used longest ago would drop a graph at each call.)
TEST(StaticModuleShapesTest, OneShapeTooManyTakesNoGraphFromTheOthers) {
  Scale net;
  StaticModule fast(net, {.max_graphs = 3});
  const NoGradScope no_grad;
  for (int round = 0; round < 10; ++round) {
    for (int n = 1; n <= 4; ++n) {
      EXPECT_EQ(fast(Ones({n, 2})).ToVector<float>(), net(Ones({n, 2})).ToVector<float>());
    }
  }
  EXPECT_EQ(fast.misses(), 3);
  EXPECT_EQ(fast.ordinary(), 10);
  EXPECT_EQ(fast.hits(), 27);
  EXPECT_NE(fast.DebugString().find("0 dropped, 10 ordinary calls\n"), std::string::npos)
      << fast.DebugString();
}

TEST(StaticModuleShapesTest, ManyShapesSayOnceThatTheyAreTooManyAndCaptureSeldom) {
  Scale net;
  net.SetName("server");
  StaticModule fast(net, {.max_graphs = 4});
  const NoGradScope no_grad;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 6400; ++i) fast(Ones({1 + i * 7919 % 300, 2}));
  for (int i = 0; i < 6400; ++i) fast(Ones({1 + i * i % 300, 2}));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "firn: a StaticModule of server meets more shapes than the 4 that it keeps graphs of:"
            " calls with others run the network itself. Set max_graphs, or bring inputs to fewer"
            " shapes\n");
  EXPECT_LE(fast.misses(), 4 + 4 + 12800 / 1024);
  EXPECT_EQ(fast.misses() + fast.hits() + fast.ordinary(), 12800);
}

TEST(StaticModuleShapesTest, ShapesThatSettleGetGraphsAgain) {
  Scale net;
  StaticModule fast(net, {.max_graphs = 4});
  const NoGradScope no_grad;
  for (int i = 0; i < 1000; ++i) fast(Ones({1 + i % 100, 2}));
  for (int i = 0; i < 4 * 64 * 4; ++i) fast(Ones({200 + i % 4, 2}));
  for (int n = 200; n < 204; ++n) {
    const int64_t before = fast.hits();
    fast(Ones({n, 2}));
    EXPECT_EQ(fast.hits(), before + 1) << n;
  }
}

TEST(StaticModuleShapesTest, OrdinaryCallsGiveWhatGraphsGive) {
  Scale net;
  StaticModule fast(net,
                    [&](absl::Span<const Tensor> in) {
                      return TensorList{in[0], in[0].T(), net(in[0]), net.scale};
                    },
                    {.max_graphs = 1});
  const auto call = [&](const Tensor& x) {
    const Tensor in[] = {x};
    return fast.Call(in);
  };
  call(Ones({1, 2}));
  const Tensor x = Randn({3, 2});
  const TensorList results = call(x);
  EXPECT_EQ(fast.ordinary(), 1);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_TRUE(results[0].Equals(x));
  EXPECT_TRUE(results[1].Equals(x.T()));
  EXPECT_TRUE(results[2].Equals(net(x)));
  EXPECT_TRUE(results[3].Equals(net.scale));
  for (const Tensor& t : results) {
    EXPECT_FALSE(t.requires_grad());
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_EQ(t.impl()->storage->use_count(), 1u);
  }
}

}  // namespace
}  // namespace firn::nn
