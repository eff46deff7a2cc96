// Which calls a static module takes, and who owns their results.

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/nn/linear.h"
#include "firn/nn/loss.h"
#include "firn/nn/sequential.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::nn {
namespace {

using Values = std::vector<float>;

TEST(StaticModuleCallTest, LayersOfTwoInputsAreCalledWithTwo) {
  CrossEntropyLoss loss;
  StaticModule fast(loss);
  const Tensor x = Randn({2, 3}), y = FromValues<int64_t>({0, 2});
  fast(x, y);
  EXPECT_EQ(fast(x * 2, y).Item(), loss(x * 2, y).Item());
  EXPECT_EQ(fast.hits(), 1);
  EXPECT_THROW(fast(x), Error);
  EXPECT_THROW(fast(x, Tensor()), Error);
}

struct Pair : Module {
  Linear& up = Add<Linear>("up", {.out = 4});
  Linear& down = Add<Linear>("down", {.out = 1});
  TensorList Both(const Tensor& x, const Tensor& y) { return {up(x) + y, down(x)}; }
};

TEST(StaticModuleCallTest, AFunctionMayHaveSeveralInputsAndResults) {
  Pair net;
  StaticModule fast(net, [&](absl::Span<const Tensor> in) { return net.Both(in[0], in[1]); });
  for (int i = 0; i < 3; ++i) {
    const Tensor in[] = {Randn({2, 3}), Randn({2, 4})};
    const TensorList got = fast.Call(in), want = net.Both(in[0], in[1]);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_TRUE(got[0].Equals(want[0]));
    EXPECT_TRUE(got[1].Equals(want[1]));
  }
  EXPECT_EQ(fast.misses(), 1);
  EXPECT_THROW(fast(Randn({2, 3}), Randn({2, 4})), Error);  // which of the two?
}

TEST(StaticModuleCallTest, APartRunsWhileTheRestOfTheNetworkIsPending) {
  Pair net;
  StaticModule up(net, [&](const Tensor& x) { return net.up(x); });
  const Tensor x = Randn({2, 3});
  up(x);
  EXPECT_TRUE(up(x).Equals(net.up(x)));
  EXPECT_EQ(up.hits(), 1);
  net.down(x);  // now it has elements: another network
  EXPECT_TRUE(up(x).Equals(net.up(x)));
  EXPECT_EQ(up.misses(), 2);
  EXPECT_EQ(up.size(), 1u);
}

TEST(StaticModuleCallTest, AFunctionMayBeWrittenAsForFreeze) {
  Pair net;
  StaticModule up(net, [&](const Tensor& x) { return net.up(x); }, {.max_graphs = 1});
  StaticModule both(net, [&, calls = 0](const Tensor& x, const Tensor& y) mutable {
    ++calls;
    return std::pair(net.up(x) + y, calls * net.down(x));
  });
  const Tensor x = Randn({2, 3}), y = Randn({2, 4});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(up(x).Equals(net.up(x)));
    const Tensor in[] = {x, y};
    const TensorList got = both.Call(in);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_TRUE(got[0].Equals(net.up(x) + y));
    EXPECT_TRUE(got[1].Equals(net.down(x)));
  }
  EXPECT_EQ(both.hits(), 2);
  EXPECT_THROW(up(x, y), Error);
  EXPECT_THROW(both(x), Error);
}

TEST(StaticModuleCallTest, IsCalledWithTensors) {
  EXPECT_TRUE((std::is_invocable_v<StaticModule&, Tensor, Tensor>));
  EXPECT_FALSE((std::is_invocable_v<StaticModule&, Tensor, std::string>));
  EXPECT_FALSE(std::is_invocable_v<StaticModule&>) << "Call({}) is for networks without an input";
}

TEST(StaticModuleCallTest, ResultsSurviveLaterCalls) {
  Tensor last;  // every run writes it again
  Sequential net;
  net.Append([&last](const Tensor& x) { return last = x + 1; });
  StaticModule fast(net);
  const Tensor a = fast(Zeros({2})), b = fast(Ones({2})), c = fast(Full({2}, 2.0));
  EXPECT_EQ(a.ToVector<float>(), (Values{1, 1}));
  EXPECT_EQ(b.ToVector<float>(), (Values{2, 2}));
  EXPECT_EQ(c.ToVector<float>(), (Values{3, 3}));
  EXPECT_EQ(last.ToVector<float>(), (Values{3, 3}));
}

TEST(StaticModuleCallTest, ACallThatFailsKeepsNothing) {
  bool reads = true;
  Sequential net;
  net.Append([&reads](const Tensor& x) { return reads && x.Item() > 0 ? x : x * 2; });
  StaticModule fast(net);
  EXPECT_THROW(fast(Ones({1})), Error);
  EXPECT_EQ(fast.size(), 0u);
  reads = false;
  EXPECT_EQ(fast(Ones({1})).Item(), 2);
}

}  // namespace
}  // namespace firn::nn
