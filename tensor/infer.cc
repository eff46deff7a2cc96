// Shapes of elementwise results.

#include "firn/tensor/infer.h"

namespace firn {
namespace {

bool AllOneShape(const InferContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.has(i) && c.shape(i) != c.shape(0)) return false;
  }
  return true;
}

absl::StatusOr<Shape> BroadcastAll(InferContext& c) {
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (!c.has(i)) continue;
    FIRN_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, c.shape(i)));
  }
  return shape;
}

}  // namespace

absl::Status InferLikeInput(InferContext& c) {
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status InferBroadcastAs(InferContext& c, DType out) {
  if (AllOneShape(c)) [[likely]] {  // saves three copies of the shape
    c.set_out(0, out, c.shape(0));
    return absl::OkStatus();
  }
  FIRN_ASSIGN_OR_RETURN(const Shape shape, BroadcastAll(c));
  c.set_out(0, out, shape);
  return absl::OkStatus();
}

absl::Status InferBroadcast(InferContext& c) { return InferBroadcastAs(c, c.dtype(0)); }

absl::Status InferPredicate(InferContext& c) { return InferBroadcastAs(c, DType::kBool); }

}  // namespace firn
