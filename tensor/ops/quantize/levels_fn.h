#ifndef FIRN_TENSOR_OPS_QUANTIZE_LEVELS_FN_H_
#define FIRN_TENSOR_OPS_QUANTIZE_LEVELS_FN_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/quantize/levels.h"

namespace firn {

// x rounded to an integer, halves away from 0.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T RoundAway(T x) {
  const T whole = std::trunc(x);
  return std::abs(x - whole) >= T(0.5) ? whole + std::copysign(T(1), x) : whole;
}

// PowerOfTwo for x >= 0: the bits of x's exponent alone are the power below it, and 0 for numbers
// without such bits.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float PowerOfTwoAt(float x, float up) {
  const float low = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7f800000u);
  const float power = x >= up * low ? low + low : low;
  return x != x ? x : power;
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double PowerOfTwoAt(double x, double up) {
  const double low =
      std::bit_cast<double>(std::bit_cast<uint64_t>(x) & uint64_t{0x7ff0000000000000});
  const double power = x >= up * low ? low + low : low;
  return x != x ? x : power;
}

struct PowerOfTwoFn : PowerOfTwoAttrs {
  using Brief = void;
  using Attrs = PowerOfTwoAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return PowerOfTwoAt(std::abs(x), static_cast<T>(up));
  }
};

// 2^n, exactly.
inline double PowerOf2(int64_t n) { return std::pow(2.0, static_cast<double>(n)); }

struct FixedPointFn {
  using Brief = void;
  using Attrs = FixedPointAttrs;
  explicit FixedPointFn(const FixedPointAttrs& a)
      : delta(a.delta), most(PowerOf2(a.sign ? a.n - 1 : a.n) - 1), least(a.sign ? -most : 0) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T d = static_cast<T>(delta), low = static_cast<T>(least), high = static_cast<T>(most);
    const T steps = RoundAway(x / d);
    const T raised = steps < low ? low : steps;
    return (raised > high ? high : raised) * d;
  }
  double delta, most, least;  // in steps
};

struct Pow2Fn {
  using Brief = void;
  using Attrs = Pow2Attrs;
  explicit Pow2Fn(const Pow2Attrs& a)
      : sign(a.sign),
        with_zero(a.with_zero),
        most(PowerOf2(a.m)),
        least(PowerOf2(a.m + 1 - (int64_t{1} << bits(a)))),
        below(a.with_zero ? 0 : least) {}
  static int64_t bits(const Pow2Attrs& a) { return a.n - (a.sign ? 1 : 0) - (a.with_zero ? 1 : 0); }
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    constexpr T kRoot2 = T(1.4142135623730951);
    const T size = std::abs(x), low = static_cast<T>(least), high = static_cast<T>(most);
    const T under = size * kRoot2 < low ? static_cast<T>(below) : low;
    const T small = size < low ? under : PowerOfTwoAt(size, kRoot2);
    const T q = small > high ? high : small;
    const T negative = sign ? -q : static_cast<T>(below);
    return x < T(0) ? negative : q;
  }
  bool sign, with_zero;
  double most, least, below;  // the powers, and what is smaller
};

// dy within the range of pow2_quantize.
struct Pow2GradFn {
  using Brief = void;
  using Attrs = Pow2Attrs;
  explicit Pow2GradFn(const Pow2Attrs& a)
      : limit(1.4142135623730951 * PowerOf2(a.m)), low(a.sign ? -limit : 0) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T high = static_cast<T>(limit), least = static_cast<T>(low);
    const bool above = low < 0 ? x > least : x >= least;
    return (above & (x < high)) ? dy : T(0);
  }
  double limit, low;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_LEVELS_FN_H_
