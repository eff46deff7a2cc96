// where: the gradient is chosen as the values were, so no NaN or infinity leaks from the other
// side.
//
// masked_fill: `where` with the value in x's dtype; not an operation of its own. nan_to_num: the
// function fills in the replacements of infinities, which depend on the dtype.
//
// lerp: the gradient to the weight is end - start, broadcast.

#include "firn/tensor/ops/elementwise/choose.h"

#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose_fn.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status InferWhere(InferContext& c) { return InferBroadcastAs(c, c.dtype(1)); }

absl::Status RunWhere(KernelContext& k) {
  VisitWidth(k.in_spec(1).dtype,
             [&]<class T>(TypeTag<T>) { cpu::MovedLoop<T, uint8_t, T, T>(k, WhereFn()); });
  return absl::OkStatus();
}

void GradWhere(GradContext& g) {
  const Tensor& condition = g.input(0);
  if (g.needs(1)) g.set_grad_input(1, Where(condition, g.grad_output(), 0.0));
  if (g.needs(2)) g.set_grad_input(2, Where(condition, 0.0, g.grad_output()));
}

FIRN_REGISTER_OP(where) {
  return {
      .doc = "x where the condition holds, else y; broadcast.",
      .inputs = {{.name = "condition", .dtypes = kBoolean},
                 {.name = "x"},
                 {.name = "y", .same_dtype_as = "x"}},
      .outputs = {{.name = "z"}},
      .infer = InferWhere,
      .grad = GradWhere,
      .saves = {Saved::Input(0)},
      .may_reuse = {{0, 1}, {0, 2}},
      .kernels = {cpu::ElementwiseKernel(RunWhere)},
      .elementwise = cpu::ElementwiseOf<WhereFn>(Elementwise::Kind::kMoved),
  };
}

Tensor GradNanToNum(const Tensor& dy, const Tensor& x) { return Where(Isfinite(x), dy, 0.0); }
FIRN_REGISTER_OP(nan_to_num) {
  return cpu::NumericOp<NanToNumFn>("x with NaN and infinities replaced.",
                                    cpu::FromInput<GradNanToNum>());
}

void GradLerp(GradContext& g) {
  const Tensor &dy = g.grad_output(), &weight = g.input(2);
  if (g.needs(0)) g.set_grad_input(0, Mul(dy, Sub(1, weight)));
  if (g.needs(1)) g.set_grad_input(1, Mul(dy, weight));
  if (g.needs(2)) g.set_grad_input(2, Mul(dy, Sub(g.input(1), g.input(0))));
}
FIRN_REGISTER_OP(lerp) {
  return {
      .doc = "start + weight * (end - start), broadcast.",
      .inputs = {{.name = "start", .dtypes = kFloating},
                 {.name = "end", .same_dtype_as = "start"},
                 {.name = "weight", .same_dtype_as = "start"}},
      .outputs = {{.name = "y"}},
      .infer = InferBroadcast,
      .grad = GradLerp,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<LerpFn, 3>)},
      .elementwise = cpu::ElementwiseOf<LerpFn>(),
  };
}

// The largest finite number of a floating dtype.
double LargestOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::numeric_limits<double>::max();
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<float>::max();
  }
}

}  // namespace

Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  const OpDef& op = TheOp<"where">();
  const Promoted p = PromoteOperands(x, y, op.name);
  // Integers that do not fit would wrap around, as operands of arithmetic do.
  if (x.dtype() != y.dtype() && IsIntegral(p.x().dtype())) {
    for (const Tensor* t : {&x, &y}) {
      if (!t->impl()->weak_number) continue;
      RaiseIfError(CheckHolds(NumberOf(*t), p.x().dtype(), t == &x ? "x" : "y"), op.name);
    }
  }
  return Apply1(op, {condition, p.x(), p.y()});
}

Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  constexpr const char* kName = "masked_fill";
  CheckDefined(x, kName);
  CheckDefined(mask, kName, "mask");
  if (mask.dtype() != DType::kBool) {
    RaiseStatus(InvalidArgument("mask must be bool, got ", mask.spec().ToString()), kName);
  }
  if (!value.defined() || value.rank() != 0) {
    RaiseStatus(InvalidArgument("value must be a number or a 0-d tensor, got ",
                                value.defined() ? value.spec().ToString() : "an undefined tensor"),
                kName);
  }
  const Tensor element = AsElement(value, x.dtype(), x.device(), kName);
  return InNameOf(kName, [&] { return Where(mask, element, x); });
}

Tensor NanToNum(const Tensor& x, const NanToNumOptions& options) {
  const double largest = x.defined() ? LargestOf(x.dtype()) : 0;
  return Apply1(TheOp<"nan_to_num">(), {x},
                NanToNumAttrs{options.nan, options.posinf.value_or(largest),
                              options.neginf.value_or(-largest)});
}

Tensor Lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  const OpDef& op = TheOp<"lerp">();
  const Promoted ends = PromoteOperands(start, end, op.name, /*to_float=*/true);
  if (!weight.defined()) return Apply1(op, {ends.x(), ends.y(), weight});
  const DType d = ResultType(ends.x(), weight);
  const auto as = [&](const Tensor& t) { return AsDType(t, d, ends.x().device()); };
  return Apply1(op, {as(ends.x()), as(ends.y()), as(weight)});
}

}  // namespace firn
