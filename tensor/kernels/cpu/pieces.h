#ifndef FIRN_TENSOR_KERNELS_CPU_PIECES_H_
#define FIRN_TENSOR_KERNELS_CPU_PIECES_H_

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/device/simd_lookup.h"

namespace firn::cpu {

// A smooth function of numbers from 0 up to 15 / scale (floats) or 255 / scale (doubles), as a
// polynomial for each of some pieces: for floats eight of one length for 1 + scale z in [1, 2),
// eight twice as long up to 4, and so on; for doubles two each. It needs no division, and no more
// terms for a wider range. Each polynomial is about the place near its piece's middle where the
// function's value is nearly a T, so that rounding this coefficient costs nothing (S. Gal and B.
// Bachelis, "An accurate elementary mathematical library for the IEEE floating point standard",
// 1991).
template <class T>
class Pieces {
 public:
  // Evaluates f, which must be accurate to some bits more than T has, for arguments inside of the
  // range.
  Pieces(long double (*f)(long double), T scale);

  // The function's values; any numbers beyond the range, NaN for NaN.
  FIRN_ALWAYS_INLINE Vec<T> operator()(Vec<T> z) const {
    const At at = Find(z);
    return LookUp(factors_[0], at.piece) + at.v * Slope(at);
  }
  // The same with the rounding error of the last sum.
  struct Sum {
    Vec<T> high, low;
  };
  FIRN_ALWAYS_INLINE Sum Unrounded(Vec<T> z) const {
    const At at = Find(z);
    const Vec<T> first = LookUp(factors_[0], at.piece), slope = Slope(at);
    const Vec<T> high = first + at.v * slope;
    return {high, (first - high) + at.v * slope};
  }

 private:
  static constexpr bool kFloats = sizeof(T) == 4;
  static constexpr int kDegree = kFloats ? 5 : 17;
  static constexpr int kBits = kFloats ? 3 : 1;  // of the significand, which tell pieces apart
  static constexpr int kSignificand = kFloats ? 23 : 52;
  using Bits = inner::internal::IntOf<T>;
  using Table = inner::internal::Table<T>;

  struct At {
    Vec<Bits> piece;
    Vec<T> v;  // from its middle
  };
  FIRN_ALWAYS_INLINE At Find(Vec<T> z) const {
    const Vec<T> place = z * scale_ + T(1);
    const auto piece = reinterpret_cast<Vec<Bits>>(place) >> (kSignificand - kBits);
    return {piece, z - LookUp(middle_, piece)};
  }
  // The polynomial without its first term, over v.
  FIRN_ALWAYS_INLINE Vec<T> Slope(const At& at) const {
    Vec<T> y = LookUp(factors_[kDegree], at.piece);
#pragma GCC unroll 32
    for (int i = kDegree - 1; i > 0; --i) y = LookUp(factors_[i], at.piece) + at.v * y;
    return y;
  }

  T scale_;
  Table middle_, factors_[kDegree + 1];
};

extern template class Pieces<float>;
extern template class Pieces<double>;

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PIECES_H_
