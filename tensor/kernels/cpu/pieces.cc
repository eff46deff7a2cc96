#include "firn/tensor/kernels/cpu/pieces.h"

#include <cmath>
#include <numbers>

namespace firn::cpu {
namespace {

// The polynomial in v with f's values at middle + v for the Chebyshev nodes v of [-half, half], by
// divided differences.
template <int kTerms>
void Interpolate(long double (*f)(long double), long double middle, long double half,
                 long double* factors) {
  long double node[kTerms], difference[kTerms];
  for (int i = 0; i < kTerms; ++i) {
    node[i] = half * std::cos(std::numbers::pi_v<long double> * (i + 0.5L) / kTerms);
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

// Among two hundred numbers of T from `middle` on, the one at which f is nearest to a T.
template <class T>
T WhereNearlyRound(long double (*f)(long double), long double middle) {
  constexpr int kTries = 200;
  auto at = static_cast<T>(middle), best = at;
  long double least = 1;
  for (int i = 0; i < kTries; ++i, at = std::nextafter(at, 2 * at)) {
    const long double y = f(static_cast<long double>(at));
    const long double lost =
        std::abs(static_cast<long double>(static_cast<T>(y)) - y) / std::abs(y);
    if (lost < least) {
      least = lost;
      best = at;
    }
  }
  return best;
}

}  // namespace

template <class T>
Pieces<T>::Pieces(long double (*f)(long double), T scale) : scale_(scale) {
  constexpr int kSize = inner::internal::kTableSize<T>, kLanes = static_cast<int>(kSimdLanes<T>);
  constexpr int kAlike = 1 << kBits;                  // pieces of one length
  constexpr int kBias = kFloats ? 127 : 1023;         // the exponent's bias
  const auto unit = static_cast<long double>(scale);  // exact, and one division for both
  for (int i = 0; i < kSize; ++i) {
    const long double length = std::ldexp(1.0L / kAlike, i / kAlike);
    const long double first =
        std::ldexp(1.0L + i % kAlike / static_cast<long double>(kAlike), i / kAlike);
    const long double half = 0.5L * length / unit;
    const T middle = WhereNearlyRound<T>(f, (first - 1) / unit + half);
    long double factors[kDegree + 1];
    Interpolate<kDegree + 1>(f, static_cast<long double>(middle), half, factors);
    const int at = (i + (kBias << kBits)) % kSize;
    middle_.lanes[at / kLanes][at % kLanes] = middle;
    for (int j = 0; j <= kDegree; ++j) {
      factors_[j].lanes[at / kLanes][at % kLanes] = static_cast<T>(factors[j]);
    }
  }
}

template class Pieces<float>;
template class Pieces<double>;

}  // namespace firn::cpu
