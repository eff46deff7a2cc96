// The reference is the sum of the definition, in long double, with an integral and two more terms
// in place of all terms after the first thousands. It knows nothing of reflection.

#include <cmath>
#include <limits>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/polygamma.h"

namespace firn::testing {
namespace {

double Reference(const double* in, AttrsRef attrs) {
  const int64_t n = attrs.get<PolygammaAttrs>().n;
  const long double x = in[0], s = static_cast<long double>(n + 1);
  const bool even = n % 2 == 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (in[0] == kInfinity) return 0;
  if (in[0] == 0) return even ? std::copysign(kInfinity, -in[0]) : kInfinity;
  if (std::isnan(in[0]) || std::isinf(in[0])) return std::nan("");
  if (in[0] < 0 && in[0] == std::round(in[0])) return even ? std::nan("") : kInfinity;
  constexpr int kTerms = 4000;
  const long double a = x + kTerms;
  long double sum =
      std::pow(a, 1 - s) / (s - 1) + std::pow(a, -s) / 2 + s * std::pow(a, -s - 1) / 12;
  for (int k = kTerms - 1; k >= 0; --k) sum += std::pow(x + k, -s);
  return static_cast<double>((even ? -1 : 1) * std::tgamma(s) * sum);
}

// Positive arguments and, between the poles, negative ones.
Tensor BetweenPoles(const Shape& shape, uint64_t seed) {
  std::vector<double> values = Uniform(shape, -3, 5, seed).ToVector<double>();
  for (double& v : values) v = std::floor(v) + 0.25 + 0.5 * (v - std::floor(v));
  return Values(std::move(values), shape);
}

FIRN_REGISTER_SAMPLES(polygamma) {
  s.Function([](In in, const PolygammaAttrs& a) { return Polygamma(a.n, in[0]); });
  ElementReference(s, Reference);
  AddUnary(s, BetweenPoles, PolygammaAttrs{1});
  s.Add("the second", {BetweenPoles({3, 5}, 2)}, PolygammaAttrs{2});
  s.Add("the fifth", {Uniform({12}, 0.75, 9, 3)}, PolygammaAttrs{5});
  for (int64_t n : {1, 2, 3, 20, 101}) {
    Tensor edges = Values({0.0, -0.0, 1, 2, 0.5, 10, 50, -1, -2, INFINITY, -INFINITY, NAN});
    s.Add("edges of number " + std::to_string(n), {edges}, PolygammaAttrs{n}).check_gradient =
        false;
  }
  s.AddError("integers", {Integers({3}, 0, 5)}, PolygammaAttrs{1},
             "x must be f32, f64, f16 or bf16");
  s.AddError("too many", {Normal({3})}, PolygammaAttrs{1001}, "n must be 0 to 1000, got 1001");
  s.AddError("below 0", {Normal({3})}, PolygammaAttrs{-1}, "n must be 0 to 1000, got -1");
}

}  // namespace
}  // namespace firn::testing
