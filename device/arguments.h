#ifndef FIRN_DEVICE_ARGUMENTS_H_
#define FIRN_DEVICE_ARGUMENTS_H_

// Types of parameters that take only the kind of value that their name says. C++ converts a bool to
// a number and a number to a bool without a warning, so that Mean(x, 2, 3) would keep dimensions
// and Dropout(x, true) would drop everything. A parameter of one of these types refuses the other
// kind while the program is compiled; inside of the function it is used like the plain type. They
// cost nothing: a word in a register.

#include <cstdint>
#include <type_traits>

namespace firn::inner {

class Flag;

// This header uses little of the standard library, because kernels that are compiled at run time
// include it.
namespace internal {

template <class T, class To>
concept Becomes = requires(const T& v, void (&take)(To)) {
  take(v);
};

// A bool, or a class that becomes one unasked: std::true_type, an element of std::vector<bool>.
template <class T>
concept FlagArgument = std::is_same_v<T, bool> ||
    (!std::is_same_v<T, Flag> && Becomes<T, bool> && requires(const T& v) { v.operator bool(); });

template <class T>
concept PlainInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Enums without a scope, and classes that hold an integer such as std::integral_constant, count.
template <class T>
concept IntegerArgument = PlainInteger<T> ||(__is_enum(T) && Becomes<T, int64_t>) ||
                          (PlainInteger<typename T::value_type> &&
                           Becomes<T, typename T::value_type>);

// Half, BFloat16 and Integer are classes that are numbers.
template <class T>
concept RealArgument = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) ||
                       (!std::is_arithmetic_v<T> && !FlagArgument<T> && !std::is_same_v<T, Flag> &&
                        Becomes<T, double>);

}  // namespace internal

// A bool, or what becomes one.
class Flag {
 public:
  using Plain = bool;
  template <internal::FlagArgument T>
  constexpr Flag(T on) : on_(on) {}  // NOLINT: implicit, as are all below
  template <internal::RealArgument T>
  Flag(T a_number_is_no_flag) = delete;
  constexpr operator bool() const { return on_; }  // NOLINT

 private:
  bool on_;
};

// An integer of any width. Flags and floating-point numbers do not compile.
class Integer {
 public:
  using Plain = int64_t;
  template <internal::IntegerArgument T>
  constexpr Integer(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT
  template <internal::FlagArgument T>
  Integer(T a_flag_is_no_number) = delete;
  template <class T>
  requires std::is_floating_point_v<T> Integer(T a_fraction_is_no_integer)
  = delete;
  constexpr operator int64_t() const { return value_; }  // NOLINT

 private:
  int64_t value_;
};

// A real number, from any type of number. Flags do not compile.
class Real {
 public:
  using Plain = double;
  template <internal::RealArgument T>
  constexpr Real(T value) : value_(static_cast<double>(value)) {}  // NOLINT
  template <internal::FlagArgument T>
  Real(T a_flag_is_no_number) = delete;
  constexpr operator double() const { return value_; }  // NOLINT

 private:
  double value_;
};

}  // namespace firn::inner

#endif  // FIRN_DEVICE_ARGUMENTS_H_
