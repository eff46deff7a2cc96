#ifndef FIRN_TENSOR_KERNELS_CUDA_SOFTMAX_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_SOFTMAX_CUH_

// softmax, log_softmax and their gradients. A line is read twice, for a sum and for the result. A
// rule is what they differ in, as static functions of accumulators:
//
//   Acc OfSum(Acc sum);                     // of exp(x - largest), once a line
//   Acc Result(Acc x, Acc of_sum);          // x: less the largest
//   static constexpr bool kProducts;        // the gradient's sum is of dy * y, else of dy
//   Acc Gradient(Acc dy, Acc y, Acc sum);

#include "tensor/kernels/cuda/exp_sum.cuh"
#include "tensor/kernels/cuda/lines.cuh"
#include "tensor/op.h"
#include "tensor/ops/shape/dim_attrs.h"

namespace firn::cuda {
namespace internal {

template <class Rule, class T>
struct SoftmaxBody {
  using Acc = AccumulatorOf<T>;

  const T* x;
  T* y;
  LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t line) const { (*this)(HostTeam(), line); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    const int64_t at = shape.offset(line);
    const auto [top, sum] = ExpSumOfLine<Acc>(team, shape.length, shape.stride, x + at);
    const Acc largest = top, of_sum = Rule::OfSum(sum);
    const auto f = [&](int64_t, T v) {
      return Rule::Result(static_cast<Acc>(v) - largest, of_sum);
    };
    MapElements(team, shape.length, shape.stride, f, y + at, x + at);
  }
};

template <class Rule, class T>
struct SoftmaxGradBody {
  using Acc = AccumulatorOf<T>;

  const T *dy, *y;
  T* dx;
  LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t line) const { (*this)(HostTeam(), line); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t line) const {
    const int64_t at = shape.offset(line);
    Acc sum = 0;
    if constexpr (Rule::kProducts) {
      const auto add = [&](int64_t, T d, T v) { sum += static_cast<Acc>(d) * static_cast<Acc>(v); };
      ReadElements(team, shape.length, shape.stride, add, dy + at, y + at);
    } else {
      const auto add = [&](int64_t, T d) { sum += static_cast<Acc>(d); };
      ReadElements(team, shape.length, shape.stride, add, dy + at);
    }
    sum = team.Reduce(sum, [](Acc a, Acc b) { return a + b; });
    const auto f = [&](int64_t, T d, T v) {
      return Rule::Gradient(static_cast<Acc>(d), static_cast<Acc>(v), sum);
    };
    MapElements(team, shape.length, shape.stride, f, dx + at, dy + at, y + at);
  }
};

}  // namespace internal

// x -> y
template <class Rule>
absl::Status RunSoftmax(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<DimAttrs>().dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Body = internal::SoftmaxBody<Rule, T>;
    return ForEachLineAlong(k, lines, Body{k.in<T>(0), k.out<T>(), LineShape(lines)});
  });
}

// dy, y -> dx
template <class Rule>
absl::Status RunSoftmaxGrad(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<DimAttrs>().dim);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Body = internal::SoftmaxGradBody<Rule, T>;
    return ForEachLineAlong(k, lines, Body{k.in<T>(0), k.in<T>(1), k.out<T>(), LineShape(lines)});
  });
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SOFTMAX_CUH_
