#ifndef FIRN_TENSOR_KERNELS_CUDA_SOFTMAX_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_SOFTMAX_CUH_

// softmax, log_softmax and their gradients. A line is read twice, for a sum and for the result,
// unless it is short. A rule has their differences, as static functions of accumulators:
//
//   Acc OfSum(Acc sum);                     // of exp(x - largest), once a line
//   Acc Result(Acc x, Acc of_sum);          // x: less the largest
//   static constexpr bool kProducts;        // the gradient's sum is of dy * y, else of dy
//   Acc Gradient(Acc dy, Acc y, Acc sum);

#include <limits>

#include "firn/tensor/kernels/cuda/exp_sum.cuh"
#include "firn/tensor/kernels/cuda/lines.cuh"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/dim_attrs.h"

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

// A line of neighbours in a warp's registers, so that it is read once: of up to kEach a lane.
template <class Rule, class T, int kEach>
struct SoftmaxShortBody {
  using Acc = AccumulatorOf<T>;

  SoftmaxBody<Rule, T> any;

  FIRN_HOST_DEVICE void operator()(const HostTeam& team, int64_t line) const { any(team, line); }
  __device__ void operator()(const WarpTeam& team, int64_t line) const {
    constexpr Acc kInfinity = std::numeric_limits<Acc>::infinity();
    const int length = static_cast<int>(any.shape.length), rank = static_cast<int>(team.rank());
    const T* const x = any.x + line * length;
    Acc v[kEach], largest = -kInfinity, sum = 0;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = rank + j * static_cast<int>(kWarp);
      v[j] = i < length ? static_cast<Acc>(x[i]) : -kInfinity;
    }
#pragma unroll
    for (int j = 0; j < kEach; ++j) largest = v[j] > largest ? v[j] : largest;
    largest = team.Reduce(largest, [](Acc a, Acc b) { return a > b ? a : b; });
#pragma unroll
    for (int j = 0; j < kEach; ++j) sum += math::Exp(v[j] - largest);  // NaN for one in the line
    const Acc of_sum = Rule::OfSum(team.Reduce(sum, [](Acc a, Acc b) { return a + b; }));
    T* const y = any.y + line * length;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int i = rank + j * static_cast<int>(kWarp);
      if (i < length) y[i] = static_cast<T>(Rule::Result(v[j] - largest, of_sum));
    }
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
    const internal::SoftmaxBody<Rule, T> body{k.in<T>(0), k.out<T>(), LineShape(lines)};
    constexpr int kFew = 8, kMany = 32;  // elements a lane
    if (lines.inner == 1 && lines.length > 16 && lines.length <= kMany * kWarp) {
      if (lines.length <= kFew * kWarp) {
        return ForEachWarp(k, lines.outer, internal::SoftmaxShortBody<Rule, T, kFew>{body});
      }
      return ForEachWarp(k, lines.outer, internal::SoftmaxShortBody<Rule, T, kMany>{body});
    }
    return ForEachLineAlong(k, lines, body);
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
