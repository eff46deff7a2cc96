#ifndef FIRN_TESTS_TENSOR_KERNELS_FLOAT_ERRORS_H_
#define FIRN_TESTS_TENSOR_KERNELS_FLOAT_ERRORS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "firn/tensor/kernels/math_base.h"

namespace firn::math {

// |got - want| in units of the last place of the float nearest to `want`.
inline double Ulps(float got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e30;
  const float nearest = static_cast<float>(want);
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got) return 0;
    const float size = std::abs(std::isinf(got) ? nearest : got);
    return size > 3.40282e38f ? 1 : 1e30;  // at the edge of overflow
  }
  int exponent;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent, -125) - 24);
}

// Whether this build merges products and sums: without -O2 compilers leave them apart.
inline bool Merges() {
  volatile double above = 1 + 0x1p-30, below = 1 - 0x1p-30;
  const double a = above, b = below;
  return a * b - 1.0 != 0;  // 2^-60, lost where the product is rounded first
}

// A sweep of all floats, and those around where functions change their ways.
inline std::vector<float> AllKindsOfFloats() {
  std::vector<float> x = {0.0f, -0.0f,     1.0f,       -1.0f,     kInf,          -kInf,
                          kNan, 0x1p-149f, -0x1p-149f, 0x1p-126f, 3.4028235e38f, -3.4028235e38f};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 15013) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float special :
       {-104.0f, -103.9f, -88.0f,      -87.3f, 88.72f, 89.0f, 9.1f,        -9.1f,
        0.9f,    0.55f,   0.7f,        0.5f,   1.0f,   -1.0f, 1.41421356f, 0.70710678f,
        20.0f,   17.3f,   3.14159265f, 10.05f, 3.92f,  -14.6f}) {
    float up = special, down = special;
    for (int i = 0; i < 50; ++i) {
      x.push_back(up = std::nextafter(up, kInf));
      x.push_back(down = std::nextafter(down, -kInf));
    }
  }
  return x;
}

}  // namespace firn::math

#endif  // FIRN_TESTS_TENSOR_KERNELS_FLOAT_ERRORS_H_
