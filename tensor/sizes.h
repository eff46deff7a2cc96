#ifndef FIRN_TENSOR_SIZES_H_
#define FIRN_TENSOR_SIZES_H_

#include <concepts>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "firn/device/arguments.h"

namespace firn {

// An option of an operation on images with a number for each spatial dimension: a kernel, a stride,
// a padding. One to three numbers, the outermost dimension first (depth, height, width); a single
// number applies to every dimension. No numbers ({}) mean that the option is not given. A value
// type: thread-compatible.
//
//   MaxPool2d(x, {.kernel = 3, .stride = {2, 1}});
class Sizes {
 public:
  static constexpr int kMost = 3;

  Sizes() = default;  // none
  template <inner::internal::IntegerArgument T>
  Sizes(T every)  // NOLINT: implicit, as in {.kernel = 3}
      : numbers_{static_cast<int64_t>(every)}, count_(1) {}
  template <inner::internal::FlagArgument T>
  Sizes(T a_flag_is_no_size) = delete;
  template <std::floating_point T>
  Sizes(T a_fraction_is_no_size) = delete;
  Sizes(int64_t h, int64_t w) : numbers_{h, w}, count_(2) {}
  Sizes(int64_t d, int64_t h, int64_t w) : numbers_{d, h, w}, count_(3) {}
  // Throws firn::Error for more than three numbers.
  explicit Sizes(absl::Span<const int64_t> numbers);
  // `value` for each of up to three dimensions.
  static Sizes Each(int dims, int64_t value) {
    Sizes s(value, value, value);
    s.count_ = dims;
    return s;
  }

  // The numbers there are: 0 to 3.
  int count() const { return count_; }
  absl::Span<const int64_t> span() const { return {numbers_, static_cast<size_t>(count_)}; }
  // The number of a dimension, counted from the outermost. Requires: Fits a number of dimensions
  // beyond i.
  int64_t operator[](int i) const { return numbers_[count_ == 1 ? 0 : i]; }
  // Requires: i < count().
  void set(int i, int64_t value) { numbers_[i] = value; }

  // Whether there are numbers; and these numbers, or those of `standard` if there are none, for
  // options whose default is another option.
  bool given() const { return count_ > 0; }
  Sizes Or(const Sizes& standard) const { return given() ? *this : standard; }

  // Whether there is a number for each of `dims` dimensions.
  bool Fits(int dims) const { return count_ == 1 || (count_ == dims && dims > 0); }
  // A number for each dimension. Requires: Fits(dims).
  Sizes Over(int dims) const {
    if (count_ == dims) return *this;
    return Each(dims, numbers_[0]);
  }
  // The same for more dimensions; the outer ones get `first`.
  Sizes Lifted(int dims, int64_t first) const {
    Sizes s = Each(dims, first);
    for (int i = 0; i < count_; ++i) s.numbers_[dims - count_ + i] = numbers_[i];
    return s;
  }
  // Whether all numbers are `value`, as they are where there is none.
  bool Are(int64_t value) const {
    for (int i = 0; i < count_; ++i) {
      if (numbers_[i] != value) return false;
    }
    return true;
  }
  // The product of the numbers.
  int64_t volume() const {
    int64_t product = 1;
    for (int i = 0; i < count_; ++i) product *= numbers_[i];
    return product;
  }

  // "3", "(2, 1)"; "()" for none.
  std::string ToString() const;

  // The same numbers: 3 is not (3, 3).
  friend bool operator==(const Sizes& a, const Sizes& b) { return a.span() == b.span(); }

 private:
  int64_t numbers_[kMost] = {};
  int32_t count_ = 0;
};

}  // namespace firn

#endif  // FIRN_TENSOR_SIZES_H_
