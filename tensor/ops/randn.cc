// randn: normal numbers by Box and Muller's method (device/philox.h), two from each pair of uniform
// ones. A counter gives four f32 or two f64.

#include "tensor/ops/randn.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/random.h"
#include "tensor/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const RandnAttrs& a = c.attrs<RandnAttrs>();
  FIRN_RETURN_IF(!(a.std >= 0), InvalidArgument("std ", a.std, " is negative"));
  return InferRandom(c, a.shape, a.dtype, kFloating);
}

absl::Status Run(KernelContext& k) {
  const RandnAttrs& a = k.attrs<RandnAttrs>();
  const int64_t n = k.out_spec().num_elements();
  VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    T* out = k.out<T>();
    const Acc mean = static_cast<Acc>(a.mean), std = static_cast<Acc>(a.std);
    const auto put = [&](int64_t e, Acc v) {
      if (e < n) out[e] = static_cast<T>(mean + std * v);
    };
    const auto for_each_counter = [&](int64_t elements, const auto& f) {
      const int64_t counters = cpu::CeilDiv(n, elements);
      const PhiloxState at = cpu::TakeCounters(k, 0, counters);
      ParallelFor(counters, cpu::kCounterGrain / 4,
                  [&](int64_t begin, int64_t end) { cpu::ForEachCounter(at, begin, end, f); });
    };
    if constexpr (std::is_same_v<T, double>) {
      for_each_counter(2, [&](int64_t c, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
        const auto [u, v] = NormalDoubles({{w0, w1, w2, w3}});
        put(2 * c, u);
        put(2 * c + 1, v);
      });
    } else {
      for_each_counter(4, [&](int64_t c, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
        const auto [u, v] = NormalFloats(w0, w1);
        const auto [x, y] = NormalFloats(w2, w3);
        put(4 * c, u);
        put(4 * c + 1, v);
        put(4 * c + 2, x);
        put(4 * c + 3, y);
      });
    }
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(randn) {
  return {
      .name = "randn",
      .doc = "Normally distributed numbers. Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandnAttrs>(),
      .infer = Infer,
      .random = true,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Randn(const Shape& shape, double mean, double std, DType dtype,
             const RandomOptions& options) {
  static const OpDef& op = Op("randn");
  return Apply1(op, {GeneratorOf(options).state()}, RandnAttrs{shape.dims(), mean, std, dtype});
}

Tensor RandnLike(const Tensor& x, double mean, double std) {
  CheckDefined(x, "randn_like");
  return Randn(x.shape(), mean, std, x.dtype(), {.device = x.device()});
}

}  // namespace firn
