#ifndef FIRN_TENSOR_OPS_REDUCE_COUNT_FN_H_
#define FIRN_TENSOR_OPS_REDUCE_COUNT_FN_H_

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/reduce/count.h"

namespace firn {

// Multiplied before it is divided, so that whole numbers are borders of parts of whole lengths; a
// power of two keeps differences and products of large numbers in range.
struct HistcPartFn : HistcPartAttrs {
  using Attrs = HistcPartAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T low, T high) const {
    const T unit = high - low > T(0x1p60) ? T(0x1p-64) : T(1);
    const T first = low * unit, span = high * unit - first;
    const T part = (x * unit - first) * static_cast<T>(bins) / span;
    const T last = static_cast<T>(bins - 1), inside = part < last ? part : last;
    return (x >= low) & (x <= high) & (part == part) ? inside : T(-1);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_COUNT_FN_H_
