#ifndef FIRN_TENSOR_OPS_SHAPE_SLICES_H_
#define FIRN_TENSOR_OPS_SHAPE_SLICES_H_

#include <cstdint>
#include <limits>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct SelectAttrs {
  int64_t dim = 0;
  int64_t index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("index", index);
  }
};
}  // namespace inner

// A view of x at one position of `dim`, which is dropped. Negative dims and indices count from the
// end. Throws when either is out of range.
Tensor Select(const Tensor& x, inner::Integer dim, inner::Integer index);

// An `end` or `stop` that means: up to and including the last element in the direction of the step.
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

namespace inner {
// The elements start, start + step, ... before `end` of one dimension.
struct SliceAttrs {
  int64_t dim = 0;
  int64_t start = 0;
  int64_t end = kEnd;
  int64_t step = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("start", start);
    v.Field("end", end);
    v.Field("step", step);
  }
};
}  // namespace inner

// x[start:end:step] along `dim`, like NumPy's: negative positions count from the end, positions
// outside are cut back to the dimension. A view; a negative step makes a copy. Several dimensions
// at once are x[{Range(start, end, step), ...}] (tensor/index.h). Throws when dim is out of range
// or step is 0.
Tensor Slice(const Tensor& x, inner::Integer dim, inner::Integer start = 0,
             inner::Integer end = kEnd, inner::Integer step = 1);

// x[start : start + length] along `dim`: a view. A negative start counts from the end. Throws when
// dim is out of range or x has not all of these elements; Slice cuts off instead.
Tensor Narrow(const Tensor& x, inner::Integer dim, inner::Integer start, inner::Integer length);

// A copy of x in which x[start:end:step] along `dim` is replaced by `source`, which has that
// slice's shape and x's dtype. step > 0; positions as in Slice.
Tensor SliceScatter(const Tensor& x, const Tensor& source, inner::Integer dim,
                    inner::Integer start = 0, inner::Integer end = kEnd, inner::Integer step = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_SLICES_H_
