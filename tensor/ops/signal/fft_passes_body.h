#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_PASSES_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_PASSES_BODY_H_

// The passes of Fourier transforms over split complex numbers, and their roots of 1 (fft_body.h).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

namespace firn::cpu {

template <class T>
struct SplitComplex {
  T *re, *im;
  SplitComplex exchanged() const { return {im, re}; }
  SplitComplex operator+(int64_t n) const { return {re + n, im + n}; }
};

// exp(-2 pi i t / n) for t < count, each to the last digit: angles are brought into an eighth of
// the circle as fractions of integers.
template <class T>
struct Roots {
  std::vector<T> re, im;

  Roots() = default;
  Roots(int64_t n, int64_t count) {
    re.resize(static_cast<size_t>(count));
    im.resize(static_cast<size_t>(count));
    for (int64_t t = 0; t < count; ++t) {
      const auto [c, s] = CosSin(t, n);
      re[static_cast<size_t>(t)] = static_cast<T>(c);
      im[static_cast<size_t>(t)] = static_cast<T>(-s);
    }
  }

  // Cosine and sine of the angle 2 pi t / n.
  static std::pair<double, double> CosSin(int64_t t, int64_t n) {
    constexpr double kPi = 3.14159265358979323846;
    int64_t eighths = 8 * (t % n);  // of a circle, in parts of 1 / n
    const int64_t octant = eighths / n;
    if (octant % 2 == 1) eighths = (octant + 1) * n - eighths;
    if (octant % 2 == 0) eighths -= octant * n;
    const double angle = kPi / 4 * static_cast<double>(eighths) / static_cast<double>(n);
    double c = std::cos(angle), s = std::sin(angle);
    if (octant == 1 || octant == 2 || octant == 5 || octant == 6) std::swap(c, s);
    if (octant >= 2 && octant < 6) c = -c;
    if (octant >= 4) s = -s;
    return {c, s};
  }
};

// --- Passes --------------------------------------------------------------------------------------

// T: a number, or a register of them.
template <class T>
struct Number {
  T re, im;
  friend Number operator+(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }
  friend Number operator-(Number a, Number b) { return {a.re - b.re, a.im - b.im}; }
  template <class S>
  Number Times(S s) const {
    return {s * re, s * im};
  }
  friend Number operator*(Number a, Number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  Number TimesMinusI() const { return {im, -re}; }
};

// x times exp(-2 pi i kEighth / 8).
template <int kEighth, class S, class V>
FIRN_ALWAYS_INLINE Number<V> TurnedByEighths(Number<V> x) {
  const S kHalfRoot = static_cast<S>(0.70710678118654752440);
  if constexpr (kEighth == 0) return x;
  if constexpr (kEighth == 1) return Number<V>{x.re + x.im, x.im - x.re}.Times(kHalfRoot);
  if constexpr (kEighth == 2) return x.TimesMinusI();
  if constexpr (kEighth == 3) return Number<V>{x.im - x.re, -x.re - x.im}.Times(kHalfRoot);
}

// Cosines and sines of t circles over a prime, t from 0 on.
template <int kPrime>
struct Circle;
template <>
struct Circle<3> {
  static constexpr double kCosine[] = {1, -0.5}, kSine[] = {0, 0.86602540378443864676};
};
template <>
struct Circle<5> {
  static constexpr double kCosine[] = {1, 0.30901699437494742410, -0.80901699437494742410};
  static constexpr double kSine[] = {0, 0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct Circle<7> {
  static constexpr double kCosine[] = {1, 0.62348980185873353053, -0.22252093395631440429,
                                       -0.90096886790241912624};
  static constexpr double kSine[] = {0, 0.78183148246802980871, 0.97492791218182360702,
                                     0.43388373911755812048};
};

// The transform of 3, 5 or 7 numbers: numbers k and kRadix - k share cosines, and sines but for
// their signs.
template <int kRadix, class S, class V>
FIRN_ALWAYS_INLINE void OddButterfly(Number<V>* a) {
  constexpr int kHalf = kRadix / 2;
  using C = Circle<kRadix>;
  Number<V> sum[kHalf], difference[kHalf], first = a[0];
#pragma GCC unroll 8
  for (int j = 0; j < kHalf; ++j) {
    sum[j] = a[j + 1] + a[kRadix - 1 - j];
    difference[j] = (a[j + 1] - a[kRadix - 1 - j]).TimesMinusI();
    first = first + sum[j];
  }
#pragma GCC unroll 8
  for (int k = 1; k <= kHalf; ++k) {
    Number<V> even = a[0], odd = difference[0].Times(static_cast<S>(C::kSine[k]));
#pragma GCC unroll 8
    for (int j = 1; j <= kHalf; ++j) {
      const int turn = j * k % kRadix, folded = turn <= kHalf ? turn : kRadix - turn;
      even = even + sum[j - 1].Times(static_cast<S>(C::kCosine[folded]));
      const double sine = turn <= kHalf ? C::kSine[folded] : -C::kSine[folded];
      if (j > 1) odd = odd + difference[j - 1].Times(static_cast<S>(sine));
    }
    a[k] = even + odd;
    a[kRadix - k] = even - odd;
  }
  a[0] = first;
}

// The transform of kRadix numbers, in place. S: of which V has one or a register.
template <int kRadix, class S, class V>
FIRN_ALWAYS_INLINE void Butterfly(Number<V>* a) {
  using N = Number<V>;
  if constexpr (kRadix == 2) {
    const N sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (kRadix == 4) {
    const N even = a[0] + a[2], even_difference = a[0] - a[2];
    const N odd = a[1] + a[3], odd_difference = (a[1] - a[3]).TimesMinusI();
    a[0] = even + odd;
    a[1] = even_difference + odd_difference;
    a[2] = even - odd;
    a[3] = even_difference - odd_difference;
  } else if constexpr (kRadix == 8) {
    N even[] = {a[0], a[2], a[4], a[6]}, odd[] = {a[1], a[3], a[5], a[7]};
    Butterfly<4, S>(even);
    Butterfly<4, S>(odd);
    odd[1] = TurnedByEighths<1, S>(odd[1]);
    odd[2] = TurnedByEighths<2, S>(odd[2]);
    odd[3] = TurnedByEighths<3, S>(odd[3]);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      a[k] = even[k] + odd[k];
      a[k + 4] = even[k] - odd[k];
    }
  } else if constexpr (kRadix == 16) {
    // Four transforms of every fourth number, and of those the numbers k together.
    constexpr double kCosine = 0.92387953251128675613, kSine = 0.38268343236508977173;
    const Number<S> first{static_cast<S>(kCosine), static_cast<S>(-kSine)};
    const Number<S> third{static_cast<S>(kSine), static_cast<S>(-kCosine)};
    const auto times = [](N x, Number<S> c) {
      return N{x.re * c.re - x.im * c.im, x.re * c.im + x.im * c.re};
    };
    N part[4][4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) part[j][i] = a[j + 4 * i];
      Butterfly<4, S>(part[j]);
    }
    part[1][1] = times(part[1][1], first);
    part[1][2] = TurnedByEighths<1, S>(part[1][2]);
    part[1][3] = times(part[1][3], third);
    part[2][1] = TurnedByEighths<1, S>(part[2][1]);
    part[2][2] = TurnedByEighths<2, S>(part[2][2]);
    part[2][3] = TurnedByEighths<3, S>(part[2][3]);
    part[3][1] = times(part[3][1], third);
    part[3][2] = TurnedByEighths<3, S>(part[3][2]);
    part[3][3] = times(part[3][3], {-first.re, -first.im});  // the ninth sixteenth
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      N four[] = {part[0][k], part[1][k], part[2][k], part[3][k]};
      Butterfly<4, S>(four);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) a[k + 4 * i] = four[i];
    }
  } else {
    OddButterfly<kRadix, S>(a);
  }
}

// Where a pass writes: number t and those after it, as many as V has, of split arrays.
template <class T>
struct ToSplit {
  SplitComplex<T> to;
  template <class V>
  FIRN_ALWAYS_INLINE void operator()(int64_t t, const Number<V>& x) const {
    std::memcpy(to.re + t, &x.re, sizeof(V));
    std::memcpy(to.im + t, &x.im, sizeof(V));
  }
};

template <class V, class T>
FIRN_ALWAYS_INLINE V LoadNumbers(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof(V));
  return v;
}

