#ifndef FIRN_TENSOR_NUMBER_H_
#define FIRN_TENSOR_NUMBER_H_

#include <cstdint>
#include <type_traits>

#include "firn/device/arguments.h"

namespace firn::inner {

// A number that goes with a tensor of any dtype, such as the alpha of Add. It is made from any type
// of number and keeps integers exactly, where a double would round those from 2^53 on; a flag is
// not a number (see device/arguments.h). Thread-safe like an int.
class Number {
 public:
  constexpr Number() = default;
  template <internal::FlagArgument T>
  Number(T a_flag_is_no_number) = delete;
  template <internal::RealArgument T>
  constexpr Number(T v)  // NOLINT: implicit on purpose
      : value_(static_cast<double>(v)) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(int64_t)) {
      rest_ = static_cast<int64_t>(static_cast<uint64_t>(v) - Wrapped(value_));
    }
  }

  // The nearest double.
  constexpr double value() const { return value_; }
  // Whether it equals value(), as small integers do.
  constexpr bool is_double() const { return rest_ == 0; }
  // The integer that it was made from, or, for an unsigned one from 2^63 on, the largest int64_t.
  // Requires: !is_double().
  constexpr int64_t integer() const {
    const uint64_t bits = Wrapped(value_) + static_cast<uint64_t>(rest_);
    if (value_ < 0 || bits <= static_cast<uint64_t>(INT64_MAX)) return static_cast<int64_t>(bits);
    return INT64_MAX;
  }

  friend constexpr bool operator==(const Number&, const Number&) = default;
  // Exact, too, since rounding keeps the order. False where one is NaN.
  friend constexpr bool operator<=(const Number& a, const Number& b) {
    return a.value_ < b.value_ || (a.value_ == b.value_ && a.rest_ <= b.rest_);
  }

  // Shown as two fields of an operation's attributes; files that have only the first mean a double.
  template <class V>
  void Visit(V& v, const char* name, const char* rest) {
    v.Field(name, value_);
    v.Field(rest, rest_);
  }

 private:
  // A whole number modulo 2^64; 0 for a number that is not whole or lies beyond the integers.
  static constexpr uint64_t Wrapped(double v) {
    if (!(v >= -0x1p63 && v <= 0x1p64)) return 0;
    if (v < 0) return static_cast<uint64_t>(static_cast<int64_t>(v));
    return v < 0x1p63 ? static_cast<uint64_t>(v) : static_cast<uint64_t>(v - 0x1p63) + (1ull << 63);
  }

  double value_ = 0;
  int64_t rest_ = 0;  // the integer minus value_
};

// The value of a tensor's elements: a number, or for a bool tensor a flag.
class Element : public Number {
 public:
  using Number::Number;
  constexpr Element(const Number& v) : Number(v) {}  // NOLINT
  template <internal::FlagArgument T>
  constexpr Element(T v) : Number(v ? 1 : 0) {}  // NOLINT
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_NUMBER_H_
