#ifndef FIRN_TENSOR_OPS_LOSS_ERRORS_H_
#define FIRN_TENSOR_OPS_LOSS_ERRORS_H_

#include "firn/tensor/tensor.h"

namespace firn {

// 1 where two probabilities, or a probability and a target, lie on different sides of 1/2, which
// belongs to the upper one, else 0 (NNabla's binary_error). The operands broadcast; the result has
// x's dtype (f32 for integers and bool) and no gradient.
Tensor BinaryError(const Tensor& x, const Tensor& target);

// 1 where n or more other classes score at least as much as the target, so that equal scores count
// against it, else 0 (NNabla's top_n_error). A NaN score is above all others.
//   x: scores, classes in `dim`      target: class indices (i32, i64) of x's shape without `dim`
// The result has the target's shape, x's dtype (f32 for integers) and no gradient; its mean is the
// share of errors. Throws unless n is at least 1, and on a target that is no class. To count over
// many batches: io::TopKAccuracy, whose equal scores count by their order.
Tensor TopNError(const Tensor& x, const Tensor& target, inner::Integer dim = -1,
                 inner::Integer n = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_ERRORS_H_
