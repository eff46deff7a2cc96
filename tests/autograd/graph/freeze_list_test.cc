// What is frozen with a list of inputs is called with a list of as many.
#include "firn/autograd/graph/freeze_list.h"

#include <cstdint>
#include <vector>

#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(FreezeListTest, InputsMayBeAListOfAnyLength) {
  const auto weighted = [](const std::vector<Tensor>& list) {
    Tensor sum = Zeros({2});
    for (size_t i = 0; i < list.size(); ++i) sum = sum + list[i] * static_cast<double>(i + 1);
    return sum;
  };
  for (const int64_t n : {1, 3}) {
    StaticGraph graph = Freeze(weighted, std::vector<Tensor>(static_cast<size_t>(n), Ones({2})));
    EXPECT_TRUE(graph.TakeFirst().Equals(Full({2}, n * (n + 1) / 2)));
    std::vector<Tensor> in;
    for (int64_t i = 0; i < n; ++i) in.push_back(Randn({2}));
    EXPECT_TRUE(graph.Call(in)[0].Equals(weighted(in)));
    in.push_back(Ones({2}));
    EXPECT_THROW(graph.Call(in), Error);
  }
}

TEST(FreezeListTest, ResultsMayBeSeveral) {
  StaticGraph graph = Freeze(CompileOptions{.constant_states = true},
                             [](const std::vector<Tensor>& list) {
                               return std::vector<Tensor>{list[0] + list[1], list[0] - list[1]};
                             },
                             {Ones({3}), Ones({3})});
  const TensorList out = graph.Call(std::vector<Tensor>{Full({3}, 5), Full({3}, 2)});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[0].Equals(Full({3}, 7)));
  EXPECT_TRUE(out[1].Equals(Full({3}, 3)));
}

}  // namespace
}  // namespace firn
