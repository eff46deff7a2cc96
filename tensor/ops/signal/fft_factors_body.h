#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_FACTORS_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_FACTORS_BODY_H_

// The passes of a length, or of what is left of it after a first pass, whose roots of 1 stand in
// the order in which they are read.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/tensor/ops/signal/fft_passes_body.h"

namespace firn::cpu {

// The largest prime factor that is transformed by its definition.
inline constexpr int64_t kMostDirect = 47;

// The factors of n but for those larger than kMostDirect, primes first. Eights only where the
// numbers of one fit into the registers.
inline std::vector<int64_t> FactorsOf(int64_t n) {
  std::vector<int64_t> factors;
  const auto take = [&](int64_t factor) {
    for (; n % factor == 0; n /= factor) factors.push_back(factor);
  };
  for (int64_t factor = 11; factor <= kMostDirect; factor += 2) {
    if (factor % 3 != 0 && factor % 5 != 0 && factor % 7 != 0) take(factor);
  }
  take(7);
  take(5);
  take(3);
  size_t eights = 0;
  for (; kSimdBytes == 64 && n % 8 == 0 && n != 16; n /= 8) ++eights;
  take(4);
  take(2);
  factors.insert(factors.end(), eights, 8);
  return factors;
}

// Whether n has no larger prime factors.
inline bool IsSmooth(int64_t n) {
  for (const int64_t factor : FactorsOf(n)) n /= factor;
  return n == 1;
}

template <class T>
class FftPasses {
 public:
  FftPasses() = default;
  // Those of n numbers of which the passes before have put `done` together. Requires: IsSmooth(n).
  FftPasses(int64_t n, int64_t done) : n_(n), done_(done), factors_(FactorsOf(n / done)) {
    int64_t left = n / done;
    for (const int64_t factor : factors_) {
      if (!IsRadix(factor) && roots_.re.empty()) roots_ = Roots<T>(n, n);
      for (int64_t q = 0; q < left / factor; ++q) {
        for (int64_t k = 1; k < factor && left > factor; ++k) {
          const auto [c, s] = Roots<double>::CosSin(q * k, left);
          turns_.push_back(static_cast<T>(c));
          turns_.push_back(static_cast<T>(-s));
        }
      }
      left /= factor;
    }
  }

  size_t count() const { return factors_.size(); }
  // Multiplications of a line.
  double work() const {
    double passes = 1;
    for (const int64_t f : factors_) passes += IsRadix(f) ? 3 : static_cast<double>(f);
    return 4 * passes * static_cast<double>(n_);
  }
  // Which of two buffers has the result, where the passes begin in `a` and go to and fro.
  SplitComplex<T> Last(SplitComplex<T> a, SplitComplex<T> b) const {
    return count() % 2 == 0 ? a : b;
  }

  // Transforms `lanes` lines side by side from `a`, with `b` as scratch; the last pass writes
  // wherever `write` says, as which Last() may do.
  void Run(int64_t lanes, SplitComplex<T> a, SplitComplex<T> b, const ToSplit<T>& write) const;
  // The same for one line, of which write(t, a register of numbers) is called for numbers from t
  // on. Requires of a last pass with a radix of its own: a register's worth of numbers were put
  // together before it.
  template <class Write>
  void RunLong(SplitComplex<T> a, SplitComplex<T> b, const Write& write) const {
    const SplitComplex<T> x = RunButLast(1, a, b), y = x.re == a.re ? b : a;
    const int64_t radix = factors_.back(), width = n_ / radix;
    if (!IsRadix(radix)) return RunLastPrime(x, y, width, width, write);
    WithRadix(radix, [&](auto constant) {
      Pass<constant(), false, Vec<T>>(x, 1, width, static_cast<const T*>(nullptr), write);
    });
  }
  void RunLong(SplitComplex<T> a, SplitComplex<T> b, const ToSplit<T>& write) const {
    Run(1, a, b, write);
  }

 private:
  static bool IsRadix(int64_t factor) { return factor <= 5 || factor == 7 || factor == 8; }

