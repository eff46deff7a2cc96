#ifndef FIRN_TENSOR_KERNELS_CUDA_MATMUL_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_MATMUL_CUH_

// Matrix products by their definition, for every dtype and any strides; they run where cuBLAS does
// not. A thread computes an element of the result, or a team does where there are few elements with
// long sums.

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/matmul_plan.h"
#include "firn/tensor/op.h"

namespace firn::cuda {

// c = a b, and the bias added to each row.
template <class T>
struct ProductBody {
  using Acc = AccumulatorOf<T>;

  const T *a, *b, *bias;  // bias may be null
  T* c;
  int64_t bias_step;
  GemmShape one;
  int rank;
  int64_t sizes[kMaxRank], a_steps[kMaxRank], b_steps[kMaxRank];  // of the batch

  FIRN_HOST_DEVICE void operator()(int64_t i) const { Store(i, Sum(i, 0, 1)); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t i) const {
    const Acc sum =
        team.Reduce(Sum(i, team.rank(), team.size()), [](Acc x, Acc y) { return x + y; });
    if (team.rank() == 0) Store(i, sum);
  }

 private:
  // Products `first`, `first` + `step`, ... of element i.
  FIRN_HOST_DEVICE Acc Sum(int64_t i, int64_t first, int64_t step) const {
    const T* from_b = b + TakeDigit(i, one.n) * one.b.col;
    const T* from_a = a + TakeDigit(i, one.m) * one.a.row;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t at = TakeDigit(i, sizes[d]);
      from_a += at * a_steps[d];
      from_b += at * b_steps[d];
    }
    Acc sum = 0;
    for (int64_t p = first; p < one.k; p += step) {
      sum += static_cast<Acc>(from_a[p * one.a.col]) * static_cast<Acc>(from_b[p * one.b.row]);
    }
    return sum;
  }
  FIRN_HOST_DEVICE void Store(int64_t i, Acc sum) const {
    if (bias != nullptr) sum += static_cast<Acc>(bias[i % one.n * bias_step]);
    c[i] = static_cast<T>(sum);
  }
};

// Multiplies inputs 0 and 1 by `plan`, and adds the vector of input `bias` unless that is negative.
template <class T>
absl::Status Multiply(const KernelContext& k, const MatmulPlan& plan, int bias) {
  const bool has_bias = bias >= 0 && k.has(bias);
  ProductBody<T> body = {.a = k.in<T>(0),
                         .b = k.in<T>(1),
                         .bias = has_bias ? k.in<T>(bias) : nullptr,
                         .c = k.out<T>(),
                         .bias_step = has_bias ? k.in_spec(bias).layout.strides[0] : 0,
                         .one = plan.one,
                         .rank = plan.batch.rank};
  for (int d = 0; d < body.rank; ++d) {
    body.sizes[d] = plan.batch[d];
    body.a_steps[d] = plan.a_batch[d];
    body.b_steps[d] = plan.b_batch[d];
  }
  const int64_t n = k.out_spec().num_elements();
  constexpr int64_t kFew = 16384, kLong = 256;
  if (n < kFew && plan.one.k >= kLong) return ForEachLine(k, n, plan.one.k, body);
  return ForEach(k, n, body);
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_MATMUL_CUH_
