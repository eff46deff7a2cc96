// The references of the gamma functions are the limits of Gauss and Euler, sped up by a few terms
// of the remainder; they use neither shifts by 1 nor reflection.

#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/special.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(erf) {
  s.Function<Erf>();
  AddFloatUnary(s, [](double x) { return std::erf(x); }, Normal, {0.5, -3, 6, 1e-4});
}

// 0 at whole numbers, where the sine of a rounded argument is not 0.
double SincReference(double x) {
  if (x == 0) return 1;
  return x == std::round(x) && std::isfinite(x) ? 0 : std::sin(M_PI * x) / (M_PI * x);
}

FIRN_REGISTER_SAMPLES(sinc) {
  s.Function<Sinc>();
  AddFloatUnary(s, SincReference, Normal, {0.5, 0.125, 1e-4, 1000});
  s.Add("around 0", {Values({0.0, 1e-3, -0.01, 0.1, 0.124, 0.126, -0.2, 1.5})});
  s.Add("whole numbers", {Values({1, -2, 3})});
}

// Positive arguments and, between the poles, negative ones.
Tensor BetweenPoles(const Shape& shape, uint64_t seed) {
  const Tensor x = Uniform(shape, -3, 5, seed);
  std::vector<double> values = x.ToVector<double>();
  for (double& v : values) v = std::floor(v) + 0.25 + 0.5 * (v - std::floor(v));
  return Values(std::move(values), shape);
}

FIRN_REGISTER_SAMPLES(lgamma) {
  s.Function<Lgamma>();
  AddFloatUnary(s, [](double x) { return std::lgamma(x); }, BetweenPoles,
                {1, 2, 0.5, 10, 100, -1, -2, 1e-4, 6e4});
}

// psi(x) = log N - the sum of 1 / (x + k) for k <= N, in the limit; with the next three terms in
// 1 / N.
double DigammaReference(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (std::isinf(x)) return x > 0 ? x : NAN;
  if (x < 0 && x == std::round(x)) return NAN;
  constexpr int kTerms = 4000;
  const double n = x + kTerms;
  double sum = 0;
  for (int k = kTerms - 1; k >= 0; --k) sum += 1 / (x + k);
  return std::log(n) - 1 / (2 * n) - 1 / (12 * n * n) - sum;
}
double TrigammaReference(double x) {
  constexpr int kTerms = 4000;
  const double n = x + kTerms;
  double sum = 0;
  for (int k = kTerms - 1; k >= 0; --k) sum += 1 / ((x + k) * (x + k));
  return sum + 1 / n + 1 / (2 * n * n) + 1 / (6 * n * n * n);
}

FIRN_REGISTER_SAMPLES(digamma) {
  s.Function<Digamma>();
  AddFloatUnary(s, DigammaReference, BetweenPoles, {1, 2, 0.5, 10, 100, -1, -2, 1e-4});
}

FIRN_REGISTER_SAMPLES(sinc_grad) {
  s.Internal("the gradient of sinc");
  s.Reference([](double dy, double x) {
    if (std::abs(x) < 1e-3) return dy * x * -3.2898681336964529 * (1 - 0.98696044010893586 * x * x);
    const double angle = 3.14159265358979324 * std::remainder(x, 2);
    return dy * (std::cos(angle) - std::sin(angle) / (3.14159265358979324 * x)) / x;
  });
  AddGradient(s, Normal);
  s.Add("near 0, whole and far",
        {Values({1, 2, 1, 1, -1, 1, 3}), Values({0, 1e-4, 0.125, -0.0625, 1, 2, -100.5})});
}

FIRN_REGISTER_SAMPLES(digamma_grad) {
  s.Internal("the gradient of digamma");
  s.Reference([](double dy, double x) { return dy * TrigammaReference(x); });
  AddGradient(s, BetweenPoles);
}

}  // namespace
}  // namespace firn::testing
