// generator_position: the position of a generator, which moves on by as many counters as the caller
// will use. Two calls never get the same counters, whichever threads they are made on.

#include "firn/tensor/ops/random/generator_position.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/random.h"
#include "firn/tensor/ops/random/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const int64_t counters = c.attrs<PositionAttrs>().counters;
  FIRN_RETURN_IF(counters < 0, InvalidArgument("counters ", counters, " is negative"));
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  c.set_out(0, DType::kI64, Shape({2}));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const PhiloxState at = cpu::TakeCounters(k, 0, k.attrs<PositionAttrs>().counters);
  k.out<int64_t>()[0] = static_cast<int64_t>(at.seed);
  k.out<int64_t>()[1] = static_cast<int64_t>(at.offset);
  return absl::OkStatus();
}

// With 0 counters nothing is drawn, so the position stays.
constexpr GraphTraits kTraits = {
    .evaluate = [](absl::Span<const Tensor> in, AttrsRef) -> absl::StatusOr<TensorList> {
      return TensorList{in[0]};
    }};

FIRN_REGISTER_OP(generator_position) {
  return {
      .doc = "Takes counters from a generator and gives where they begin. Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "position"}},
      .attrs = AttrsOf<PositionAttrs>(),
      .infer = Infer,
      .random = true,
      .kernels = {{.name = "loop", .run = Run}},
      .graph = &kTraits,
  };
}

}  // namespace

Tensor inner::TakePosition(RandomGenerator& generator, int64_t counters) {
  return Apply1(TheOp<"generator_position">(), {generator.state()}, PositionAttrs{counters});
}

}  // namespace firn
