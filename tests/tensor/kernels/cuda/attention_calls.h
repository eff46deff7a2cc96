#ifndef FIRN_TESTS_TENSOR_KERNELS_CUDA_ATTENTION_CALLS_H_
#define FIRN_TESTS_TENSOR_KERNELS_CUDA_ATTENTION_CALLS_H_

// Calls of attention on a CUDA device, compared with the CPU's.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::testing {

struct AttentionSizes {
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
};

struct AttentionCall {
  Tensor q, k, v, mask;
  AttentionAttrs attrs;
  // Makes input i from the tensor above.
  std::function<Tensor(size_t i, const Tensor& x)> view = [](size_t, const Tensor& x) { return x; };

  static AttentionCall Make(const AttentionSizes& s, DType dtype, AttentionAttrs attrs = {}) {
    attrs.scale = 1 / std::sqrt(static_cast<double>(s.width));
    return {Randn({s.batch, s.heads, s.queries, s.width}).To(dtype),
            Randn({s.batch, s.kv_heads, s.keys, s.width}).To(dtype),
            Randn({s.batch, s.kv_heads, s.keys, s.value_width}).To(dtype),
            {},
            attrs};
  }
};

// The result, the logarithms, and the gradients of q, k and v for a weighting of the result, which
// is dense unless it is one number for all.
inline std::vector<Tensor> ComputeAttention(const AttentionCall& c, Device device,
                                            bool one_weight = false) {
  std::vector<Tensor> leaves, in;
  for (const Tensor& t : {c.q, c.k, c.v}) {
    leaves.push_back(t.Detach().To(device).SetRequiresGrad());
    in.push_back(c.view(in.size(), leaves.back()));
  }
  const Tensor mask = c.mask.defined() ? c.mask.To(device) : Tensor();
  const Tensor position = c.attrs.dropout > 0 ? FromVector<int64_t>({7, 100}).To(device) : Tensor();
  const TensorList y = Apply(Op("scaled_dot_product_attention"),
                             {in[0], in[1], in[2], mask, position}, AttrsRef(c.attrs));
  if (one_weight) {
    Sum(y[0]).Backward();
  } else {
    const Tensor count = Arange(int64_t{0}, y[0].num_elements(), int64_t{1});
    const Tensor weights = Reshape(Sin(count.To(DType::kF64)), y[0].shape());
    Sum(y[0] * weights.To(y[0].dtype()).To(device)).Backward();
  }
  return {y[0], y[1], leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

// Within some eight roundings of half types, as y is rounded before its gradient reads it, and for
// sums of up to a few hundred numbers of a hundred roundings of float and more of double.
inline void ExpectAttentionAsOnTheCpu(const AttentionCall& c, Device device,
                                      bool one_weight = false) {
  const DType dtype = c.q.dtype();
  const double allowed = dtype == DType::kF64   ? 1e-12
                         : dtype == DType::kF32 ? 2e-5
                         : dtype == DType::kF16 ? 4e-3
                                                : 3e-2;
  const std::vector<Tensor> want = ComputeAttention(c, Device::Cpu(), one_weight);
  const std::vector<Tensor> got = ComputeAttention(c, device, one_weight);
  for (size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(got[i].shape(), want[i].shape());
    EXPECT_EQ(got[i].dtype(), want[i].dtype());
    const Tensor g = got[i].Detach().To(Device::Cpu()).To(DType::kF64);
    const Tensor w = want[i].Detach().To(DType::kF64);
    EXPECT_TRUE(Isfinite(g).Equals(Isfinite(w)));  // logarithms of empty sums are not
    const auto finite = [](const Tensor& x) { return NanToNum(x, {.posinf = 0, .neginf = 0}); };
    EXPECT_LE(Amax(Abs(finite(g) - finite(w))).Item<double>(),
              allowed * (1 + Amax(Abs(finite(w))).Item<double>()));
  }
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_TENSOR_KERNELS_CUDA_ATTENTION_CALLS_H_
