#ifndef FIRN_TENSOR_DTYPE_H_
#define FIRN_TENSOR_DTYPE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "firn/device/enum_words.h"
#include "firn/device/half_bits.h"
#include "firn/device/macros.h"

namespace firn {

// The element types of a tensor. `kBool` is one byte, 0 or 1.
enum class DType : uint8_t { kF32, kF64, kF16, kBF16, kI8, kI32, kI64, kU8, kBool };
constexpr auto WordsOf(DType) {
  return inner::EnumWords<DType>({{DType::kF32, "f32"},
                                  {DType::kF64, "f64"},
                                  {DType::kF16, "f16"},
                                  {DType::kBF16, "bf16"},
                                  {DType::kI8, "i8"},
                                  {DType::kI32, "i32"},
                                  {DType::kI64, "i64"},
                                  {DType::kU8, "u8"},
                                  {DType::kBool, "bool"}});
}

namespace inner {
inline constexpr int kNumDTypes = 9;
}  // namespace inner

// IEEE binary16. Storage only: arithmetic happens in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Half(float v)  // NOLINT: implicit: kernels read like float's
      : bits(inner::internal::HalfBits(v)) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE operator float() const {
    return inner::internal::FloatOfHalfBits(bits);
  }
};

// The upper half of a float (8 bits of exponent, 7 of fraction), rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE BFloat16(float v)  // NOLINT: implicit, as Half
      : bits(inner::internal::BFloatBits(v)) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE operator float() const {
    return inner::internal::FloatOfBFloatBits(bits);
  }
};

namespace inner {
// A set of dtypes, as a bit mask: what an operation declares that it takes.
using DTypeSet = uint16_t;
constexpr DTypeSet SetOf(DType d) { return static_cast<DTypeSet>(1u << static_cast<unsigned>(d)); }
constexpr bool Contains(DTypeSet set, DType d) { return (set >> static_cast<unsigned>(d)) & 1u; }
inline constexpr DTypeSet kFloating =
    SetOf(DType::kF32) | SetOf(DType::kF64) | SetOf(DType::kF16) | SetOf(DType::kBF16);
inline constexpr DTypeSet kIntegral =
    SetOf(DType::kI8) | SetOf(DType::kI32) | SetOf(DType::kI64) | SetOf(DType::kU8);
inline constexpr DTypeSet kIndex = SetOf(DType::kI32) | SetOf(DType::kI64);
inline constexpr DTypeSet kBoolean = SetOf(DType::kBool);
inline constexpr DTypeSet kNumeric = kFloating | kIntegral;
inline constexpr DTypeSet kAnyDType = kNumeric | kBoolean;
}  // namespace inner

constexpr bool IsFloating(DType d) { return inner::Contains(inner::kFloating, d); }
constexpr bool IsIntegral(DType d) { return inner::Contains(inner::kIntegral, d); }

namespace inner {
inline constexpr int8_t kDTypeSizes[kNumDTypes] = {4, 8, 2, 2, 1, 4, 8, 1, 1};
}  // namespace inner
// In what elements of a floating dtype are computed: f32 for the half types, itself otherwise.
namespace inner {
constexpr DType ComputeDType(DType d) {
  return d == DType::kF16 || d == DType::kBF16 ? DType::kF32 : d;
}
}  // namespace inner
constexpr int64_t SizeOf(DType d) { return inner::kDTypeSizes[static_cast<int>(d)]; }

// "f32", "bool", ...; "?" for a number that is no dtype.
const char* DTypeName(DType d);
std::ostream& operator<<(std::ostream& os, DType d);

namespace inner {
// "f32, f64, f16 or bf16": for error messages.
std::string DTypeNames(DTypeSet set);
}  // namespace inner

// The dtype of the result of an operation on both (Tensor-Tensor promotion, PyTorch's table): the
// wider of one kind; a float wins over integers; bool loses to everything; f16 with bf16 gives f32;
// u8 with i8 gives i32 (PyTorch's i16 does not exist here).
DType Promote(DType a, DType b);

// The dtype of new floating tensors when none is given.
inline constexpr DType kDefaultFloat = DType::kF32;

template <class T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::kF16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::kBF16;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1 && std::is_signed_v<T>)
    return DType::kI8;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
    return DType::kU8;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return DType::kI32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return DType::kI64;
  else
    static_assert(!sizeof(T), "no tensor element type for this C++ type");
}

namespace inner {
template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of `d`. The one dtype switch; the others narrow it.
template <class F>
decltype(auto) VisitDType(DType d, F&& f) {
  switch (d) {
    case DType::kF64:
      return f(TypeTag<double>{});
    case DType::kF16:
      return f(TypeTag<Half>{});
    case DType::kBF16:
      return f(TypeTag<BFloat16>{});
    case DType::kI8:
      return f(TypeTag<int8_t>{});
    case DType::kI32:
      return f(TypeTag<int32_t>{});
    case DType::kI64:
      return f(TypeTag<int64_t>{});
    case DType::kU8:
      return f(TypeTag<uint8_t>{});
    case DType::kBool:
      return f(TypeTag<bool>{});
    case DType::kF32:
      break;
  }
  return f(TypeTag<float>{});
}

// Like VisitDType for the floating types. Requires: IsFloating(d), which Apply has checked.
template <class F>
decltype(auto) VisitFloat(DType d, F&& f) {
  switch (d) {
    case DType::kF64:
      return f(TypeTag<double>{});
    case DType::kF16:
      return f(TypeTag<Half>{});
    case DType::kBF16:
      return f(TypeTag<BFloat16>{});
    default:
      return f(TypeTag<float>{});
  }
}

// Like VisitDType for everything but bool. Requires: d is in kNumeric.
template <class F>
decltype(auto) VisitNumeric(DType d, F&& f) {
  switch (d) {
    case DType::kI8:
      return f(TypeTag<int8_t>{});
    case DType::kI32:
      return f(TypeTag<int32_t>{});
    case DType::kI64:
      return f(TypeTag<int64_t>{});
    case DType::kU8:
      return f(TypeTag<uint8_t>{});
    default:
      return VisitFloat(d, static_cast<F&&>(f));
  }
}

// Like VisitDType for i32 and i64. Requires: d is in kIndex.
template <class F>
decltype(auto) VisitIndex(DType d, F&& f) {
  if (d == DType::kI32) return f(TypeTag<int32_t>{});
  return f(TypeTag<int64_t>{});
}

// The type in which a kernel computes and accumulates: float for the half types, int64 for the
// integers and bool, else the type itself.
template <class T>
using AccumulatorOf =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                       std::conditional_t<std::is_integral_v<T>, int64_t, T>>;

// Like VisitDType for an input that may be wide (ArgDecl::or_wide) beside one of T. Requires: d is
// T's or AccumulatorOf<T>'s.
template <class T, class F>
decltype(auto) VisitOrWide(DType d, F&& f) {
  if (d != DTypeOf<T>()) return f(TypeTag<AccumulatorOf<T>>{});
  return f(TypeTag<T>{});
}
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_DTYPE_H_
