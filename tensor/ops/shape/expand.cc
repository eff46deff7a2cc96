// expand: broadcasting as a view with stride 0. Its gradient is the sum over the repeated
// dimensions.
//
// tile: one dimension at a time, last first. [outer, n * inner] becomes [outer, r, n * inner] with
// stride 0 for r, and joining it again copies. Every repetition at least doubles the tensor, so the
// copies together move less than twice the result.

#include "firn/tensor/ops/shape/expand.h"

#include <vector>

#include "absl/container/inlined_vector.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(c.attrs<ShapeAttrs>().shape.span()));
  const Shape& from = c.shape(0);
  FIRN_RETURN_IF(!BroadcastsTo(from, shape),
                 InvalidArgument("x ", from.ToString(), " does not expand to ", shape.ToString()));
  // A blocked input is copied to row-major before a view of it is made.
  const Dims own = c.in(0).layout.blocked() ? ContiguousStrides(from) : c.in(0).layout.strides;
  Dims strides(shape.rank());
  const int lead = shape.rank() - from.rank();
  for (int i = lead; i < shape.rank(); ++i) {
    strides[i] = from[i - lead] == 1 && shape[i] != 1 ? 0 : own[i - lead];
  }
  c.set_view(shape, strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) { g.set_grad_input(0, SumTo(g.grad_output(), g.input_shape(0))); }

FIRN_REGISTER_OP(expand) {
  return {
      .doc = "A view with dimensions of size 1 repeated.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ShapeAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .is_view = true,
  };
}

// The sizes with each -1 replaced by x's.
Shape Resolve(const Shape& x, absl::Span<const int64_t> sizes) {
  const auto wanted = static_cast<int64_t>(sizes.size());
  absl::InlinedVector<int64_t, kMaxRank> found(sizes.begin(), sizes.end());
  for (int64_t i = 0; i < wanted; ++i) {
    if (sizes[static_cast<size_t>(i)] != -1) continue;
    const int64_t own = i - (wanted - x.rank());
    if (own < 0) {
      RaiseStatus(
          InvalidArgument("size ", i, " is -1, where x ", x.ToString(), " has no dimension"),
          "expand");
    }
    found[static_cast<size_t>(i)] = x[own];
  }
  return Shape(found);
}

Tensor RepeatDim(const Tensor& x, int64_t dim, int64_t repeats) {
  Dims joined = x.shape().dims();
  if (__builtin_mul_overflow(joined[dim], repeats, &joined[dim])) {
    RaiseStatus(InvalidArgument("repeating dim ", dim, " of x ", x.shape().ToString(), " ", repeats,
                                " times overflows"),
                "tile");
  }
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < x.rank(); ++d) (d < dim ? outer : inner) *= x.shape()[d];
  const Tensor apart = Reshape(x, {outer, 1, inner});
  return Reshape(Expand(apart, {outer, repeats, inner}), joined.span());
}

}  // namespace

Tensor Expand(const Tensor& x, absl::Span<const int64_t> sizes) {
  const OpDef& op = TheOp<"expand">();
  CheckDefined(x, op.name, "x");
  const Shape shape = Resolve(x.shape(), sizes);
  if (x.shape() == shape) return x;
  return Apply1(op, {x}, ShapeAttrs{shape.dims()});
}

Tensor Tile(const Tensor& x, const std::vector<int64_t>& repeats) {
  CheckDefined(x, "tile");
  for (int64_t r : repeats) {
    if (r < 0) RaiseStatus(InvalidArgument("a number of repeats is negative: ", r), "tile");
  }
  if (repeats.size() > static_cast<size_t>(kMaxRank)) {
    RaiseStatus(
        InvalidArgument(repeats.size(), " repeats; a tensor has at most ", kMaxRank, " dimensions"),
        "tile");
  }
  const int count = static_cast<int>(repeats.size());
  Tensor y = x;
  if (count > x.rank()) {
    Dims sizes(count - x.rank(), 1);
    for (int64_t n : x.shape()) sizes.push_back(n);
    y = Reshape(x, sizes.span());
  }
  for (int i = 1; i <= count; ++i) {
    const int64_t r = repeats[static_cast<size_t>(count - i)];
    if (r != 1) y = RepeatDim(y, y.rank() - i, r);
  }
  return y;
}

}  // namespace firn
