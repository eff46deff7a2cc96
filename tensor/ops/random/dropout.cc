// dropout: element e is dropped when random word e, counted from a position of the generator, is
// below p * 2^32. Elements are counted row-major, so that the choice does not depend on x's layout.
// The choice is a second result, with a bit for each element: a gradient that makes the words again
// takes five times as long as one that reads it.
//
// dropout_grad: dropout by a choice that was made; its own adjoint.

#include "firn/tensor/ops/random/dropout.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/dropout.h"
#include "firn/tensor/kernels/cpu/random.h"
#include "firn/tensor/ops/random/random_rules.h"

namespace firn {
namespace {

// The shape of the choice for elements of x.
Shape ShapeOfKept(const Shape& x) { return Shape({CeilDiv(x.num_elements(), 8)}); }

absl::Status InferDropout(InferContext& c) {
  const double p = c.attrs<DropoutAttrs>().p;
  FIRN_RETURN_IF(!(p >= 0 && p <= 1), InvalidArgument("p ", p, " is outside [0, 1]"));
  FIRN_RETURN_IF_ERROR(CheckState(c, 1));
  c.set_out_like(0, 0);
  c.set_out(1, DType::kU8, ShapeOfKept(c.shape(0)));
  return absl::OkStatus();
}

absl::Status RunDropout(KernelContext& k) {
  const int64_t n = k.in_spec(0).num_elements();
  const PhiloxState at = cpu::TakeCounters(k, 1, CeilDiv(n, 4));
  cpu::DropElements(k, at, k.attrs<DropoutAttrs>().p);
  return absl::OkStatus();
}

void GradDropout(GradContext& g) {
  if (!g.has_grad_output(0)) return;
  g.set_grad_input(0, DropoutGrad(g.grad_output(), g.output(1), g.attrs<DropoutAttrs>().p));
}

constexpr GraphTraits kTraits = {
    .evaluate = [](absl::Span<const Tensor> in, AttrsRef) -> absl::StatusOr<TensorList> {
      return TensorList{in[0]};
    }};

FIRN_REGISTER_OP(dropout) {
  return {
      .doc = "Sets elements to 0 with probability p and scales the others by 1 / (1 - p).",
      .inputs = {{.name = "x", .dtypes = kFloating}, GeneratorState()},
      .outputs = {{.name = "y"}, {.name = "kept"}},
      .attrs = AttrsOf<DropoutAttrs>(),
      .infer = InferDropout,
      .grad = GradDropout,
      .saves = {Saved::Output(1)},
      .may_reuse = {{0, 0}},
      .random = true,
      .kernels = {{.name = "loop", .run = RunDropout}},
      .graph = &kTraits,
  };
}

absl::Status InferDropoutGrad(InferContext& c) {
  const double p = c.attrs<DropoutAttrs>().p;
  FIRN_RETURN_IF(!(p >= 0 && p <= 1), InvalidArgument("p ", p, " is outside [0, 1]"));
  const Shape want = ShapeOfKept(c.shape(0));
  FIRN_RETURN_IF(c.shape(1) != want, InvalidArgument("kept ", c.shape(1).ToString(), ", want ",
                                                     want.ToString(), ", a bit an element"));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status RunDropoutGrad(KernelContext& k) {
  cpu::DropAgain(k, k.attrs<DropoutAttrs>().p);
  return absl::OkStatus();
}

void GradDropoutGrad(GradContext& g) {
  g.set_grad_input(0, DropoutGrad(g.grad_output(), g.input(1), g.attrs<DropoutAttrs>().p));
}

FIRN_REGISTER_OP(dropout_grad) {
  return {
      .doc = "Drops and scales the elements that a dropout did.",
      .inputs = {{.name = "dy", .dtypes = kFloating},
                 {.name = "kept", .dtypes = SetOf(DType::kU8)}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<DropoutAttrs>(),
      .infer = InferDropoutGrad,
      .grad = GradDropoutGrad,
      .saves = {Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {{.name = "loop", .run = RunDropoutGrad}},
  };
}

}  // namespace

Tensor Dropout(const Tensor& x, Real p, Flag training, RandomGenerator* generator) {
  const OpDef& op = TheOp<"dropout">();
  CheckDefined(x, op.name);
  if (!training || p == 0) return x;
  RandomGenerator& from = GeneratorOf({.device = x.device(), .generator = generator});
  return Apply(op, {x, from.state()}, DropoutAttrs{p})[0];
}

Tensor inner::DropoutGrad(const Tensor& dy, const Tensor& kept, double p) {
  return Apply1(TheOp<"dropout_grad">(), {dy, kept}, DropoutAttrs{p});
}

}  // namespace firn
