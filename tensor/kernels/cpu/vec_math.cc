#include "firn/tensor/kernels/cpu/vec_math.h"

#include <cmath>
#include <numbers>

namespace firn::cpu::internal {
namespace {

// Uses the error function or, where its exponential loses digits, Laplace's continued fraction.
long double ScaledNormalTail(long double z) {
  constexpr long double kLastOfErfc = 5;
  constexpr long double kDensityAt0 = 0.398942280401432677939946059934381868L;
  constexpr int kSteps = 60;  // 2^-64 of the fraction's value from 5 on takes fewer
  if (z < kLastOfErfc) {
    return std::exp(0.5L * z * z) *
           (0.5L * std::erfc(z * (0.5L * std::numbers::sqrt2_v<long double>)));
  }
  long double rest = 0;
  for (int k = kSteps; k > 0; --k) rest = k / (z + rest);
  return kDensityAt0 / (z + rest);
}

}  // namespace

template <class T>
const Pieces<T>& NormalTail() {
  static const Pieces<T> pieces(ScaledNormalTail, T(1));
  return pieces;
}
template const Pieces<float>& NormalTail();
template const Pieces<double>& NormalTail();

const Pieces<float>& ErfOverItsArgument() {
  static const Pieces<float> pieces([](long double z) { return std::erf(z) / z; }, 2.0f);
  return pieces;
}

}  // namespace firn::cpu::internal
