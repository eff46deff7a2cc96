#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include "firn/device/philox.h"
#include "firn/tensor/ops/random/distributions.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/testing/samples.h"

// The references draw like the operations, written like the papers and with the standard library.
// tests/tensor/distributions_test.cc tests the distributions.

namespace firn::testing {
namespace {

// Attempt `attempt` of element e.
PhiloxResult Words(const RefTensor& state, int64_t e, uint32_t attempt) {
  const uint64_t n = static_cast<uint64_t>(state[1]) + static_cast<uint64_t>(e);
  const uint64_t seed = static_cast<uint64_t>(static_cast<int64_t>(state[0]));
  return Philox4x32({{static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), attempt, 0}},
                    static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}
double First(const PhiloxResult& r) { return UniformDouble(r.v[0], r.v[1]); }
double Second(const PhiloxResult& r) { return UniformDouble(r.v[2], r.v[3]); }

double LogChance(double n, double p, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
         (n - k) * std::log1p(-p);
}

double DrawnBinomial(const RefTensor& state, int64_t e, double n, double p) {
  if (p > 0.5) return n - DrawnBinomial(state, e, n, 1 - p);
  if (p == 0 || n == 0) return 0;
  if (n * p < 10) {
    const double u = First(Words(state, e, 0));
    double k = 0, below = std::exp(LogChance(n, p, 0));
    while (u >= below && k < n) below += std::exp(LogChance(n, p, ++k));
    return k;
  }
  const double spread = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, mode = std::floor((n + 1) * p);
  for (uint32_t attempt = 0;; ++attempt) {
    const PhiloxResult r = Words(state, e, attempt);
    const double u = First(r) - 0.5, v = Second(r), left = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / left + b) * u + n * p + 0.5);
    if (left >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > n) continue;
    const double height = v * (2.83 + 5.1 / b) * spread / (a / (left * left) + b);
    if (std::log(height) <= LogChance(n, p, k) - LogChance(n, p, mode)) return k;
  }
}

FIRN_REGISTER_SAMPLES(binomial) {
  s.Function([](In in) {
    return DrawFrom(in[0], [&](RandomGenerator* g) { return Binomial(in[1], in[2], g); });
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor state = in[0], y(in[1].shape);
    for (int64_t e = 0; e < y.size(); ++e)
      y[e] = DrawnBinomial(in[0], e, std::floor(in[1][e]), in[2][e]);
    state[1] += static_cast<double>(y.size());
    return std::vector<RefTensor>{state, y};
  });
  const Tensor state = Indices({7, 100});
  // Probabilities that all dtypes hold, so that all draw the same.
  const auto eighths = [](const Shape& shape) {
    std::vector<double> v(static_cast<size_t>(shape.num_elements()));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i % 9) / 8;
    return Values(v, shape);
  };
  const auto counts = [](const Shape& shape, double step) {
    std::vector<double> v(static_cast<size_t>(shape.num_elements()));
    for (size_t i = 0; i < v.size(); ++i) v[i] = step * static_cast<double>(i % 7);
    return Values(v, shape);
  };
  s.Add("few trials", {state, counts({9, 7}, 1), eighths({9, 7})});
  s.Add("many trials", {state, counts({3, 8, 7}, 40), eighths({3, 8, 7})});
  s.Add("rare", {state, Values({1e4, 1e4, 6e4}), Values({0x1p-12, 0x1p-13, 0x1p-14})});
  s.Add("certain", {state, Values({5, 5, 0, 0, 200}), Values({0, 1, 0, 1, 1})});
  s.Add("parts of a trial", {state, Values({2.5, 0.5, 40.75}), Values({0.5, 1, 0.5})});
  s.Add("a number", {state, Values({20}, {}), Values({0.25}, {})});
  s.Add("nothing", {state, Normal({0, 3}), Normal({0, 3})});
  s.Add("far along", {Indices({-3, int64_t{1} << 40}), counts({70}, 9), eighths({70})});
  s.AddLarge("1M", {state, counts({1 << 20}, 20), eighths({1 << 20})}, {}, 0, 12.6e6);
  s.AddError("negative", {state, Values({1, -1}), Values({0.5, 0.5})}, {},
             "count -1 at index 1 is not 0 or more and finite");
  s.AddError("endless", {state, Values({INFINITY}), Values({0.5})}, {},
             "count inf at index 0 is not 0 or more and finite");
  s.AddError("prob", {state, Values({1, 2}), Values({0.5, 1.5})}, {},
             "prob 1.5 at index 1 is outside [0, 1]");
  s.AddError("NaN", {state, Values({1}), Values({NAN})}, {}, "prob nan at index 0 is outside");
  s.AddError("state", {Indices({1, 2, 3}), Values({1}), Values({0.5})}, {},
             "state [3] is not a generator's");
}

