#ifndef FIRN_TENSOR_KERNELS_CPU_PIECES_H_
#define FIRN_TENSOR_KERNELS_CPU_PIECES_H_

#include <cstdint>

#include "device/macros.h"
#include "device/own_flags.h"
#include "device/simd.h"
#include "device/simd_lookup.h"

namespace firn::cpu {

// A smooth function of floats from 0 up to 15 / scale, as a polynomial of degree 5 for each of 32
// pieces: eight as long as each other for 1 + scale z in [1, 2), eight twice as long up to 4, and
// so on. It costs neither a division nor more terms the wider the range is. Each polynomial is
// about the place near its piece's middle where the function's value is nearly a float, so that
// rounding this coefficient costs nothing (S. Gal and B. Bachelis, "An accurate elementary
// mathematical library for the IEEE floating point standard", 1991).
class Pieces {
 public:
  // Evaluates f, which must be right to about 2^-40, for arguments inside of the range.
  Pieces(double (*f)(double), float scale);

  // Any numbers beyond the range, NaN for NaN.
  FIRN_ALWAYS_INLINE Vec<float> operator()(Vec<float> z) const {
    using inner::internal::LookUp;
    const Vec<float> place = z * scale_ + 1.0f;
    const auto piece = reinterpret_cast<Vec<int32_t>>(place) >> 20;  // by exponent and three bits
    const Vec<float> v = z - LookUp(middle_, piece);
    Vec<float> y = LookUp(factors_[kDegree], piece);
#pragma GCC unroll 8
    for (int i = kDegree - 1; i >= 0; --i) y = LookUp(factors_[i], piece) + v * y;
    return y;
  }

 private:
  static constexpr int kDegree = 5;
  using Table = inner::internal::Table;

  float scale_;
  Table middle_, factors_[kDegree + 1];
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PIECES_H_