// A pass: `groups` times kRadix pieces of `width` numbers. Piece k of group q becomes the sum over
// j of piece (q + groups j) times the radix-th root^(j k), times turns[q][k - 1], a pair of
// numbers, if it is turned at all. V: what is computed at once; the last ones of a piece once more,
// where its width is no multiple of them.
template <int kRadix, bool kTurned, class V, class T, class Write>
void Pass(SplitComplex<T> from, int64_t groups, int64_t width, const T* turns, const Write& write) {
  constexpr auto kCount = static_cast<int64_t>(sizeof(V) / sizeof(T));
  const int64_t step = groups * width;
  for (int64_t q = 0; q < groups; ++q, turns += 2 * (kRadix - 1)) {
    Number<T> turn[kRadix];
#pragma GCC unroll 8
    for (int k = 1; k < kRadix && kTurned; ++k) turn[k] = {turns[2 * k - 2], turns[2 * k - 1]};
    for (int64_t begin = 0; begin < width; begin += kCount) {
      const int64_t r = std::min(begin, width - kCount), at = kRadix * q * width + r;
      const SplitComplex<T> x = from + (q * width + r);
      Number<V> a[kRadix];
#pragma GCC unroll 8
      for (int j = 0; j < kRadix; ++j) {
        a[j] = {LoadNumbers<V>(x.re + j * step), LoadNumbers<V>(x.im + j * step)};
      }
      Butterfly<kRadix, T>(a);
      write(at, a[0]);
#pragma GCC unroll 8
      for (int k = 1; k < kRadix; ++k) {
        if constexpr (kTurned) {
          a[k] = {a[k].re * turn[k].re - a[k].im * turn[k].im,
                  a[k].re * turn[k].im + a[k].im * turn[k].re};
        }
        write(at + k * width, a[k]);
      }
    }
  }
}

// The same for any prime, by its definition.
template <class T>
void PassOfPrime(int64_t radix, SplitComplex<T> from, SplitComplex<T> to, int64_t groups,
                 int64_t width, int64_t done, const Roots<T>& roots) {
  const int64_t step = groups * done;  // between the radix-th roots
  for (int64_t q = 0; q < groups; ++q) {
    for (int64_t k = 0; k < radix; ++k) {
      const SplitComplex<T> y = to + (radix * q + k) * width;
      for (int64_t j = 0; j < radix; ++j) {
        const SplitComplex<T> x = from + (q + groups * j) * width;
        const auto at = static_cast<size_t>((q * k * done + j * k % radix * step) % (radix * step));
        const T re = roots.re[at], im = roots.im[at];
        const T keep = j == 0 ? T(0) : T(1);
        FIRN_INDEPENDENT_STEPS
        for (int64_t r = 0; r < width; ++r) {
          const T sum_re = j == 0 ? T(0) : y.re[r], sum_im = j == 0 ? T(0) : y.im[r];
          y.re[r] = keep * sum_re + (x.re[r] * re - x.im[r] * im);
          y.im[r] = keep * sum_im + (x.re[r] * im + x.im[r] * re);
        }
      }
    }
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_PASSES_BODY_H_
