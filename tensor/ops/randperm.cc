// randperm: the shuffle of Fisher and Yates. Step i swaps element i with one of i .. n - 1, chosen
// by the i-th pair of random words.

#include "tensor/ops/randperm.h"

#include <numeric>
#include <utility>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/random.h"
#include "tensor/random_rules.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  Dims sizes(1, c.attrs<RandpermAttrs>().n);
  return InferRandom(c, sizes, DType::kI64, SetOf(DType::kI64));
}

absl::Status Run(KernelContext& k) {
  const int64_t n = k.attrs<RandpermAttrs>().n;
  const PhiloxState at = cpu::TakeCounters(k, 0, cpu::CeilDiv(n, 2));
  int64_t* out = k.out<int64_t>();
  std::iota(out, out + n, int64_t{0});
  const auto step = [&](int64_t i, uint32_t high, uint32_t low) {
    if (i >= n) return;
    const uint64_t ahead = cpu::BelowFrom(static_cast<uint64_t>(n - i), high, low);
    std::swap(out[i], out[i + static_cast<int64_t>(ahead)]);
  };
  cpu::ForEachCounter(at, 0, cpu::CeilDiv(n, 2),
                      [&](int64_t c, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
                        step(2 * c, w0, w1);
                        step(2 * c + 1, w2, w3);
                      });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(randperm) {
  return {
      .name = "randperm",
      .doc = "The numbers 0 to n - 1 in random order. Not differentiable.",
      .inputs = {GeneratorState()},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandpermAttrs>(),
      .infer = Infer,
      .random = true,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Randperm(int64_t n, const RandomOptions& options) {
  static const OpDef& op = Op("randperm");
  return Apply1(op, {GeneratorOf(options).state()}, RandpermAttrs{n});
}

}  // namespace firn
