#ifndef FIRN_TENSOR_OPS_INDEX_ND_H_
#define FIRN_TENSOR_OPS_INDEX_ND_H_

// Tuples of indices along the LAST dimension of an index tensor, as ONNX has them. (NNabla has them
// along the first: Movedim(indices, 0, -1).)

#include <optional>

#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/tensor.h"

namespace firn {

// indices [..., k] (i32 or i64): y[i.., a..] = x[indices[i..], a..], a tuple of k naming the first
// k dimensions of x. With batch_dims = b the first b dimensions of x and indices go together, and
// tuples name those behind. Negative indices count from the end. Any dtype. Throws on shapes that
// do not fit and indices outside x.
Tensor GatherNd(const Tensor& x, const Tensor& indices, inner::Integer batch_dims = 0);

// A copy of x in which updates [i.., a..] replace the elements that GatherNd(x, indices) would
// give, or are combined with them (ONNX's add, mul, max, min; also mean). Among several updates for
// one place the last stays. x and updates have one dtype. Throws on shapes that do not fit and
// indices outside x.
Tensor ScatterNd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                 std::optional<ScatterReduction> reduce = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_ND_H_
