// rand: uniform numbers, multiples of 2^-24 (f32), 2^-53 (f64), 2^-11 (f16) or 2^-8 (bf16) scaled
// to [low, high). Where rounding would give `high`, the result is `low`.

#include "tensor/ops/rand.h"

#include <cmath>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/random.h"
#include "tensor/ops/rand_fn.h"
#include "tensor/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const RandAttrs& a = c.attrs<RandAttrs>();
  FIRN_RETURN_IF(!(a.low < a.high) || !std::isfinite(a.high - a.low),
                 InvalidArgument("[", a.low, ", ", a.high, ") is no interval"));
  return InferRandom(c, a.shape, a.dtype, kFloating);
}

absl::Status Run(KernelContext& k) {
  const RandAttrs& a = k.attrs<RandAttrs>();
  const int64_t n = k.out_spec().num_elements();
  VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    const RandFn<T> f(a);
    if constexpr (std::is_same_v<T, double>) {
      const PhiloxState at = cpu::TakeCounters(k, 0, cpu::CeilDiv(n, 2));
      cpu::ForEachWordPair(at, n,
                           [&](int64_t e, uint32_t high, uint32_t low) { out[e] = f(high, low); });
    } else {
      const PhiloxState at = cpu::TakeCounters(k, 0, cpu::CeilDiv(n, 4));
      cpu::ForEachWord(at, n, [&](int64_t e, uint32_t word) { out[e] = f(word); });
    }
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(rand) {
  return {
      .name = "rand",
      .doc = "Numbers uniform on [low, high). Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandAttrs>(),
      .infer = Infer,
      .random = true,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Rand(const Shape& shape, double low, double high, DType dtype,
            const RandomOptions& options) {
  static const OpDef& op = Op("rand");
  return Apply1(op, {GeneratorOf(options).state()}, RandAttrs{shape.dims(), low, high, dtype});
}

Tensor RandLike(const Tensor& x, double low, double high) {
  CheckDefined(x, "rand_like");
  return Rand(x.shape(), low, high, x.dtype(), {.device = x.device()});
}

double Uniform() {
  const PhiloxResult r = PhiloxAt(DefaultGenerator().Reserve(1), 0);
  return UniformDouble(r.v[0], r.v[1]);
}

}  // namespace firn