  // Calls f(radix as a constant).
  template <class F>
  static void WithRadix(int64_t factor, const F& f) {
    switch (factor) {
      case 2:
        return f(std::integral_constant<int, 2>());
      case 3:
        return f(std::integral_constant<int, 3>());
      case 4:
        return f(std::integral_constant<int, 4>());
      case 5:
        return f(std::integral_constant<int, 5>());
      case 7:
        return f(std::integral_constant<int, 7>());
      default:
        return f(std::integral_constant<int, 8>());
    }
  }
  // Calls f(radix as a constant, a value of the largest type that a piece has room for).
  template <class F>
  static void WithRadixAndType(int64_t factor, int64_t width, const F& f) {
    WithRadix(factor, [&](auto radix) {
      constexpr int64_t kLanes = kSimdLanes<T>;
      if (width >= kLanes) return f(radix, Vec<T>());
      if constexpr (kLanes >= 4) {
        if (width >= kLanes / 2) return f(radix, Part<2>());
      }
      if constexpr (kLanes >= 8) {
        if (width >= kLanes / 4) return f(radix, Part<4>());
      }
      f(radix, T());
    });
  }
  template <int kParts>
  struct PartOf {
    typedef T type __attribute__((vector_size(kSimdBytes / kParts)));
  };
  template <int kParts>
  using Part = typename PartOf<kParts>::type;

  // All passes but the last one: gives which of both has the result. Requires: there is a last one.
  SplitComplex<T> RunButLast(int64_t lanes, SplitComplex<T> a, SplitComplex<T> b) const;

  template <class Write>
  void RunLastPrime(SplitComplex<T> a, SplitComplex<T> b, int64_t width, int64_t done,
                    const Write& write) const {
    const int64_t radix = factors_.back();
    PassOfPrime(radix, a, b, 1, width, done, roots_);
    Copy(b, radix * width, write);
  }

  template <class Write>
  static void Copy(SplitComplex<T> a, int64_t count, const Write& write) {
    for (int64_t t = 0; t < count; ++t) write(t, Number<T>{a.re[t], a.im[t]});
  }

  int64_t n_ = 1, done_ = 1;
  std::vector<int64_t> factors_;
  std::vector<T> turns_;  // of each pass [q][k - 1] (Pass), but for the last one, which has none
  Roots<T> roots_;        // of n, where a factor is a prime without a pass of its own
};

template <class T>
void FftPasses<T>::Run(int64_t lanes, SplitComplex<T> a, SplitComplex<T> b,
                       const ToSplit<T>& write) const {
  if (factors_.empty()) return Copy(a, n_ * lanes, write);
  const SplitComplex<T> x = RunButLast(lanes, a, b), y = x.re == a.re ? b : a;
  const int64_t radix = factors_.back(), done = n_ / radix, width = done * lanes;
  if (!IsRadix(radix)) return RunLastPrime(x, y, width, done, write);
  WithRadixAndType(radix, width, [&]<class V>(auto constant, V) {
    Pass<constant(), false, V>(x, 1, width, static_cast<const T*>(nullptr), write);
  });
}

template <class T>
SplitComplex<T> FftPasses<T>::RunButLast(int64_t lanes, SplitComplex<T> a,
                                         SplitComplex<T> b) const {
  int64_t left = n_ / done_, done = done_;
  const T* turns = turns_.data();
  for (size_t i = 0; i + 1 < count(); ++i) {
    const int64_t factor = factors_[i], groups = left / factor, width = done * lanes;
    if (IsRadix(factor)) {
      WithRadixAndType(factor, width, [&]<class V>(auto radix, V) {
        Pass<radix(), true, V>(a, groups, width, turns, ToSplit<T>{b});
      });
    } else {
      PassOfPrime(factor, a, b, groups, width, done, roots_);
    }
    turns += 2 * groups * (factor - 1);
    left = groups;
    done *= factor;
    std::swap(a, b);
  }
  return a;
}

// In fft_passes_f32.cc and fft_passes_f64.cc.
extern template class FftPasses<float>;
extern template class FftPasses<double>;

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_FACTORS_BODY_H_
