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

  // Of the angle 2 pi t / n.
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

// The transform of kRadix numbers, in place. S: of which V has one or a register.
template <int kRadix, class S, class V>
FIRN_ALWAYS_INLINE void Butterfly(Number<V>* a) {
  using N = Number<V>;
  if constexpr (kRadix == 2) {
    const N sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (kRadix == 3) {
    const S kHalf = S(0.5), kSine = static_cast<S>(0.86602540378443864676);
    const N sum = a[1] + a[2], turned = (a[1] - a[2]).TimesMinusI().Times(kSine);
    const N middle = a[0] - sum.Times(kHalf);
    a[0] = a[0] + sum;
    a[1] = middle + turned;
    a[2] = middle - turned;
  } else if constexpr (kRadix == 4) {
    const N even = a[0] + a[2], even_difference = a[0] - a[2];
    const N odd = a[1] + a[3], odd_difference = (a[1] - a[3]).TimesMinusI();
    a[0] = even + odd;
    a[1] = even_difference + odd_difference;
    a[2] = even - odd;
    a[3] = even_difference - odd_difference;
  } else {
    static_assert(kRadix == 5);
    const S kC1 = static_cast<S>(0.30901699437494742410),
            kS1 = static_cast<S>(0.95105651629515357212);
    const S kC2 = static_cast<S>(-0.80901699437494742410),
            kS2 = static_cast<S>(0.58778525229247312917);
    const N near = a[1] + a[4], near_difference = (a[1] - a[4]).TimesMinusI();
    const N far = a[2] + a[3], far_difference = (a[2] - a[3]).TimesMinusI();
    const N first = a[0] + near.Times(kC1) + far.Times(kC2);
    const N second = a[0] + near.Times(kC2) + far.Times(kC1);
    const N first_turned = near_difference.Times(kS1) + far_difference.Times(kS2);
    const N second_turned = near_difference.Times(kS2) - far_difference.Times(kS1);
    a[0] = a[0] + near + far;
    a[1] = first + first_turned;
    a[2] = second + second_turned;
    a[3] = second - second_turned;
    a[4] = first - first_turned;
  }
}

// Numbers [r, r + as many as V has) of the pieces of a group: see Pass.
template <int kRadix, class V, class T>
FIRN_ALWAYS_INLINE void PassOf(const Number<T>* root, SplitComplex<T> x, int64_t x_step,
                               SplitComplex<T> y, int64_t y_step, int64_t r) {
  Number<V> a[kRadix];
#pragma GCC unroll 8
  for (int j = 0; j < kRadix; ++j) {
    std::memcpy(&a[j].re, x.re + j * x_step + r, sizeof(V));
    std::memcpy(&a[j].im, x.im + j * x_step + r, sizeof(V));
  }
  Butterfly<kRadix, T>(a);
#pragma GCC unroll 8
  for (int k = 0; k < kRadix; ++k) {
    Number<V> turned = a[k];
    if (k > 0) {
      turned = {a[k].re * root[k].re - a[k].im * root[k].im,
                a[k].re * root[k].im + a[k].im * root[k].re};
    }
    std::memcpy(y.re + k * y_step + r, &turned.re, sizeof(V));
    std::memcpy(y.im + k * y_step + r, &turned.im, sizeof(V));
  }
}

// A pass: `groups` times kRadix pieces of `width` numbers, `done` of which have the same root.
// Piece k of group q becomes the sum over j of piece (q + groups j) times root^(j k), times
// root(q k).
template <int kRadix, class T>
void Pass(SplitComplex<T> from, SplitComplex<T> to, int64_t groups, int64_t width, int64_t done,
          const Roots<T>& roots) {
  for (int64_t q = 0; q < groups; ++q) {
    Number<T> root[kRadix];
    for (int k = 1; k < kRadix; ++k) {
      const auto at = static_cast<size_t>(q * k * done);
      root[k] = {roots.re[at], roots.im[at]};
    }
    const SplitComplex<T> x = from + q * width, y = to + kRadix * q * width;
    int64_t r = 0;
    for (; r + kSimdLanes<T> <= width; r += kSimdLanes<T>) {
      PassOf<kRadix, Vec<T>>(root, x, groups * width, y, width, r);
    }
    for (; r < width; ++r) PassOf<kRadix, T>(root, x, groups * width, y, width, r);
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
