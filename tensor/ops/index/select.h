#ifndef FIRN_TENSOR_OPS_INDEX_SELECT_H_
#define FIRN_TENSOR_OPS_INDEX_SELECT_H_

#include "firn/tensor/number.h"
#include "firn/tensor/problems/index_attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The elements of x along `dim` at `indices` (i32 or i64, any rank), whose dimensions replace it:
//   y[a.., i.., b..] = x[a.., indices[i..], b..]
// With batch_dims = n the first n dimensions of x and indices go together:
//   y[n.., a.., i.., b..] = x[n.., a.., indices[n.., i..], b..]
// Negative indices count from the end. Throws on an index outside x's dimension.
Tensor IndexSelect(const Tensor& x, inner::Integer dim, const Tensor& indices,
                   inner::Integer batch_dims = 0);

// A copy of x to which alpha * source is added along `dim` at `indices` (any rank; `source` has the
// shape of IndexSelect(x, dim, indices, batch_dims) and x's dtype). An index that occurs several
// times adds several times, in order: results do not depend on threads. Negative indices count from
// the end. Throws on an index outside x's dimension.
Tensor IndexAdd(const Tensor& x, inner::Integer dim, const Tensor& indices, const Tensor& source,
                inner::Number alpha = 1, inner::Integer batch_dims = 0);

namespace inner {
// Like IndexAdd, with all attributes: an index may be one that adds nothing.
Tensor IndexAddWith(const Tensor& x, const Tensor& indices, const Tensor& source,
                    const IndexAddAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_SELECT_H_
