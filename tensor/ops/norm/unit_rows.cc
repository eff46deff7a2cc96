// unit_rows: with xhat the row divided by its length n, and s the scale,
//   dx = s / n (dy - xhat (dy . xhat)),  ds = dy . xhat
// and dx = s / n dy where n is `least`. Recorded gradients are written with operations.

#include "firn/tensor/ops/norm/unit_rows.h"

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/kernels/cpu/unit_rows.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(c.has(1) && c.shape(1)[0] != x[0],
                 InvalidArgument("scale ", c.shape(1).ToString(), " does not fit the rows of x ",
                                 x.ToString()));
  c.set_out_like(0, 0);
  c.set_out(1, DType::kF64, Shape({x[0]}));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const UnitRowsAttrs& a = k.attrs<UnitRowsAttrs>();
  const Shape& x = k.in_spec(0).shape;
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    ParallelFor(x[0], cpu::RowGrain(x[1]), [&](int64_t begin, int64_t end) {
      cpu::UnitRows<Acc>(k, a.eps, a.least, begin, end);
    });
  });
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const Shape& x = c.shape(1);
  FIRN_RETURN_IF(c.shape(0) != x || (c.has(2) && c.shape(2)[0] != x[0]) || c.shape(3)[0] != x[0],
                 InvalidArgument("dy, scale and inverse do not fit x ", c.in(1).ToString()));
  c.set_out_like(0, 1);
  c.set_out(1, c.dtype(0), Shape({x[0]}));
  return absl::OkStatus();
}

absl::Status RunGrad(KernelContext& k) {
  const double least = k.attrs<UnitRowsAttrs>().least;
  const Shape& x = k.in_spec(1).shape;
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    ParallelFor(x[0], cpu::RowGrain(x[1]),
                [&](int64_t begin, int64_t end) { cpu::UnitRowsGrad<Acc>(k, least, begin, end); });
  });
  return absl::OkStatus();
}

// Computed in units of the lengths, whose squares may overflow, and for half types in f32, since
// they lack the digits for derivatives of this.
void RecordedGrad(GradContext& g) {
  const UnitRowsAttrs& a = g.attrs<UnitRowsAttrs>();
  const DType dtype = g.input(0).dtype(), wide = ComputeDType(dtype);
  const auto sum = [](const Tensor& t) { return Sum(t, 1, true); };
  const Tensor x = Cast(g.input(0), wide), dy = Cast(g.grad_output(0), wide);
  const Tensor inverse = Unsqueeze(g.output(1).Detach(), 1), unit = Cast(inverse, wide);
  const Tensor part = Mul(x, unit), eps = Mul(Mul(unit, a.eps), unit);
  Tensor squares = Add(sum(Square(part)), eps), dot_of = part;
  if (a.least > 0) {
    const Tensor moves = Lt(inverse, 1 / a.least);
    squares = Where(moves, squares, 1);
    dot_of = Where(moves, part, 0);
  }
  const Tensor far = Rsqrt(squares), dot = sum(Mul(Mul(dy, part), far));
  const Tensor given = g.input(1).defined() ? Unsqueeze(Cast(g.input(1), wide), 1) : Tensor();
  if (g.needs(1)) g.set_grad_input(1, Cast(Squeeze(dot, {1}), dtype));
  if (!g.needs(0)) return;
  const Tensor dx = Mul(Sub(dy, Mul(Mul(dot_of, far), dot)), Mul(far, unit));
  g.set_grad_input(0, Cast(given.defined() ? Mul(dx, given) : dx, dtype));
}

void Grad(GradContext& g) {
  if (GradEnabled()) return RecordedGrad(g);
  const TensorList d =
      Apply(TheOp<"unit_rows_grad">(), {g.grad_output(0), g.input(0), g.input(1), g.output(1)},
            g.attrs<UnitRowsAttrs>());
  g.set_grad_input(0, d[0]);
  if (g.needs(1)) g.set_grad_input(1, d[1]);
}

ArgDecl Vector(std::string_view name, std::string_view like) {
  return {.name = name, .same_dtype_as = like, .min_rank = 1, .max_rank = 1, .optional = true};
}

FIRN_REGISTER_OP(unit_rows) {
  return {
      .doc = "Divides every row of a matrix by its length, and multiplies it by a number.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 Vector("scale", "x")},
      .outputs = {{.name = "y"}, {.name = "inverse", .constant = true}},
      .attrs = AttrsOf<UnitRowsAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Output(1)},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

FIRN_REGISTER_OP(unit_rows_grad) {
  return {
      .doc =
          "All gradients of unit_rows. Not differentiable: recorded gradients are written out "
          "with other operations.",
      .inputs = {{.name = "dy", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 {.name = "x", .same_dtype_as = "dy", .min_rank = 2, .max_rank = 2},
                 Vector("scale", "dy"),
                 {.name = "inverse", .dtypes = kStatistics, .min_rank = 1, .max_rank = 1}},
      .outputs = {{.name = "dx"}, {.name = "dscale"}},
      .attrs = AttrsOf<UnitRowsAttrs>(),
      .infer = InferGrad,
      .kernels = {{.name = "loop", .run = RunGrad}},
  };
}

}  // namespace

bool inner::TakesUnitRows(Device device, int64_t cols) {
  constexpr int64_t kLeast = 128;  // for short rows, the work per row costs more than the passes
  return device.is_cpu() && cols >= kLeast;
}

Tensor inner::UnitRows(const Tensor& x, const Tensor& scale, const UnitRowsAttrs& attrs) {
  return Apply(TheOp<"unit_rows">(), {x, scale}, attrs)[0];
}

}  // namespace firn
