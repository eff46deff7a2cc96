#ifndef FIRN_TENSOR_OPS_POOL_AVG_POOL_BODY_H_
#define FIRN_TENSOR_OPS_POOL_AVG_POOL_BODY_H_

// Averages, kN neighbouring channels of a pixel of the result at a time: one, except for the CPU's
// blocks. In the gradient each element of the image gathers the windows that hold it, in their
// order; four adjacent channels share this search. Images have up to three dimensions.

#include <type_traits>

#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn {

template <class T, int kN>
struct AvgPoolBody {
  using Acc = AccumulatorOf<T>;
  AvgPoolWindows s;
  int64_t lanes;  // of kN
  const T* x;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    const PoolPlace at = PoolPlaceOf(o, s.d.out, s.h.out, s.w.out, lanes);
    Average(o, s.Span(s.d, at.slice), s.Span(s.h, at.row), s.Span(s.w, at.col),
            x + (at.plane * s.image() * lanes + at.lane) * kN, lanes);
  }
  void operator()(int64_t begin, int64_t end) const {  // one lane: the CPU's blocks are whole
    ForEachRowOf(begin, end, s.w.out, [&](int64_t r, int64_t first, int64_t last) {
      const int64_t slice = r / s.h.out, plane = slice / s.d.out;
      const PoolSpan rows = s.Span(s.h, r - slice * s.h.out);
      const PoolSpan slices = s.Span(s.d, slice - plane * s.d.out);
      const T* const from = x + plane * s.image() * kN;
      for (int64_t i = first; i < last; ++i) {
        Average(r * s.w.out + i, slices, rows, s.Span(s.w, i), from, 1);
      }
    });
  }
  int64_t cost() const { return s.image() * kN / s.pixels() + 1; }

 private:
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void Average(int64_t o, const PoolSpan& slices,
                                                   const PoolSpan& rows, const PoolSpan& cols,
                                                   const T* from, int64_t step) const {
    Acc sum[kN] = {};
    for (int64_t d = slices.begin; d < slices.end; ++d) {
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        const T* const line = from + (d * s.h.in + i) * s.w.in * step * kN;
        for (int64_t j = cols.begin; j < cols.end; ++j) {
          for (int b = 0; b < kN; ++b) sum[b] += static_cast<Acc>(line[j * step * kN + b]);
        }
      }
    }
    const Acc divisor = static_cast<Acc>(s.Divisor(slices, rows, cols));
    for (int b = 0; b < kN; ++b) y[o * kN + b] = static_cast<T>(sum[b] / divisor);
  }
};

template <class T, int kN>
struct AvgPoolGradBody {
  using Acc = AccumulatorOf<T>;
  AvgPoolWindows s;
  int64_t lanes;  // of kN
  const T* grad;
  T* x;

  FIRN_HOST_DEVICE void operator()(int64_t element) const {
    const PoolPlace at = PoolPlaceOf(element, s.d.in, s.h.in, s.w.in, lanes);
    const PoolAxis::Windows inward = s.d.Holding(at.slice), down = s.h.Holding(at.row);
    const PoolAxis::Windows across = s.w.Holding(at.col);
    const T* const from = grad + (at.plane * s.pixels() * lanes + at.lane) * kN;
    Acc sum[kN] = {};
    for (int64_t d = inward.begin; d < inward.end; ++d) {
      for (int64_t i = down.begin; i < down.end; ++i) {
        for (int64_t j = across.begin; j < across.end; ++j) {
          const T* const flow = from + ((d * s.h.out + i) * s.w.out + j) * lanes * kN;
          const Acc divisor =
              static_cast<Acc>(s.Divisor(s.Span(s.d, d), s.Span(s.h, i), s.Span(s.w, j)));
          for (int b = 0; b < kN; ++b) sum[b] += static_cast<Acc>(flow[b]) / divisor;
        }
      }
    }
    for (int b = 0; b < kN; ++b) x[element * kN + b] = static_cast<T>(sum[b]);
  }
};

struct AvgPoolKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const TensorSpec &image = k.in_spec(0), &pooled = k.out_spec();
    const AvgPoolWindows windows(image, pooled, k.attrs<PoolAttrs>());
    const int64_t n = pooled.num_elements(), lanes = PoolLanesOf(image, pooled);
    return VisitFloat(image.dtype, [&]<class T>(TypeTag<T>) {
      const auto run = [&]<int kN>(std::integral_constant<int, kN>) {
        return on.ForEach(n / kN, AvgPoolBody<T, kN>{windows, lanes / kN, k.in<T>(0), k.out<T>()});
      };
      if (lanes == On::kLanes) return run(std::integral_constant<int, On::kLanes>());
      return run(std::integral_constant<int, 1>());
    });
  }
};

struct AvgPoolGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const TensorSpec &image = k.out_spec(), &pooled = k.in_spec(0);
    const AvgPoolWindows windows(image, pooled, k.attrs<PoolAttrs>());
    const int64_t lanes = PoolLanesOf(image, pooled);
    return VisitFloat(image.dtype, [&]<class T>(TypeTag<T>) {
      const auto run = [&]<int kN>(std::integral_constant<int, kN>) {
        return on.ForEach(image.num_elements() / kN,
                          AvgPoolGradBody<T, kN>{windows, lanes / kN, k.in<T>(0), k.out<T>()});
      };
      if (lanes % 4 == 0) return run(std::integral_constant<int, 4>());
      return run(std::integral_constant<int, 1>());
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_AVG_POOL_BODY_H_
