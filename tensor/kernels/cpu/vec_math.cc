#include "tensor/kernels/cpu/vec_math.h"

#include <cmath>
#include <numbers>

namespace firn::cpu::internal {
namespace {

double ScaledNormalTail(double z) {
  return std::exp(0.5 * z * z) * (0.5 * std::erfc(z * (0.5 * std::numbers::sqrt2)));
}

}  // namespace

const Pieces& NormalTail() {
  static const Pieces pieces(ScaledNormalTail, 1.0f);
  return pieces;
}
const Pieces& ErfOverItsArgument() {
  static const Pieces pieces([](double z) { return std::erf(z) / z; }, 2.0f);
  return pieces;
}

}  // namespace firn::cpu::internal
