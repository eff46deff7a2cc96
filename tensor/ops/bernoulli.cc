// bernoulli: 1 where a random word lies below p * 2^32.

#include "tensor/ops/bernoulli.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/random.h"
#include "tensor/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

template <class T>
absl::Status CheckProbabilities(const T* p, int64_t n) {
  bool good = true;
  for (int64_t i = 0; i < n; ++i) good &= p[i] >= T(0) && p[i] <= T(1);
  if (good) return absl::OkStatus();
  int64_t at = 0;
  while (p[at] >= T(0) && p[at] <= T(1)) ++at;
  return InvalidArgument("p ", static_cast<double>(p[at]), " at index ", at, " is outside [0, 1]");
}

absl::Status Run(KernelContext& k) {
  const int64_t n = k.out_spec().num_elements();
  return VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* p = k.in<T>(1);
    T* out = k.out<T>();
    FIRN_RETURN_IF_ERROR(CheckProbabilities(p, n));
    const PhiloxState at = cpu::TakeCounters(k, 0, cpu::CeilDiv(n, 4));
    cpu::ForEachWord(at, n, [&](int64_t e, uint32_t word) {
      out[e] = static_cast<T>(word < static_cast<double>(p[e]) * 0x1p32 ? 1.0f : 0.0f);
    });
    return absl::OkStatus();
  });
}

FIRN_REGISTER_OP(bernoulli) {
  return {
      .name = "bernoulli",
      .doc = "1 with probability p, else 0. Not differentiable.",
      .inputs = {GeneratorState(), {.name = "p", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .infer = Infer,
      .random = true,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Bernoulli(const Tensor& p, RandomGenerator* generator) {
  static const OpDef& op = Op("bernoulli");
  CheckDefined(p, op.name, "p");
  return Apply1(op, {GeneratorOf({.device = p.device(), .generator = generator}).state(), p});
}

}  // namespace firn
