#include <cmath>
#include <numbers>

#include "device/philox.h"
#include "tensor/ops/randn.h"
#include "tensor/samples.h"

namespace firn::testing::randn {
namespace {

PhiloxResult Counter(const RefTensor& state, int64_t c) {
  const PhiloxState at{static_cast<uint64_t>(static_cast<int64_t>(state[0])),
                       static_cast<uint64_t>(static_cast<int64_t>(state[1]))};
  return PhiloxAt(at, static_cast<uint64_t>(c));
}

double BoxMuller(double u, double v, bool second) {
  const double radius = std::sqrt(-2 * std::log(1 - u)), angle = 2 * std::numbers::pi * v;
  return radius * (second ? std::sin(angle) : std::cos(angle));
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RandnAttrs& a = attrs.get<RandnAttrs>();
  RefTensor state = in[0];
  RefTensor y{Shape(a.shape.span())};
  const bool wide = a.dtype == DType::kF64;
  for (int64_t i = 0; i < y.size(); ++i) {
    const PhiloxResult r = Counter(state, wide ? i / 2 : i / 4);
    const int64_t first = i % 4 / 2 * 2;
    const double u =
        wide ? UniformDouble(r.v[0], r.v[1]) : static_cast<double>(UniformFloat(r.v[first]));
    const double v =
        wide ? UniformDouble(r.v[2], r.v[3]) : static_cast<double>(UniformFloat(r.v[first + 1]));
    y[i] = a.mean + a.std * BoxMuller(u, v, i % 2 == 1);
  }
  state[1] += static_cast<double>(wide ? (y.size() + 1) / 2 : (y.size() + 3) / 4);
  return {state, y};
}

}  // namespace

FIRN_REGISTER_SAMPLES(randn) {
  s.Reference(Reference);
  s.atol_f32 = 3e-6;  // the angle is a float of up to 2 pi, its sine is off by the rounding of that
  const Tensor state = Indices({7, 100});
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    s.Add(DTypeName(d), {state}, RandnAttrs{Shape({3, 7}).dims(), 0, 1, d});
    s.Add(std::string("mean and deviation, ") + DTypeName(d), {state},
          RandnAttrs{Shape({101}).dims(), -2.5, 0.5, d});
  }
  s.Add("a number", {state}, RandnAttrs{});
  s.Add("nothing", {state}, RandnAttrs{Shape({0, 3}).dims()});
  s.Add("no deviation", {state}, RandnAttrs{Shape({5}).dims(), 3, 0});
  s.AddLarge("4M", {state}, RandnAttrs{Shape({2048, 2048}).dims()}, 0, 16.8e6);
  s.AddError("std", {state}, RandnAttrs{Shape({2}).dims(), 0, -1}, "std -1 is negative");
  s.AddError("dtype", {state}, RandnAttrs{Shape({2}).dims(), 0, 1, DType::kBool},
             "dtype must be f32, f64, f16 or bf16, got bool");
}

}  // namespace firn::testing::randn
