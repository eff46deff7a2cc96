// Compares attention by tiles on a CUDA device with the CPU's, for sizes that samples do not have:
// several tiles each way, rows wider than the sums of a block, and operands that lie in every way.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/ops.h"
#include "tests/on_cuda.h"
#include "tests/tensor/kernels/cuda/attention_calls.h"

namespace firn {
namespace {

using Sizes = testing::AttentionSizes;
using Call = testing::AttentionCall;

class CudaAttentionTest : public testing::SharedCudaTest {
 protected:
  static Call Make(const Sizes& s, DType dtype, AttentionAttrs attrs = {}) {
    return Call::Make(s, dtype, attrs);
  }
  void ExpectAsOnTheCpu(const Call& c) { testing::ExpectAttentionAsOnTheCpu(c, device_); }
};

constexpr DType kDTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16};

TEST_F(CudaAttentionTest, RowsOfEveryWidthAreTakenInPieces) {
  for (const DType dtype : kDTypes) {
    for (const Sizes& s : {Sizes{1, 2, 2, 65, 67, 64, 64}, Sizes{2, 1, 1, 33, 130, 70, 75},
                           Sizes{1, 1, 1, 40, 70, 130, 6}, Sizes{1, 1, 1, 70, 40, 6, 150},
                           Sizes{1, 1, 1, 65, 65, 256, 256}, Sizes{1, 1, 1, 5, 6, 300, 270},
                           Sizes{1, 1, 1, 3, 200, 33, 1}}) {
      SCOPED_TRACE(::testing::Message() << dtype << " " << s.width << " " << s.value_width);
      ExpectAsOnTheCpu(Make(s, dtype));
    }
  }
}

TEST_F(CudaAttentionTest, EveryMaskHidesAcrossTiles) {
  const Sizes s = {2, 4, 2, 100, 150, 20, 24};
  for (const DType dtype : kDTypes) {
    for (const Shape& shape : {Shape({2, 4, 100, 150}), Shape({100, 150}), Shape({2, 1, 1, 150}),
                               Shape({4, 100, 1}), Shape({150})}) {
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(::testing::Message() << dtype << " " << shape << " " << causal);
        Call c = Make(s, dtype, {.causal = causal});
        c.mask = Randn(shape).To(dtype);
        ExpectAsOnTheCpu(c);
        c.mask = Gt(c.mask, 0.3);
        ExpectAsOnTheCpu(c);
      }
    }
  }
}

// Queries that see no key give 0, and there are tiles that no query sees.
TEST_F(CudaAttentionTest, HiddenQueriesGiveZero) {
  Call c = Make({1, 1, 1, 130, 140, 8, 8}, DType::kF32);
  c.mask = Gt(Unsqueeze(Arange(int64_t{0}, int64_t{130}, int64_t{1}), 1), 70).Expand({130, 140});
  ExpectAsOnTheCpu(c);
  const Tensor y = testing::ComputeAttention(c, device_)[0].To(Device::Cpu());
  EXPECT_EQ(Amax(Abs(Slice(y.Detach(), 1, 0, 71))).Item<double>(), 0);
}

TEST_F(CudaAttentionTest, DropsWhatTheCpuDrops) {
  for (const DType dtype : kDTypes) {
    for (const double dropout : {0.1, 0.7, 1.0}) {
      // Weights begin in every place of a counter's four words: 131 keys are no multiple of 4.
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(::testing::Message() << dtype << " " << dropout << " " << causal);
        ExpectAsOnTheCpu(
            Make({2, 2, 1, 70, 131, 9, 12}, dtype, {.dropout = dropout, .causal = causal}));
      }
    }
  }
}

TEST_F(CudaAttentionTest, HeadsShareKeysOfSeveralTiles) {
  for (const DType dtype : kDTypes) {
    ExpectAsOnTheCpu(Make({2, 6, 2, 90, 75, 16, 16}, dtype, {.causal = true}));
    ExpectAsOnTheCpu(Make({1, 5, 1, 75, 90, 16, 70}, dtype));
  }
}

TEST_F(CudaAttentionTest, OperandsLieAsTheyLie) {
  for (const DType dtype : kDTypes) {
    SCOPED_TRACE(::testing::Message() << dtype);
    Call c = Make({1, 2, 2, 70, 66, 12, 10}, dtype);
    // Columns that are not neighbours, rows that are expanded from one, and rows that begin at odd
    // elements.
    c.q = Randn({1, 2, 12, 70}).To(dtype);
    c.k = Randn({1, 2, 1, 12}).To(dtype);
    c.v = Randn({1, 2, 66, 13}).To(dtype);
    c.view = [](size_t i, const Tensor& x) {
      if (i == 0) return x.Transpose(2, 3);
      return i == 1 ? x.Expand({1, 2, 66, 12}) : Slice(x, 3, 1, 11);
    };
    ExpectAsOnTheCpu(c);
  }
}

// The chosen kernel, and the result that it must have beside y: a number for each query.
TEST_F(CudaAttentionTest, TilesTakeEveryCallInMemoryForQueriesAlone) {
  const int64_t heads = 3, length = 5000, width = 512;
  const auto stack = [&](int64_t a, int64_t b) {
    return TensorSpec::Contiguous(DType::kF16, {1, a, b, width}, device_);
  };
  const TensorSpec q = stack(heads, length), y = stack(length, heads);
  const TensorSpec logs = TensorSpec::Contiguous(DType::kF32, {1, heads, length}, device_);
  const Attrs attrs{AttentionAttrs()};
  const TensorSpec* const in[] = {&q, &q, &q, nullptr, nullptr, &y, &y, &logs};
  const TensorSpec out[] = {y, y, y}, of_forward[] = {y, logs};
  Prepared answer;
  ASSERT_TRUE(internal::Prepare(Op("scaled_dot_product_attention"),
                                KernelQuery({in, 5}, of_forward, attrs.ref()), device_, &answer)
                  .ok());
  EXPECT_EQ(answer.kernel->name, "by_tiles");
  EXPECT_EQ(answer.workspace, 0u);
  ASSERT_TRUE(internal::Prepare(Op("scaled_dot_product_attention_grad"),
                                KernelQuery(in, out, attrs.ref()), device_, &answer)
                  .ok());
  EXPECT_EQ(answer.kernel->name, "by_tiles");
  EXPECT_EQ(answer.workspace, static_cast<size_t>(heads * length) * sizeof(float));
}

// exp(-18) of the largest weight is below what f16 has, and many of them are not.
TEST_F(CudaAttentionTest, SmallWeightsOfHalfTypesCount) {
  constexpr int64_t kKeys = 4096;
  for (const double gap : {15.0, 16.0, 17.0, 18.0}) {
    std::vector<float> keys(kKeys, 0), values(kKeys, 1);
    keys[0] = static_cast<float>(gap);
    values[0] = 0;
    const Shape shape({1, 1, kKeys, 1});
    const Call call = {Ones({1, 1, 1, 1}, DType::kF16),
                       FromVector(keys).View(shape).To(DType::kF16),
                       FromVector(values).View(shape).To(DType::kF16),
                       {},
                       {.scale = 1}};
    const double others = (kKeys - 1) * std::exp(-gap), want = others / (1 + others);
    const double got = testing::ComputeAttention(call, device_)[0]
                           .To(Device::Cpu())
                           .To(DType::kF64)
                           .Item<double>();
    EXPECT_NEAR(got / want, 1, 1.5e-3) << "exp(-" << gap << ")";
  }
}

}  // namespace
}  // namespace firn