double LogOfDrawnGamma(const RefTensor& state, int64_t e, double a) {
  const double d = std::max(a, a < 1 ? a + 1 : a) - 1.0 / 3;
  for (uint32_t attempt = 0;; attempt += 2) {
    const PhiloxResult r = Words(state, e, attempt), q = Words(state, e, attempt + 1);
    const double x =
        std::sqrt(-2 * std::log(1 - First(r))) * std::cos(2 * std::numbers::pi * Second(r));
    const double v = std::pow(1 + x / std::sqrt(9 * d), 3);
    if (v <= 0 || std::log(1 - First(q)) >= x * x / 2 + d - d * v + d * std::log(v)) continue;
    return std::log(d * v) + (a < 1 ? std::log(1 - Second(q)) / a : 0);
  }
}

FIRN_REGISTER_SAMPLES(rand_gamma) {
  s.Function([](In in, const RandGammaAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) {
      return RandGamma(in[1], {.log = a.log, .generator = g});
    });
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor state = in[0], y(in[1].shape);
    const bool log = attrs.get<RandGammaAttrs>().log;
    for (int64_t e = 0; e < y.size(); ++e) {
      const double a = in[1][e], v = a == 0 ? 0 : LogOfDrawnGamma(in[0], e, a);
      y[e] = a == 0 || log ? v : std::exp(v);
    }
    state[1] += static_cast<double>(y.size());
    return std::vector<RefTensor>{state, y};
  });
  s.second_gradient = false;
  const Tensor state = Indices({7, 100});
  // A drawn number is not a differentiable function of its parameter: the gradients are in
  // rand_gamma_grad's samples and in the test of distributions.
  const auto add = [&](const char* name, const Tensor& a, bool log = false) {
    s.Add(name, {state, a}, RandGammaAttrs{log}).check_gradient = false;
  };
  add("small and large", Uniform({5, 8, 7}, 0.5, 20));
  add("logarithms", Uniform({5, 3}, 0.5, 20), true);
  add("logarithms of small numbers", Values({0.01, 0.05, 0.1, 0.3}), true);
  add("none", Values({0, 1, 0, 2}));
  add("a number", Values({3}, {}));
  s.Add("nothing", {state, Uniform({0, 3}, 1, 2)}, RandGammaAttrs{});
  s.AddLarge("1M", {state, Uniform({1 << 20}, 0.5, 5)}, RandGammaAttrs{}, 0, 8.4e6);
  s.AddError("negative", {state, Values({1, -1})}, RandGammaAttrs{},
             "shape_parameter -1 at index 1 is not 0 or more");
  s.AddError("NaN", {state, Values({NAN})}, RandGammaAttrs{}, "shape_parameter nan at index 0");
  s.AddError("the logarithm of 0", {state, Values({0})}, RandGammaAttrs{true},
             "shape_parameter 0 at index 0 is not positive");
  s.AddError("state", {Indices({1}), Values({1})}, RandGammaAttrs{}, "is not a generator's");
}

double DigammaOf(double x) {
  double sum = 0;
  for (; x < 30; ++x) sum -= 1 / x;
  const double w = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - w * (1.0 / 12 - w * (1.0 / 120 - w / 252));
}

