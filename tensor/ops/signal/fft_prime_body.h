#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_PRIME_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_PRIME_BODY_H_

// A line alone of prime length n where n - 1 has small factors: a convolution of n - 1 numbers
// (Rader, 1968), half of what a chirp takes. With a generator g of the numbers 1 to n - 1 modulo n,
// number g^-p of the result is x[0] and the sum over q of x[g^q] root^(g^(q - p)).

#include <cstdint>
#include <vector>

#include "firn/device/own_flags.h"
#include "firn/tensor/ops/signal/fft_line_body.h"

namespace firn::cpu {

template <class T>
class PrimeFft {
 public:
  static bool Fits(int64_t n) {
    constexpr int64_t kMost = 1 << 18;  // beyond, places far apart cost more than is gained
    if (n > kMost || n % 2 == 0 || LineFft<T>::FirstOf(n - 1) == 0) return false;
    for (int64_t factor = 3; factor * factor <= n; factor += 2) {
      if (n % factor == 0) return false;
    }
    int64_t rest = n - 1;
    for (const int64_t factor : {2, 3, 5, 7}) {
      while (rest % factor == 0) rest /= factor;
    }
    return rest == 1;
  }

  // Requires: Fits(n).
  explicit PrimeFft(int64_t n) : m_(n - 1), line_(m_), places_(Powers(n)) {
    const auto m = static_cast<size_t>(m_);
    std::vector<double> a_re(m), a_im(m), b_re(m), b_im(m);
    for (size_t p = 0; p < m; ++p) {
      const auto [c, s] = Roots<double>::CosSin(places_[m - p], n);
      b_re[p] = c;
      b_im[p] = -s;
    }
    const LineFft<double> exact(m_);
    const SplitComplex<double> a{a_re.data(), a_im.data()}, b{b_re.data(), b_im.data()};
    const SplitComplex<double> y = exact.passes().Last(a, b);
    exact.Run(FromSplit<double>{b}, a, b, ToSplit<double>{y});
    // What the roots add up to. All others are as large as the root of n, and so are errors.
    y.re[0] = -1;
    y.im[0] = 0;
    for (int64_t p = 0; p < m_; ++p) {
      re_.push_back(static_cast<T>(y.re[p] / static_cast<double>(m_)));
      im_.push_back(static_cast<T>(y.im[p] / static_cast<double>(m_)));
    }
  }

  // Like LineFft::Run; `write` may write to b.
  template <class Read, class Write>
  void Run(const Read& read, SplitComplex<T> a, SplitComplex<T> b, const Write& write) const {
    const Number<T> first = read.template At<T>(0);
    for (int64_t q = 0; q < m_; ++q) ToSplit<T>{a}(q, read.template At<T>(places_[Index(q)]));
    const SplitComplex<T> y = line_.passes().Last(b, a), other = y.re == a.re ? b : a;
    line_.Run(FromSplit<T>{a}, b, a, ToProducts<T>{y, re_.data(), im_.data()});
    // The sum of all but the first number was multiplied by what the roots but 1 add up to, -1,
    // over m. What is added to number 0 of the product comes to all numbers of the convolution.
    const T m = static_cast<T>(m_);
    const Number<T> sum{first.re - m * y.re[0], first.im - m * y.im[0]};
    y.re[0] += first.re;
    y.im[0] += first.im;
    line_.Run(FromSplit<T>{y.exchanged()}, other, y, ToSplit<T>{a.exchanged()});
    write(0, sum);
    for (int64_t p = 0; p < m_; ++p) {
      write(places_[Index(m_ - p)], FromSplit<T>{a}.template At<T>(p));
    }
  }

 private:
  static size_t Index(int64_t i) { return static_cast<size_t>(i); }

  // g^q modulo n for q from 0 to n - 1, of the smallest generator g.
  static std::vector<int32_t> Powers(int64_t n) {
    std::vector<int32_t> powers;
    for (int64_t g = 2; powers.size() != static_cast<size_t>(n); ++g) {
      powers = {1};
      do {
        powers.push_back(static_cast<int32_t>(powers.back() * g % n));
      } while (powers.back() != 1);
    }
    return powers;
  }

  int64_t m_;
  LineFft<T> line_;
  std::vector<int32_t> places_;  // g^q
  std::vector<T> re_, im_;       // the transform of the roots g^-p, over m
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_PRIME_BODY_H_
