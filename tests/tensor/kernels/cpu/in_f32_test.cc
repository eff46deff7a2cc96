// Convolutions of half types are those of f32, rounded once: whatever kernel of f32 takes the call,
// in whatever layout it wants.

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tensor/ops.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace firn {
namespace {

struct Case {
  const char* name;
  Shape x, weight;
  ConvOptions options;
};

class InF32Test : public testing::TestWithParam<std::tuple<Case, DType>> {};

// Elements that both types have.
Tensor Drawn(const Shape& shape, DType dtype) {
  return Cast(Cast(Randn(shape), dtype), DType::kF32);
}

void ExpectSame(const Tensor& half, const Tensor& f32) {
  ASSERT_EQ(half.shape(), f32.shape());
  EXPECT_TRUE(All(Eq(half, Cast(f32, half.dtype()))).Item<bool>());
}

TEST_P(InF32Test, RoundsWhatF32Computes) {
  const auto& [c, dtype] = GetParam();
  ManualSeed(1);
  const Tensor x = Drawn(c.x, dtype), weight = Drawn(c.weight, dtype);
  const Tensor bias = Drawn({c.weight[0]}, dtype);
  const auto conv = c.x.rank() == 3 ? Conv1d : c.x.rank() == 4 ? Conv2d : Conv3d;
  const Tensor want = conv(x, weight, bias, c.options);
  ExpectSame(conv(Cast(x, dtype), Cast(weight, dtype), Cast(bias, dtype), c.options), want);
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, InF32Test,
    testing::Combine(
        testing::Values(Case{"winograd", {2, 32, 12, 12}, {32, 32, 3, 3}, {.padding = 1}},
                        Case{"onednn", {2, 32, 9, 9}, {16, 32, 3, 3}, {.stride = 2}},
                        Case{"first", {2, 3, 10, 10}, {32, 3, 3, 3}, {.padding = 1}},
                        Case{"odd", {1, 3, 7, 5}, {5, 3, 2, 3}, {}},
                        Case{"sequence", {2, 16, 20}, {16, 16, 3}, {}},
                        Case{"volume", {1, 4, 5, 6, 7}, {8, 4, 3, 3, 3}, {}}),
        testing::Values(DType::kBF16, DType::kF16)),
    [](const auto& instance) {
      return std::string(std::get<0>(instance.param).name) +
             (std::get<1>(instance.param) == DType::kF16 ? "_f16" : "_bf16");
    });

}  // namespace
}  // namespace firn
