#ifndef FIRN_TENSOR_OPS_SCAN_RUNNING_BODY_H_
#define FIRN_TENSOR_OPS_SCAN_RUNNING_BODY_H_

// running_extreme, logcumsumexp: a line at a time, from its first element to its last.

#include <limits>

#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/ops/scan/running.h"

namespace firn {

template <class T>
struct RunningExtremeBody {
  using C = ComparedAs<T>;
  const T* x;
  T* values;
  int64_t* indices;
  LineShape lines;
  bool largest;

  FIRN_HOST_DEVICE void operator()(int64_t line) const {
    const int64_t start = lines.offset(line);
    int64_t best = 0;
    T top = x[start];
    C extreme = static_cast<C>(top);
    for (int64_t i = 0, at = start; i < lines.length; ++i, at += lines.stride) {
      const C v = static_cast<C>(x[at]);
      const bool takes = largest ? v >= extreme : v <= extreme;
      const bool keeps = largest ? v < extreme : v > extreme;
      // Asked last: for a half, g++ 12 calls a function to find out whether it is NaN.
      if (takes || (!keeps && v != v)) {
        top = x[at];
        extreme = v;
        best = i;
      }
      values[at] = top;
      indices[at] = best;
    }
  }
  int64_t cost() const { return 2 * lines.length; }
};

struct RunningExtremeKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const RunningExtremeAttrs& a = k.attrs<RunningExtremeAttrs>();
    const Shape& shape = k.in_spec(0).shape;
    if (shape.num_elements() == 0) return absl::OkStatus();
    const Lines lines = LinesAlong(shape, a.dim);
    return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return on.ForEach(lines.outer * lines.inner,
                        RunningExtremeBody<T>{k.in<T>(0), k.out<T>(0), k.out<int64_t>(1),
                                              LineShape(lines), a.largest});
    });
  }
};

// y = top + log(sum), where sum is of e^(x - top), in double whatever the dtype.
template <class T>
struct LogcumsumexpBody {
  const T* x;
  T* y;
  LineShape lines;
  bool reverse;

  FIRN_HOST_DEVICE void operator()(int64_t line) const {
    const int64_t step = reverse ? -lines.stride : lines.stride;
    int64_t at = lines.offset(line) + (reverse ? (lines.length - 1) * lines.stride : 0);
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < lines.length; ++i, at += step) {
      const auto v = static_cast<double>(x[at]);
      if (v == top) {  // infinities, too
        sum += 1;
      } else if (v > top) {
        sum = sum * math::Exp(top - v) + 1;
        top = v;
      } else {
        sum += math::Exp(v - top);
      }
      y[at] = static_cast<T>(static_cast<AccumulatorOf<T>>(top + math::Log(sum)));
    }
  }
  int64_t cost() const { return 32 * lines.length; }
};

struct LogcumsumexpKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const LogcumsumexpAttrs& a = k.attrs<LogcumsumexpAttrs>();
    const Shape& shape = k.in_spec(0).shape;
    if (shape.num_elements() == 0) return absl::OkStatus();
    const Lines lines = LinesAlong(shape, a.dim);
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return on.ForEach(lines.outer * lines.inner,
                        LogcumsumexpBody<T>{k.in<T>(0), k.out<T>(), LineShape(lines), a.reverse});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_RUNNING_BODY_H_
