#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_LINE_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_LINE_BODY_H_

// A line alone: registers go along it. The first pass puts as many numbers together as a register
// has, or a half or a fourth of them, and leaves the results of a transform side by side, so that
// the passes after it have whole registers to work on (fft_factors_body.h).

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/device/simd_transpose.h"
#include "firn/tensor/ops/signal/fft_factors_body.h"

namespace firn::cpu {

// --- Where lines come from and go to -------------------------------------------------------------
// Numbers t and those after it, as many as V has. kExchanged: real parts for imaginary ones.

template <class T>
struct FromSplit {
  SplitComplex<T> from;
  template <class V>
  FIRN_ALWAYS_INLINE Number<V> At(int64_t t) const {
    return {LoadNumbers<V>(from.re + t), LoadNumbers<V>(from.im + t)};
  }
};

// Elements at even (0) or odd (1) places of a and b.
template <int kOdd, class Row, size_t... I>
FIRN_ALWAYS_INLINE Row EverySecond(const Row& a, const Row& b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * static_cast<int>(I) + kOdd)...);
}
template <class T, size_t... I>
FIRN_ALWAYS_INLINE Vec<T> Backwards(const Vec<T>& a, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, a, (static_cast<int>(sizeof...(I) - 1 - I))...);
}
template <class T>
inline constexpr std::make_index_sequence<kSimdLanes<T>> kEachLane;

template <class T, bool kExchanged = false>
struct FromPairs {
  const T* x;
  template <class V>
  FIRN_ALWAYS_INLINE Number<V> At(int64_t t) const {
    constexpr std::make_index_sequence<sizeof(V) / sizeof(T)> kLanes;
    V even = LoadNumbers<V>(x + 2 * t), odd = LoadNumbers<V>(x + 2 * t + kLanes.size());
    if constexpr (kLanes.size() > 1) {
      const V a = even, b = odd;
      even = EverySecond<0>(a, b, kLanes);
      odd = EverySecond<1>(a, b, kLanes);
    }
    return kExchanged ? Number<V>{odd, even} : Number<V>{even, odd};
  }
};

template <class T, bool kExchanged = false>
struct ToPairs {
  T* y;
  T factor;
  template <class V>
  FIRN_ALWAYS_INLINE void operator()(int64_t t, const Number<V>& z) const {
    const V re = factor * (kExchanged ? z.im : z.re), im = factor * (kExchanged ? z.re : z.im);
    if constexpr (sizeof(V) == sizeof(T)) {
      y[2 * t] = re;
      y[2 * t + 1] = im;
    } else {
      constexpr std::make_index_sequence<sizeof(V) / sizeof(T)> kLanes;
      const V first = inner::internal::Interleave<0>(re, im, kLanes);
      const V second = inner::internal::Interleave<1>(re, im, kLanes);
      std::memcpy(y + 2 * t, &first, sizeof(V));
      std::memcpy(y + 2 * t + kLanes.size(), &second, sizeof(V));
    }
  }
};

// Products with other numbers.
template <class T>
struct ToProducts {
  SplitComplex<T> to;
  const T *re, *im;
  template <class V>
  FIRN_ALWAYS_INLINE void operator()(int64_t t, const Number<V>& x) const {
    ToSplit<T>{to}(t, x * Number<V>{LoadNumbers<V>(re + t), LoadNumbers<V>(im + t)});
  }
};

// --- The transform -------------------------------------------------------------------------------

template <class T>
class LineFft {
  static constexpr int kLanes = static_cast<int>(kSimdLanes<T>);

 public:
  // The factor of n that the first pass takes, or 0 where there is none.
  static int FirstOf(int64_t n) {
    for (int first = kLanes; first > 1 && 4 * first >= kLanes && n >= 8 * kLanes; first /= 2) {
      if (n % first == 0 && n / first >= kLanes) return first;
    }
    return 0;
  }

