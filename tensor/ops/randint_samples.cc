#include "device/philox.h"
#include "tensor/ops/randint.h"
#include "tensor/samples.h"

namespace firn::testing::randint {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RandintAttrs& a = attrs.get<RandintAttrs>();
  RefTensor state = in[0];
  const PhiloxState at{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
  RefTensor y{Shape(a.shape.span())};
  for (int64_t i = 0; i < y.size(); ++i) {
    const PhiloxResult r = PhiloxAt(at, static_cast<uint64_t>(i / 2));
    // 2^-64 of the word times the range, exact in 80-bit floats for small ranges.
    const uint32_t high = r.v[i % 2 * 2], low = r.v[i % 2 * 2 + 1];
    const long double u = (high * 0x1p32L + low) * 0x1p-64L;
    const auto range = static_cast<long double>(a.high) - static_cast<long double>(a.low);
    y[i] = static_cast<double>(a.low + static_cast<int64_t>(u * range));
  }
  state[1] += static_cast<double>((y.size() + 1) / 2);
  return {state, y};
}

}  // namespace

FIRN_REGISTER_SAMPLES(randint) {
  s.Reference(Reference);
  const Tensor state = Indices({7, 100});
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI32,
                  DType::kI64, DType::kU8}) {
    s.Add(DTypeName(d), {state}, RandintAttrs{Shape({3, 7}).dims(), 3, 100, d});
  }
  s.Add("negative", {state}, RandintAttrs{Shape({33}).dims(), -5, 2});
  s.Add("one value", {state}, RandintAttrs{Shape({3}).dims(), 4, 5});
  s.Add("a number", {state}, RandintAttrs{Dims(), 0, 10});
  s.Add("nothing", {state}, RandintAttrs{Shape({0}).dims(), 0, 10});
  s.AddLarge("1M", {state}, RandintAttrs{Shape({1 << 20}).dims(), 0, 1000}, 0, 8.4e6);
  s.AddError("interval", {state}, RandintAttrs{Shape({2}).dims(), 3, 3}, "[3, 3) is no interval");
  s.AddError("too large", {state}, RandintAttrs{Shape({2}).dims(), 0, 300, DType::kU8},
             "u8 cannot hold the numbers of [0, 300)");
  s.AddError("dtype", {state}, RandintAttrs{Shape({2}).dims(), 0, 2, DType::kBool}, "got bool");
}

}  // namespace firn::testing::randint
