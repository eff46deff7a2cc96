#ifndef FIRN_TENSOR_OPS_SHAPE_SHAPE_OF_H_
#define FIRN_TENSOR_OPS_SHAPE_SHAPE_OF_H_

#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The sizes of x's dimensions from `start` to before `end`, i64 on x's device (ONNX's Shape; the
// product of all is its Size). Positions are those of Slice: negative ones count from the end, and
// what is outside is cut off. Programs ask x.shape(): this is for graphs of others that compute
// with shapes, of which a frozen graph makes constants.
Tensor ShapeOf(const Tensor& x, inner::Integer start = 0, inner::Integer end = kEnd);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_SHAPE_OF_H_
