// Attention by tiles on a CUDA device against the CPU's, of sizes that samples do not have: several
// tiles each way, rows wider than the sums of a block, and operands that lie in every way.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/from.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

struct Sizes {
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
};

class CudaAttentionTest : public testing::SharedCudaTest {
 protected:
  struct Call {
    Tensor q, k, v, mask;
    AttentionAttrs attrs;
    // What input i is of the tensor above.
    std::function<Tensor(size_t i, const Tensor& x)> view = [](size_t, const Tensor& x) {
      return x;
    };
  };
  static Call Make(const Sizes& s, DType dtype, AttentionAttrs attrs = {}) {
    attrs.scale = 1 / std::sqrt(static_cast<double>(s.width));
    return {Randn({s.batch, s.heads, s.queries, s.width}).To(dtype),
            Randn({s.batch, s.kv_heads, s.keys, s.width}).To(dtype),
            Randn({s.batch, s.kv_heads, s.keys, s.value_width}).To(dtype),
            {},
            attrs};
  }
  // The result, the logarithms, and the gradients of q, k and v for a weighting of the result.
  static std::vector<Tensor> Compute(const Call& c, Device device) {
    std::vector<Tensor> leaves, in;
    for (const Tensor& t : {c.q, c.k, c.v}) {
      leaves.push_back(t.Detach().To(device).SetRequiresGrad());
      in.push_back(c.view(in.size(), leaves.back()));
    }
    const Tensor mask = c.mask.defined() ? c.mask.To(device) : Tensor();
    const Tensor position =
        c.attrs.dropout > 0 ? FromVector<int64_t>({7, 100}).To(device) : Tensor();
    const TensorList y = Apply(Op("scaled_dot_product_attention"),
                               {in[0], in[1], in[2], mask, position}, AttrsRef(c.attrs));
    const Tensor count = Arange(int64_t{0}, y[0].num_elements(), int64_t{1});
    const Tensor weights = Reshape(Sin(count.To(DType::kF64)), y[0].shape());
    Sum(y[0] * weights.To(y[0].dtype()).To(device)).Backward();
    return {y[0], y[1], leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
  }
  // Within some eight roundings of half types, as y is rounded before its gradient reads it, and
  // for sums of up to a few hundred numbers of a hundred roundings of float and more of double.
  void ExpectAsOnTheCpu(const Call& c) {
    const DType dtype = c.q.dtype();
    const double allowed = dtype == DType::kF64   ? 1e-12
                           : dtype == DType::kF32 ? 2e-5
                           : dtype == DType::kF16 ? 4e-3
                                                  : 3e-2;
    const std::vector<Tensor> want = Compute(c, Device::Cpu()), got = Compute(c, device_);
    for (size_t i = 0; i < want.size(); ++i) {
      SCOPED_TRACE(i);
      ASSERT_EQ(got[i].shape(), want[i].shape());
      EXPECT_EQ(got[i].dtype(), want[i].dtype());
      const Tensor g = got[i].Detach().To(Device::Cpu()).To(DType::kF64);
      const Tensor w = want[i].Detach().To(DType::kF64);
      EXPECT_TRUE(Isfinite(g).Equals(Isfinite(w)));  // logarithms of nothing are not
      const auto finite = [](const Tensor& x) { return NanToNum(x, {.posinf = 0, .neginf = 0}); };
      EXPECT_LE(Amax(Abs(finite(g) - finite(w))).Item<double>(),
                allowed * (1 + Amax(Abs(finite(w))).Item<double>()));
    }
  }
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

// Of queries that see nothing, which give 0, and of tiles that nobody sees.
TEST_F(CudaAttentionTest, HiddenQueriesGiveZero) {
  Call c = Make({1, 1, 1, 130, 140, 8, 8}, DType::kF32);
  c.mask = Gt(Unsqueeze(Arange(int64_t{0}, int64_t{130}, int64_t{1}), 1), 70).Expand({130, 140});
  ExpectAsOnTheCpu(c);
  const Tensor y = Compute(c, device_)[0].To(Device::Cpu());
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
    // Columns that are not neighbours, rows that are one, and rows that begin at odd elements.
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

// The chosen kernel, and what it has to have beside results: a number for each query.
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
    const double got =
        Compute(call, Device::Cuda(0))[0].To(Device::Cpu()).To(DType::kF64).Item<double>();
    EXPECT_NEAR(got / want, 1, 1.5e-3) << "exp(-" << gap << ")";
  }
}

}  // namespace
}  // namespace firn
