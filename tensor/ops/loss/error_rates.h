#ifndef FIRN_TENSOR_OPS_LOSS_ERROR_RATES_H_
#define FIRN_TENSOR_OPS_LOSS_ERROR_RATES_H_

// Which predictions are wrong, for graphs that give this as a result, like NNabla's. The functions
// are not differentiable. Programs that count over batches use io/metrics.

#include "firn/tensor/tensor.h"

namespace firn {

// 1 where n or more other classes score at least as much as the target, else 0: ties count against
// the target, as in NNabla's top_n_error, and so does NaN. x: scores with the classes along `dim`,
// floating; target: class indices (i32, i64) of x's shape without that dimension, which the result
// has, too, in x's dtype. Throws on shapes that do not fit, indices outside
// [-classes, classes) and n below 1.
Tensor TopNError(const Tensor& x, const Tensor& target, inner::Integer dim = -1,
                 inner::Integer n = 1);

// 1 where one of x and target is at least 0.5 and the other is not, else 0, like NNabla's
// binary_error. Floating x; a target of any dtype, which broadcasts with it. The result has x's
// dtype.
Tensor BinaryError(const Tensor& x, const Tensor& target);

// How often each class was predicted for each target class, like NNabla's confusion_matrix: the
// element of row i and column j counts targets i whose largest score is that of class j (the first
// of several; a NaN is the largest). x: scores with the classes along `dim`, floating; target:
// class indices (i32, i64) of x's shape without that dimension. The result is i64 [classes,
// classes]. Throws on shapes that do not fit, and on indices outside [-classes, classes). Over a
// data set io::ConfusionMatrix counts.
Tensor ConfusionMatrix(const Tensor& x, const Tensor& target, inner::Integer dim = -1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_ERROR_RATES_H_
