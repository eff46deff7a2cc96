#ifndef FIRN_TENSOR_OPS_REDUCE_COUNT_H_
#define FIRN_TENSOR_OPS_REDUCE_COUNT_H_

// Counts of elements, and the mean of those that are not NaN.

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// How many elements over `dims` (empty: all) are not zero, i64; NaN is not zero. Any dtype.
Tensor CountNonzero(const Tensor& x, const DimList& dims = {});

// The mean of the elements over `dims` (empty: all) that are not NaN; NaN where there are none.
// Floating x. No gradient goes to NaN.
Tensor Nanmean(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

// How often each number occurs in x (integers of any dtype, 1-D, none negative), from 0 to the
// largest, and to minlength - 1 at least: i64. With weights (floats of x's shape) the sums of the
// weights at each number, in their dtype (torch.bincount). The largest is read on the host, which
// waits for a CUDA device; while a graph is captured, minlength says how many numbers there are,
// and larger ones throw when it runs. The gradient goes to the weights.
Tensor Bincount(const Tensor& x, const Tensor& weights = {}, inner::Integer minlength = 0);

struct HistcOptions {
  int64_t bins = 100;
  double min = 0, max = 0;  // both 0: the smallest and the largest finite element of x
};

// How many elements of x (floating) lie in each of `bins` equal parts of [min, max], in x's dtype;
// the last part includes its end (torch.histc). Elements outside and NaN are not counted. When all
// elements are equal and no range was given, the range reaches 1 to both sides. Not differentiable.
// Throws on bins below 1, and unless min and max are finite and min <= max.
Tensor Histc(const Tensor& x, const HistcOptions& options = {});

namespace inner {
struct HistcPartAttrs {
  int64_t bins = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("bins", bins);
  }
};
// The number of the one of `bins` equal parts of [low, high] that contains x, from 0 to bins - 1
// after truncation to an integer; -1 outside and for NaN. Broadcast; of f32, with at most 2^24
// bins, or f64.
Tensor HistcPart(const Tensor& x, const Tensor& low, const Tensor& high,
                 const HistcPartAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_COUNT_H_
