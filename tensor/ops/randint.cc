// randint: 64 random bits a number, scaled to the range by a 128-bit product.

#include "tensor/ops/randint.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/kernels/cpu/random.h"
#include "tensor/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const RandintAttrs& a = c.attrs<RandintAttrs>();
  FIRN_RETURN_IF(a.low >= a.high, InvalidArgument("[", a.low, ", ", a.high, ") is no interval"));
  FIRN_RETURN_IF_ERROR(InferRandom(c, a.shape, a.dtype, kNumeric));
  const bool holds = VisitNumeric(a.dtype, [&]<class T>(TypeTag<T>) {
    const auto same = [](int64_t v) { return cpu::ConvertTo<int64_t>(cpu::ConvertTo<T>(v)) == v; };
    return same(a.low) && same(a.high - 1);
  });
  FIRN_RETURN_IF(!holds, InvalidArgument(DTypeName(a.dtype), " cannot hold the numbers of [", a.low,
                                         ", ", a.high, ")"));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const RandintAttrs& a = k.attrs<RandintAttrs>();
  const int64_t n = k.out_spec().num_elements();
  const PhiloxState at = cpu::TakeCounters(k, 0, cpu::CeilDiv(n, 2));
  const uint64_t low = static_cast<uint64_t>(a.low);
  const uint64_t range = static_cast<uint64_t>(a.high) - low;
  VisitNumeric(a.dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    cpu::ForEachWordPair(at, n, [&](int64_t e, uint32_t high_word, uint32_t low_word) {
      const uint64_t v = low + cpu::BelowFrom(range, high_word, low_word);
      out[e] = cpu::ConvertTo<T>(static_cast<int64_t>(v));
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(randint) {
  return {
      .name = "randint",
      .doc = "Integers uniform on [low, high). Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandintAttrs>(),
      .infer = Infer,
      .random = true,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Randint(int64_t low, int64_t high, const Shape& shape, DType dtype,
               const RandomOptions& options) {
  static const OpDef& op = Op("randint");
  return Apply1(op, {GeneratorOf(options).state()}, RandintAttrs{shape.dims(), low, high, dtype});
}

}  // namespace firn
