#include "tensor/kernels/cpu/pieces.h"

#include <cmath>
#include <numbers>

namespace firn::cpu {
namespace {

constexpr int kTerms = 6;

// The polynomial in v with f's values at middle + v for the Chebyshev nodes v of [-half, half], by
// divided differences.
void Interpolate(double (*f)(double), double middle, double half, double* factors) {
  double node[kTerms], difference[kTerms];
  for (int i = 0; i < kTerms; ++i) {
    node[i] = half * std::cos(std::numbers::pi * (i + 0.5) / kTerms);
    difference[i] = f(middle + node[i]);
  }
  for (int j = 1; j < kTerms; ++j) {
    for (int i = kTerms - 1; i >= j; --i) {
      difference[i] = (difference[i] - difference[i - 1]) / (node[i] - node[i - j]);
    }
  }
  for (int i = 0; i < kTerms; ++i) factors[i] = 0;
  for (int j = kTerms - 1; j >= 0; --j) {  // times v - node[j], plus difference[j]
    for (int i = kTerms - 1; i > 0; --i) factors[i] = factors[i - 1] - node[j] * factors[i];
    factors[0] = difference[j] - node[j] * factors[0];
  }
}

// Of two hundred floats from `middle` on, that whose value is nearest to a float.
float WhereNearlyAFloat(double (*f)(double), double middle) {
  constexpr int kTries = 200;
  auto at = static_cast<float>(middle), best = at;
  double least = 1;
  for (int i = 0; i < kTries; ++i, at = std::nextafter(at, 2 * at)) {
    const double y = f(static_cast<double>(at));
    const double lost = std::abs(static_cast<double>(static_cast<float>(y)) - y) / std::abs(y);
    if (lost < least) {
      least = lost;
      best = at;
    }
  }
  return best;
}

}  // namespace

Pieces::Pieces(double (*f)(double), float scale) : scale_(scale) {
  using inner::internal::kTableSize;
  constexpr int kLanes = static_cast<int>(kSimdLanes<float>);
  static_assert(kTerms == kDegree + 1);
  for (int i = 0; i < kTableSize; ++i) {
    const double first = std::ldexp(1 + i % 8 / 8.0, i / 8), length = std::ldexp(1 / 8.0, i / 8);
    const double half = 0.5 * length / static_cast<double>(scale);
    const float middle = WhereNearlyAFloat(f, (first - 1) / static_cast<double>(scale) + half);
    double factors[kTerms];
    Interpolate(f, static_cast<double>(middle), half, factors);
    const int at = (i + (127 << 3)) % kTableSize;  // the exponent's bits come with their bias
    middle_.lanes[at / kLanes][at % kLanes] = middle;
    for (int j = 0; j < kTerms; ++j) {
      factors_[j].lanes[at / kLanes][at % kLanes] = static_cast<float>(factors[j]);
    }
  }
}

}  // namespace firn::cpu