  // Requires: FirstOf(n) is not 0.
  explicit LineFft(int64_t n) : n_(n), first_(FirstOf(n)), passes_(n, first_) {
    ForEachBlock([&](int64_t q, int64_t) {
      for (int k = 1; k < first_; ++k) {
        Turns& turns = turns_.emplace_back();
        for (int l = 0; l < kLanes; ++l) {
          const auto [c, s] = Roots<double>::CosSin((q + l) * k, n);
          turns.re[l] = static_cast<T>(c);
          turns.im[l] = static_cast<T>(-s);
        }
      }
    });
  }

  const FftPasses<T>& passes() const { return passes_; }

  // Reads with read.At, writes with `write` (FftPasses::Run), and has `a` and `b` as scratch, of
  // which `read` may read b, and `write` write where passes().Last(a, b) says.
  template <class Read, class Write>
  void Run(const Read& read, SplitComplex<T> a, SplitComplex<T> b, const Write& write) const;

 private:
  // Calls f(first number, which block) for blocks of kLanes transforms; the last one begins where
  // it has that many.
  template <class F>
  void ForEachBlock(const F& f) const {
    const int64_t m = n_ / first_;
    for (int64_t q = 0; q < m; q += kLanes) f(std::min(q, m - kLanes), q / kLanes);
  }

  template <int kFirst, class Read>
  FIRN_NOINLINE void RunFirst(const Read& read, SplitComplex<T> to) const {
    const int64_t m = n_ / kFirst;
    ForEachBlock([&](int64_t q, int64_t block) {
      Number<Vec<T>> x[kFirst];
#pragma GCC unroll 16
      for (int j = 0; j < kFirst; ++j) x[j] = read.template At<Vec<T>>(q + j * m);
      Butterfly<kFirst, T>(x);
      const Turns* turns = turns_.data() + block * (kFirst - 1);
      Vec<T> rows[kFirst], imaginary[kFirst];
      rows[0] = x[0].re;
      imaginary[0] = x[0].im;
#pragma GCC unroll 16
      for (int k = 1; k < kFirst; ++k, ++turns) {
        const Number<Vec<T>> y =
            x[k] * Number<Vec<T>>{LoadNumbers<Vec<T>>(turns->re), LoadNumbers<Vec<T>>(turns->im)};
        rows[k] = y.re;
        imaginary[k] = y.im;
      }
      WriteTurned<kFirst>(rows, to.re + q * kFirst);
      WriteTurned<kFirst>(imaginary, to.im + q * kFirst);
    });
  }

  // Number i of each row, then number i + 1: as TransposeSquare.
  template <int kRows>
  FIRN_ALWAYS_INLINE static void WriteTurned(Vec<T>* a, T* to) {
    Vec<T> b[kRows];
#pragma GCC unroll 4
    for (int bit = 1; bit < kRows; bit *= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows / 2; ++i) {
        b[2 * i] = inner::internal::Interleave<0>(a[i], a[i + kRows / 2], kEachLane<T>);
        b[2 * i + 1] = inner::internal::Interleave<1>(a[i], a[i + kRows / 2], kEachLane<T>);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) a[i] = b[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) std::memcpy(to + i * kLanes, &a[i], sizeof(Vec<T>));
  }

  struct alignas(kSimdBytes) Turns {
    T re[kLanes], im[kLanes];
  };

  int64_t n_;
  int first_;
  FftPasses<T> passes_;
  std::vector<Turns> turns_;  // [block][k - 1]: what number k of each transform is turned by
};

template <class T>
template <class Read, class Write>
void LineFft<T>::Run(const Read& read, SplitComplex<T> a, SplitComplex<T> b,
                     const Write& write) const {
  if (first_ == kLanes) RunFirst<kLanes>(read, a);
  if constexpr (kLanes >= 4) {
    if (2 * first_ == kLanes) RunFirst<kLanes / 2>(read, a);
  }
  if constexpr (kLanes >= 8) {
    if (4 * first_ == kLanes) RunFirst<kLanes / 4>(read, a);
  }
  passes_.RunLong(a, b, write);  // of at least 8 registers' numbers
}

// In fft_plan_f64.cc: what the constants of plans for either type are made with.
extern template void LineFft<double>::Run(const FromSplit<double>&, SplitComplex<double>,
                                          SplitComplex<double>, const ToSplit<double>&) const;

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_LINE_BODY_H_
