#ifndef FIRN_TENSOR_OPS_REDUCE_REDUCTION_H_
#define FIRN_TENSOR_OPS_REDUCE_REDUCTION_H_

// Parts shared by reductions besides their shape rules (tensor/problems/reduction.h): gradients,
// and lines.

#include <optional>

#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/values_and_indices.h"
#include "firn/tensor/problems/reduction.h"

namespace firn {

// A reduced tensor expanded back over the shape it was reduced from: the gradient of a sum.
Tensor SpreadReduced(const Tensor& reduced, const ReduceAttrs& attrs, const Shape& shape);
// The gradient of an extreme y of x: dy shared evenly among the elements equal to y.
Tensor SpreadToEqual(const Tensor& dy, const Tensor& x, const Tensor& y, const ReduceAttrs& attrs);
// The gradient rule of amax and amin. Saves input 0 and output 0.
void GradOfExtreme(GradContext& g);
// The elements of x at `index`, which is reduced along `dim` with keepdim, and the index itself.
ValuesAndIndices PickedAlong(const Tensor& x, const Tensor& index, int64_t dim, bool keepdim);
// A reduced tensor with its reduced dimensions back as size 1.
Tensor KeepReduced(const Tensor& reduced, const ReduceAttrs& attrs, const Shape& shape);

// The lines that a reduction of x goes along, where its dimensions are neighbours and where work on
// lines pays: not along few and long rows, which several threads should share, nor down wide and
// long columns of half types, which would leave the cache and be converted for each walk.
std::optional<Lines> ReducedLines(const Tensor& x, const ReduceAttrs& attrs);
// x, and what it was reduced to, seen in three dimensions, of which the second one is reduced.
Tensor SeenAsLines(const Tensor& x, const Lines& lines);
Tensor SeenAsLineResults(const Tensor& reduced, const Lines& lines);
// The shape rule of operations with DimAttrs whose result is like their first input, x, and whose
// other inputs have one number for each of its lines.
absl::Status InferWithLineNumbers(InferContext& c);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_REDUCTION_H_
