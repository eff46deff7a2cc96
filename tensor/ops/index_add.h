#ifndef FIRN_TENSOR_OPS_INDEX_ADD_H_
#define FIRN_TENSOR_OPS_INDEX_ADD_H_

#include "tensor/ops/index_select.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct IndexAddAttrs {
  IndexSelectAttrs where = {};
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    where.Visit(v);
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// A copy of x to which alpha * source is added along `dim` at `indices` (any rank; `source` has the
// shape of IndexSelect(x, dim, indices, batch_dims) and x's dtype). An index that occurs several
// times adds several times, in order: results do not depend on threads. Negative indices count from
// the end. Throws on an index outside x's dimension.
Tensor IndexAdd(const Tensor& x, int dim, const Tensor& indices, const Tensor& source,
                double alpha = 1, int batch_dims = 0);
Tensor IndexAdd(const Tensor& x, const Tensor& indices, const Tensor& source,
                const inner::IndexAddAttrs& attrs);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_ADD_H_
