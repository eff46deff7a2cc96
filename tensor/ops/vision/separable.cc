// adaptive_separable_conv2d and its gradient to image and kernels at once.

#include "firn/tensor/ops/vision/separable.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/composite_gradient.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/ops/vision/separable_body.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

// The shape of the result, of the shapes of the inputs.
absl::StatusOr<Shape> SeparatedShape(const Shape& x, const Shape& v, const Shape& h) {
  bool fits = x.rank() == 4 && v.rank() == 4 && h.rank() == 4 && v[0] == x[0] && h[0] == x[0];
  fits = fits && v[1] > 0 && h[1] > 0 && v[2] == h[2] && v[3] == h[3];
  fits = fits && v[2] == x[2] - v[1] + 1 && v[3] == x[3] - h[1] + 1;
  FIRN_RETURN_IF(!fits, InvalidArgument("expected x [n, c, h, w], vertical [n, kv, h - kv + 1, w - "
                                        "kh + 1] and horizontal [n, kh, ..], got ",
                                        x.ToString(), ", ", v.ToString(), " and ", h.ToString()));
  return Shape::Make({x[0], x[1], v[2], v[3]});
}

absl::Status InferSeparable(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, SeparatedShape(c.shape(0), c.shape(1), c.shape(2)));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status InferSeparableGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, SeparatedShape(c.shape(1), c.shape(2), c.shape(3)));
  FIRN_RETURN_IF(c.shape(0) != shape,
                 InvalidArgument("dy ", c.shape(0).ToString(), ", want ", shape.ToString()));
  for (int i = 0; i < 3; ++i) c.set_out_like(i, i + 1);
  return absl::OkStatus();
}

// For gradients of the gradient.
Tensor SeparatedByOperations(const Tensor& x, const Tensor& vertical, const Tensor& horizontal) {
  const int64_t kv = vertical.size(1), kh = horizontal.size(1);
  const int64_t rows = vertical.size(2), columns = vertical.size(3);
  Tensor y;
  for (int64_t u = 0; u < kv; ++u) {
    Tensor row;
    for (int64_t v = 0; v < kh; ++v) {
      const Tensor moved = Narrow(Narrow(x, 2, u, rows), 3, v, columns);
      const Tensor part = Mul(Narrow(horizontal, 1, v, 1), moved);
      row = row.defined() ? Add(row, part) : part;
    }
    const Tensor part = Mul(Narrow(vertical, 1, u, 1), row);
    y = y.defined() ? Add(y, part) : part;
  }
  return y;
}

void GradSeparable(GradContext& g) {
  if (GradEnabled()) {
    return CompositeGradient(g, [](const std::vector<Tensor>& in) {
      return SeparatedByOperations(in[0], in[1], in[2]);
    });
  }
  const TensorList grads = Apply(TheOp<"adaptive_separable_conv2d_grad">(),
                                 {g.grad_output(), g.input(0), g.input(1), g.input(2)});
  for (int i = 0; i < 3; ++i) {
    if (g.needs(i)) g.set_grad_input(i, grads[static_cast<size_t>(i)]);
  }
}

FIRN_REGISTER_OP(adaptive_separable_conv2d) {
  return {
      .doc = "x through a kernel for each place, the product of a column and a row.",
      .inputs = {{.name = "x", .dtypes = kStatistics, .min_rank = 4, .max_rank = 4},
                 {.name = "vertical", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4},
                 {.name = "horizontal", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "y"}},
      .infer = InferSeparable,
      .grad = GradSeparable,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2)},
      .kernels = cpu::Portable<SeparableKernel>(),
  };
}

FIRN_REGISTER_OP(adaptive_separable_conv2d_grad) {
  return {
      .doc = "The gradient of adaptive_separable_conv2d. Not differentiable.",
      .inputs = {{.name = "dy", .dtypes = kStatistics, .min_rank = 4, .max_rank = 4},
                 {.name = "x", .same_dtype_as = "dy", .min_rank = 4, .max_rank = 4},
                 {.name = "vertical", .same_dtype_as = "dy", .min_rank = 4, .max_rank = 4},
                 {.name = "horizontal", .same_dtype_as = "dy", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "dx"}, {.name = "dvertical"}, {.name = "dhorizontal"}},
      .infer = InferSeparableGrad,
      .kernels = cpu::Portable<SeparableGradKernel>(),
  };
}

}  // namespace

Tensor AdaptiveSeparableConv2d(const Tensor& x, const Tensor& vertical, const Tensor& horizontal) {
  const OpDef& op = TheOp<"adaptive_separable_conv2d">();
  CheckDefined(x, op.name);
  CheckDefined(vertical, op.name, "vertical");
  CheckDefined(horizontal, op.name, "horizontal");
  return ApplyInFloat(op, {x, vertical, horizontal}, {});
}

}  // namespace firn
