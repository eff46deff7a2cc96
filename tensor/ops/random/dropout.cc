// dropout: element e is dropped when random word e, counted from a position of the generator, is
// below p * 2^32. The position is a second result; from it dropout_grad repeats the choice.
// Elements are counted row-major, so that the choice does not depend on how x lies in memory.
//
// dropout_grad: dropout at a known position; its own adjoint.

#include "tensor/ops/random/dropout.h"

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/graph_traits.h"
#include "tensor/kernels/cpu/dropout.h"
#include "tensor/kernels/cpu/random.h"
#include "tensor/ops/random/random_rules.h"

namespace firn {
namespace {

absl::Status InferDropout(InferContext& c) {
  const double p = c.attrs<DropoutAttrs>().p;
  FIRN_RETURN_IF(!(p >= 0 && p <= 1), InvalidArgument("p ", p, " is outside [0, 1]"));
  FIRN_RETURN_IF_ERROR(CheckState(c, 1));
  c.set_out_like(0, 0);
  c.set_out_like(1, 1);
  return absl::OkStatus();
}

absl::Status RunDropout(KernelContext& k) {
  const int64_t n = k.in_spec(0).num_elements();
  const PhiloxState at = cpu::TakeCounters(k, 1, CeilDiv(n, 4));
  k.out<int64_t>(1)[0] = static_cast<int64_t>(at.seed);
  k.out<int64_t>(1)[1] = static_cast<int64_t>(at.offset);
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
      .outputs = {{.name = "y"}, {.name = "position"}},
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
  FIRN_RETURN_IF(c.shape(1) != Shape({2}),
                 InvalidArgument("position ", c.shape(1).ToString(), " is not {seed, offset}"));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status RunDropoutGrad(KernelContext& k) {
  const int64_t* position = k.in<int64_t>(1);
  cpu::DropElements(k, {static_cast<uint64_t>(position[0]), static_cast<uint64_t>(position[1])},
                    k.attrs<DropoutAttrs>().p);
  return absl::OkStatus();
}

void GradDropoutGrad(GradContext& g) {
  g.set_grad_input(0, DropoutGrad(g.grad_output(), g.input(1), g.attrs<DropoutAttrs>().p));
}

FIRN_REGISTER_OP(dropout_grad) {
  return {
      .doc = "Drops and scales the elements that the dropout at a position did.",
      .inputs = {{.name = "dy", .dtypes = kFloating},
                 {.name = "position", .dtypes = SetOf(DType::kI64)}},
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

Tensor Dropout(const Tensor& x, double p, bool training, RandomGenerator* generator) {
  const OpDef& op = TheOp<"dropout">();
  CheckDefined(x, op.name);
  if (!training || p == 0) return x;
  RandomGenerator& from = GeneratorOf({.device = x.device(), .generator = generator});
  return Apply(op, {x, from.state()}, DropoutAttrs{p})[0];
}

Tensor inner::DropoutGrad(const Tensor& dy, const Tensor& position, double p) {
  return Apply1(TheOp<"dropout_grad">(), {dy, position}, DropoutAttrs{p});
}

}  // namespace firn