// d log x / da where the integral P of the density up to x is fixed: -dP/da over x times the
// density. With t = x e^-s, dP/da is an integral of an exponential times log t - digamma(a).
double SlopeOfLog(double a, double log_x) {
  const double x = std::exp(log_x), end = 45 / a + 5;
  const double center = DigammaOf(a) - log_x;
  constexpr int kSteps = 40000;  // of Simpson's rule
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps, s = end * t * t;  // finer at the start
    const double value = std::exp(-a * s - x * std::expm1(-s)) * (center + s) * 2 * end * t;
    sum += value * (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2);
  }
  return sum / (3.0 * kSteps);
}

FIRN_REGISTER_SAMPLES(rand_gamma_grad) {
  s.Internal("the gradient of rand_gamma");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const bool log = attrs.get<RandGammaAttrs>().log;
    RefTensor dx(in[0].shape);
    for (int64_t i = 0; i < dx.size(); ++i) {
      const double y = in[2][i];
      dx[i] = y == 0 && !log ? 0
                             : in[0][i] * (log ? SlopeOfLog(in[1][i], y)
                                               : y * SlopeOfLog(in[1][i], std::log(y)));
    }
    return std::vector<RefTensor>{dx};
  });
  const auto add = [&](const char* name, const Tensor& a, const Tensor& y, bool log = false) {
    s.Add(name, {Normal(y.shape()), a, y}, RandGammaAttrs{log});
  };
  add("below the mean", Uniform({4, 6}, 1, 8), Uniform({4, 6}, 0.125, 1));
  add("above the mean", Uniform({4, 6}, 0.5, 4), Uniform({4, 6}, 5.5, 9));
  add("around the mean", Values({0.5, 1, 2, 8, 16}), Values({1.5, 2, 3.25, 9.5, 15}));
  add("small", Values({0.25, 0.5, 0.125}), Values({0.001, 0.0625, 0.5}));
  add("logarithms", Values({0.25, 0.5, 0.125, 3, 2}), Values({-20, -3, -40, 1.5, 1}), true);
  add("zeros", Values({0, 0.5}), Values({0, 0}));
  add("a number", Values({1}, {}), Values({1}, {}));
  add("nothing", Normal({0, 3}), Normal({0, 3}));
  s.AddLarge("1M", {Normal({1 << 20}), Uniform({1 << 20}, 0.5, 5), Uniform({1 << 20}, 0.5, 5)},
             RandGammaAttrs{}, 0, 16.8e6);
  s.AddError("shapes", {Normal({3}), Normal({3}), Normal({2})}, RandGammaAttrs{},
             "shapes [3], [3] and [2] differ");
}

// rand_gamma's samples have the gradients.
FIRN_REGISTER_COMPOSITE(rand_beta) {
  s.gradient_is_derivative = false;
  AddDrawing<NoAttrs>(
      s, {{.name = "x", .dtypes = kFloating}, {.name = "b", .same_dtype_as = "x"}},
      [](In in, const NoAttrs&, RandomGenerator* g) { return RandBeta(in[0], in[1], g); });
  s.Add("matrix", {Uniform({5, 7}, 0.5, 20), Uniform({5, 7}, 0.5, 20, 2), State()}, NoAttrs{});
  s.Add("broadcast", {Uniform({2, 8, 3}, 0.5, 2), Values({3}), State()}, NoAttrs{});
  s.Add("small", {Values({0.01, 0.1}), Values({0.02, 5}), State()}, NoAttrs{});
  s.Add("a number", {Values({3}, {}), Values({2}, {}), State()}, NoAttrs{});
  s.Add("nothing", {Uniform({0, 3}, 1, 2), Uniform({0, 3}, 1, 2), State()}, NoAttrs{});
  s.AddLarge("1M", {Uniform({1 << 20}, 0.5, 5), Uniform({1 << 20}, 0.5, 5, 2), State()}, NoAttrs{},
             0, 12.6e6);
  s.AddError("negative", {Values({1, -1}), Values({1, 1}), State()}, NoAttrs{},
             "shape_parameter -1 at index 1 is not positive");
}

}  // namespace
}  // namespace firn::testing
