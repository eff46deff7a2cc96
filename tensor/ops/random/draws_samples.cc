#include <cmath>
#include <numbers>

#include "firn/device/philox.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Word w of the stream, from the scalar generator.
uint32_t Word(const RefTensor& state, int64_t w) {
  const PhiloxState at{static_cast<uint64_t>(static_cast<int64_t>(state[0])),
                       static_cast<uint64_t>(static_cast<int64_t>(state[1]))};
  return PhiloxAt(at, static_cast<uint64_t>(w / 4)).v[w % 4];
}

std::vector<RefTensor> ReferenceRand(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RandAttrs& a = attrs.get<RandAttrs>();
  RefTensor state = in[0];
  RefTensor y{Shape(a.shape.span())};
  const int per_number = a.dtype == DType::kF64 ? 2 : 1;
  for (int64_t i = 0; i < y.size(); ++i) {
    double u;
    if (a.dtype == DType::kF64) {
      u = UniformDouble(Word(state, 2 * i), Word(state, 2 * i + 1));
    } else {
      const int bits = a.dtype == DType::kF32 ? 24 : a.dtype == DType::kF16 ? 11 : 8;
      u = static_cast<double>(Word(state, i) >> (32 - bits)) / static_cast<double>(1 << bits);
    }
    y[i] = a.low + (a.high - a.low) * u;
  }
  state[1] += static_cast<double>((y.size() * per_number + 3) / 4);
  return {state, y};
}

FIRN_REGISTER_SAMPLES(rand) {
  s.Function([](In in, const RandAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) {
      return Rand(Shape(a.shape.span()), a.low, a.high, a.dtype, {.generator = g});
    });
  });
  s.Reference(ReferenceRand);
  const Tensor state = Indices({7, 100});
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    s.Add(DTypeName(d), {state}, RandAttrs{Shape({3, 7}).dims(), 0, 1, d});
    s.Add(std::string("an interval, ") + DTypeName(d), {state},
          RandAttrs{Shape({101}).dims(), -2.5, 4, d});
  }
  s.Add("a number", {state}, RandAttrs{});
  s.Add("nothing", {state}, RandAttrs{Shape({0, 3}).dims()});
  s.Add("far along", {Indices({-3, int64_t{1} << 40})}, RandAttrs{Shape({70}).dims()});
  s.AddLarge("4M", {state}, RandAttrs{Shape({2048, 2048}).dims()}, 0, 16.8e6);
  s.AddError("interval", {state}, RandAttrs{Shape({2}).dims(), 1, 1}, "[1, 1) is no interval");
  s.AddError("dtype", {state}, RandAttrs{Shape({2}).dims(), 0, 1, DType::kI64},
             "dtype must be f32, f64, f16 or bf16, got i64");
  s.AddError("state", {Indices({1})}, RandAttrs{}, "state [1] is not a generator's");
}

PhiloxResult Counter(const RefTensor& state, int64_t c) {
  const PhiloxState at{static_cast<uint64_t>(static_cast<int64_t>(state[0])),
                       static_cast<uint64_t>(static_cast<int64_t>(state[1]))};
  return PhiloxAt(at, static_cast<uint64_t>(c));
}

double BoxMuller(double u, double v, bool second) {
  const double radius = std::sqrt(-2 * std::log(1 - u)), angle = 2 * std::numbers::pi * v;
  return radius * (second ? std::sin(angle) : std::cos(angle));
}

std::vector<RefTensor> ReferenceRandn(absl::Span<const RefTensor> in, AttrsRef attrs) {
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

FIRN_REGISTER_SAMPLES(randn) {
  s.Function([](In in, const RandnAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) {
      return Randn(Shape(a.shape.span()), a.mean, a.std, a.dtype, {.generator = g});
    });
  });
  s.Reference(ReferenceRandn);
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

std::vector<RefTensor> ReferenceRandint(absl::Span<const RefTensor> in, AttrsRef attrs) {
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

FIRN_REGISTER_SAMPLES(randint) {
  s.Function([](In in, const RandintAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) {
      return Randint(a.low, a.high, Shape(a.shape.span()), a.dtype, {.generator = g});
    });
  });
  s.Reference(ReferenceRandint);
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

FIRN_REGISTER_SAMPLES(bernoulli) {
  s.Function([](In in) {
    return DrawFrom(in[0], [&](RandomGenerator* g) { return Bernoulli(in[1], g); });
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor state = in[0];
    const PhiloxState at{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
    RefTensor y(in[1].shape);
    for (int64_t i = 0; i < y.size(); ++i) {
      const uint32_t word = PhiloxAt(at, static_cast<uint64_t>(i / 4)).v[i % 4];
      y[i] = word / 0x1p32 < in[1][i] ? 1 : 0;
    }
    state[1] += static_cast<double>((y.size() + 3) / 4);
    return std::vector<RefTensor>{state, y};
  });
  const Tensor state = Indices({7, 100});
  s.Add("vector", {state, Uniform({37}, 0, 1)});
  s.Add("matrix", {state, Uniform({5, 7}, 0, 0.5)});
  s.Add("certain", {state, Values({0, 1, 0, 1, 1})});
  s.Add("a number", {state, Values({0.25}, {})});
  s.Add("nothing", {state, Normal({0, 3})});
  s.AddLarge("4M", {state, Uniform({2048, 2048}, 0, 1)}, {}, 0, 33.6e6);
  s.AddError("above 1", {state, Values({0.5, 1.5})}, {}, "p 1.5 at index 1 is outside [0, 1]");
  s.AddError("negative", {state, Values({-0.5})}, {}, "p -0.5 at index 0 is outside [0, 1]");
  s.AddError("NaN", {state, Values({NAN})}, {}, "p nan at index 0 is outside [0, 1]");
  s.AddError("state", {Indices({1, 2, 3}), Values({0.5})}, {}, "state [3] is not a generator's");
  s.AddError("integers", {state, Integers({3}, 0, 1)}, {}, "p must be f32, f64");
}

}  // namespace
}  // namespace firn::testing
