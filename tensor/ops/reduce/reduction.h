#ifndef FIRN_TENSOR_OPS_REDUCE_REDUCTION_H_
#define FIRN_TENSOR_OPS_REDUCE_REDUCTION_H_

// What reductions share on every device.

#include <optional>

#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/reduce_attrs.h"
#include "firn/tensor/ops/reduce/values_and_indices.h"

namespace firn {

// The shape rule of a reduction with ReduceAttrs: output 0 of dtype `out`.
absl::Status InferReduction(InferContext& c, DType out);
// As above for operations whose attributes are more than ReduceAttrs.
absl::Status InferReduction(InferContext& c, const ReduceAttrs& attrs, int output, DType out);
// An error when a result would be made of no elements, for reductions without an identity; `what`
// names the reduction: "the largest".
absl::Status RefuseEmptyReduction(const Shape& x, const ReduceAttrs& attrs, const char* what);
// The shape rule of amax and amin.
absl::Status InferExtreme(InferContext& c);
// The shape rule of argmax and argmin: output 0 is i64.
absl::Status InferArgReduction(InferContext& c);
// How many elements of `x` make one result.
int64_t ReducedCount(const Shape& x, const ReduceAttrs& attrs);
// `x`'s shape after reducing `dims` (normalised).
Shape ReducedShape(const Shape& x, const Dims& dims, bool keepdim);
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
