#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_ARITHMETIC_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_ARITHMETIC_FN_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn {

struct AddFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x + y);
  }
};

struct AddScaledFn {
  using Brief = void;
  double alpha;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x + static_cast<T>(alpha) * y);
  }
};

// With alpha = 1 the product changes nothing, so one functor is enough for all calls.
struct AddAnyFn : AddScaledFn {
  using Attrs = AddAttrs;
  explicit AddAnyFn(const AddAttrs& a) : AddScaledFn{a.alpha} {}
};

// The sum of the first `count` of four.
struct AddSomeFn {
  using Brief = void;
  int count;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T a, T b, T c, T d) const {
    T sum = a;
    sum = count > 1 ? static_cast<T>(sum + b) : sum;
    sum = count > 2 ? static_cast<T>(sum + c) : sum;
    return count > 3 ? static_cast<T>(sum + d) : sum;
  }
};

struct AddThreeFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T a, T b, T c) const {
    return static_cast<T>(static_cast<T>(a + b) + c);
  }
};

struct SubFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x - y);
  }
};

struct SubScaledFn {
  using Brief = void;
  using Attrs = SubAttrs;
  explicit SubScaledFn(const SubAttrs& a) : alpha(a.alpha) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x - static_cast<T>(static_cast<int64_t>(alpha)) * y);
    } else {
      return x - static_cast<T>(alpha) * y;
    }
  }
  double alpha;
};

struct MulFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x * y);
  }
};

struct DivFn {
  using Brief = void;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return x / y;
  }
};

// For integers; requires y != 0. -2^(n - 1) / -1 wraps around, where the machine's division would
// trap.
struct DivTruncFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return std::is_signed_v<T> && y == static_cast<T>(-1) ? static_cast<T>(-x)
                                                            : static_cast<T>(x / y);
    } else {
      return std::trunc(x / y);
    }
  }
};

struct DivFloorFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      const T q = DivTruncFn()(x, y);
      const bool inexact = static_cast<T>(q * y) != x;
      return static_cast<T>(q - (inexact && (x < T{0}) != (y < T{0}) ? 1 : 0));
    } else {
      return OfFmod(x, y, math::Fmod(x, y));
    }
  }
  template <class T>
  requires std::is_floating_point_v<T> FIRN_HOST_DEVICE bool IsRare(T x, T y) const {
    return math::internal::HasRareQuotient(x, y);
  }
  template <class T>
  FIRN_HOST_DEVICE T Usual(T x, T y) const {
    return OfFmod(x, y, math::internal::FmodOfUsualQuotient(x, y));
  }
  // Python's rule, by the remainder: floor(x / y) is off by one where x / y rounds up to a whole
  // number.
  template <class T>
  FIRN_HOST_DEVICE static T OfFmod(T x, T y, T remainder) {
    const T q = (x - remainder) / y;
    const bool apart = (remainder != T(0)) & ((y < T(0)) != (remainder < T(0)));
    const T lower = math::Select(apart, q - T(1), q), whole = std::floor(lower);
    const T nearest = math::Select(lower - whole > T(0.5), whole + T(1), whole);
    const T result = math::Select(lower == T(0), std::copysign(T(0), x / y), nearest);
    return math::Select(y == T(0), x / y, result);
  }
};

struct AddcmulFn : AddcmulAttrs {
  using Brief = void;
  using Attrs = AddcmulAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y, T z) const {
    return x + static_cast<T>(value) * (y * z);
  }
};

struct AddcdivFn : AddcmulAttrs {
  using Brief = void;
  using Attrs = AddcmulAttrs;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y, T z) const {
    return x + static_cast<T>(value) * (y / z);
  }
};

// For devices, where the rounding is a number of the call. Integers are not searched for zeros,
// because the host would have to wait: an integer divided by 0 is 0.
struct DivAnyFn {
  using Attrs = DivAttrs;
  explicit DivAnyFn(const DivAttrs& a) : rounding(a.rounding) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y == T{0}) return T{0};
    } else {
      if (rounding == DivRounding::kNone) return DivFn()(x, y);
    }
    return rounding == DivRounding::kTrunc ? DivTruncFn()(x, y) : DivFloorFn()(x, y);
  }
  DivRounding rounding;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_ARITHMETIC_FN_H_
