#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCED_ELEMENTS_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCED_ELEMENTS_H_

// A second reduction, for the few results whose squares or powers left the range of the type that
// they were summed in although the result does not. It runs in double, one element at a time, on
// elements divided by a power of two near the largest.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/reduce.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/reduce_plan.h"

namespace firn::cpu {

// Sums of squares in T below this may lack what squares that became subnormal have lost.
template <class T>
inline constexpr double kLeastSum = std::is_same_v<T, double> ? 0x1p-969 : 0x1p-102;

// Calls f(begin, end) for parts of [0, n) in which a result may be below `least`, infinite or NaN.
// There are few, so a loop without branches tests all results first.
template <class Acc, class T, class F>
void ForEachPartOutside(const T* results, int64_t n, Acc least, const F& f) {
  constexpr int64_t kPart = 1 << 14;
  const auto ask = [&](int64_t begin, int64_t end) {
    unsigned outside = 0;
    for (int64_t j = begin; j < end; ++j) {
      const Acc v = static_cast<Acc>(results[j]);
      outside |= static_cast<unsigned>(!(v >= least)) |
                 static_cast<unsigned>(!(v <= std::numeric_limits<Acc>::max()));
    }
    if (outside != 0) [[unlikely]]
      f(begin, end);
  };
  if (n <= kPart) return ask(0, n);
  ParallelFor(n, kPart, ask);
}

// Calls f(v) for each of the elements of `x` that are reduced to result j, in double.
template <class T, class F>
void ForEachReduced(const ReducePlan& p, const T* x, int64_t j, const F& f) {
  const int64_t first =
      internal::Odometer(p.kept_sizes, p.kept_strides, p.kept_sizes.rank, j).offset();
  const int outer = p.reduced_sizes.rank - 1;
  const int64_t length = outer < 0 ? 1 : p.reduced_sizes[outer];
  const int64_t stride = outer < 0 ? 0 : p.reduced_strides[outer];
  internal::Odometer at(p.reduced_sizes, p.reduced_strides, outer < 0 ? 0 : outer, 0);
  for (int64_t run = 0; run < p.reduced; run += length, at.Next()) {
    const T* const from = x + first + at.offset();
    for (int64_t i = 0; i < length; ++i) {
      f(static_cast<double>(static_cast<ComputeOf<T>>(from[i * stride])));
    }
  }
}

// A sum that keeps what each addition loses (Neumaier, 1974).
class ExactSum {
 public:
  void Add(double v) {
    const double next = sum_ + v;
    lost_ += std::abs(sum_) >= std::abs(v) ? (sum_ - next) + v : (v - next) + sum_;
    sum_ = next;
  }
  double total() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// The sum of those that `for_each(f)` gives f over `divisor`, also where the sum exceeds a double:
// a power of two less than half a double's range is taken out of each number.
template <class ForEach>
double FarMeanOf(const ForEach& for_each, double divisor) {
  constexpr double kUnit = 0x1p-64;  // on numbers this large it costs no significant digits
  ExactSum sum;
  double plain = 0;  // right for infinities, which the exact sum turns to NaN
  for_each([&](double v) {
    sum.Add(v * kUnit);
    plain += v * kUnit;
  });
  const double total = sum.total();
  return (std::isfinite(total) ? total : plain) / divisor / kUnit;
}

// The largest |v| that `for_each(f)` gives f; infinite if there is a NaN.
template <class ForEach>
double LargestOf(const ForEach& for_each) {
  double top = 0;
  for_each([&](double v) {
    const double size = v != v ? std::numeric_limits<double>::infinity() : std::abs(v);
    top = size > top ? size : top;
  });
  return top;
}

// A power of two near 1 / top: a normal number, and its reciprocal another. Requires: top
// is finite and not 0.
inline double UnitFor(double top) {
  const int e = std::ilogb(top);
  return std::ldexp(1.0, e > 1022 ? -1022 : e < -1022 ? 1022 : -e);
}

// Mean and sum of squared deviations of `count` numbers times `unit`.
struct ScaledMoments {
  double unit, mean, squares;
  bool known;  // false: there are no numbers, or only zeros, or an infinity or NaN
};
// Around 0 where not `centred`.
template <class ForEach>
ScaledMoments ScaledMomentsOf(const ForEach& for_each, int64_t count, bool centred = true) {
  const double top = LargestOf(for_each);
  if (!(top > 0) || top > std::numeric_limits<double>::max()) return {1, 0, 0, false};
  const double unit = UnitFor(top);
  // Differences to the first number, so that equal numbers have no variance.
  ExactSum sum, squares;
  double first = 0;
  bool any = false;
  if (centred) {
    for_each([&](double v) {
      if (!any) first = v * unit;
      any = true;
      sum.Add(v * unit - first);
    });
  }
  const double mean = first + sum.total() / static_cast<double>(count);
  for_each([&](double v) {
    const double d = v * unit - mean;
    squares.Add(d * d);
  });
  return {unit, mean, squares.total(), true};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCED_ELEMENTS_H_
