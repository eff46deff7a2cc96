#ifndef FIRN_TENSOR_OPS_INDEX_SCATTER_H_
#define FIRN_TENSOR_OPS_INDEX_SCATTER_H_

// Elements written, or combined, at the places that indices give. ScatterAdd is in gather.h.
//
// x, indices (i32 or i64) and source (of x's dtype) have as many dimensions; source is at least as
// large as indices, x outside `dim` too. Negative indices count from the end. For all functions:
// results do not depend on the number of threads; an index outside x's dimension throws.

#include "firn/device/enum_words.h"
#include "firn/tensor/tensor.h"

namespace firn {

// How elements with the same place are combined.
enum class ScatterReduction : uint8_t {
  kSum,
  kProd,
  kMean,
  kAmax,
  kAmin,
};
constexpr auto WordsOf(ScatterReduction) {
  return inner::EnumWords<ScatterReduction>({{ScatterReduction::kSum, "sum"},
                                             {ScatterReduction::kProd, "prod"},
                                             {ScatterReduction::kMean, "mean"},
                                             {ScatterReduction::kAmax, "amax"},
                                             {ScatterReduction::kAmin, "amin"}});
}

namespace inner {
struct ScatterReduceAttrs {
  int64_t dim = 0;
  ScatterReduction reduce = ScatterReduction::kProd;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("reduce", reduce);
  }
};
}  // namespace inner

// A copy y of x in which source is written at the places that indices give:
//   y[a.., indices[a.., i, b..], b..] = source[a.., i, b..], `i` standing at dimension `dim`.
// `source` may be a number, which x's dtype has to hold (Full). Among several elements for one
// place the last stays, and the gradient goes to all of them; x gets none where something was
// written. Any dtype.
Tensor Scatter(const Tensor& x, inner::Integer dim, const Tensor& indices, const Tensor& source);

// Like Scatter, but all elements for one place are combined, including x's own unless
// `include_self` is false (torch.scatter_reduce). Places without any keep x's. Means of integers
// are rounded down. Gradients of extremes are shared by all elements that equal them.
// Numbers, not bools.
Tensor ScatterReduce(const Tensor& x, inner::Integer dim, const Tensor& indices,
                     const Tensor& source, ScatterReduction reduce,
                     inner::Flag include_self = true);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_SCATTER_H_
