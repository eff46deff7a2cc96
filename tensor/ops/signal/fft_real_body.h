#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_REAL_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_REAL_BODY_H_

// Fourier transforms of real lines, on the CPU: those of even length are complex ones of half the
// length (fft_body.h), even numbers in their real and odd ones in their imaginary parts.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/ops/signal/fft_body.h"

namespace firn::cpu {

// Transforms n real numbers to their n / 2 + 1 first coefficients, and back.
template <class T>
class RealFftPlan {
 public:
  explicit RealFftPlan(int64_t n)
      : n_(n), plan_(n % 2 == 0 ? n / 2 : n), roots_(n, n % 2 == 0 ? n / 2 + 1 : 0) {}

  int64_t size() const { return n_; }
  int64_t coefficients() const { return n_ / 2 + 1; }
  // Room for both: numbers in each buffer for one lane.
  int64_t buffer() const {
    constexpr int64_t kRow = kSimdLanes<T>;  // buffers begin where registers do
    return (std::max(plan_.buffer(), n_ / 2 + 1) + kRow - 1) / kRow * kRow;
  }
  double work() const { return plan_.work() + 8 * static_cast<double>(n_); }

  bool fast_alone() const { return plan_.fast_alone(); }

  // Whether numbers by turns stand in the real and the imaginary parts of the buffer, before the
  // transform and after the inverse one; else all in the real ones.
  bool halved() const { return n_ % 2 == 0; }

  // From numbers at their places (imaginary parts are 0 where it is not halved) to coefficients.
  template <int kLanes>
  SplitComplex<T> Forward(SplitComplex<T> a, SplitComplex<T> b) const {
    const SplitComplex<T> z = plan_.template Run<kLanes>(a, b);
    if (!halved()) return z;
    const SplitComplex<T> y = z.re == a.re ? b : a;
    const int64_t h = n_ / 2;
    for (T* part : {z.re, z.im}) std::copy_n(part, kLanes, part + h * kLanes);
    ForEachPair<kLanes>(h + 1, h, [&](int64_t k, int64_t i, int64_t j) {
      const T c = roots_.re[static_cast<size_t>(k)], s = roots_.im[static_cast<size_t>(k)];
      const Number<T> u{z.re[i], z.im[i]}, v{z.re[j], -z.im[j]};
      const Number<T> turned = Number<T>{c, s} * (u - v).TimesMinusI();
      y.re[i] = T(0.5) * (u.re + v.re + turned.re);
      y.im[i] = T(0.5) * (u.im + v.im + turned.im);
    });
    return y;
  }

  // From coefficients, of which the imaginary parts of the first one and, for even n, the last one
  // count as 0, to numbers at their places, times n.
  template <int kLanes>
  SplitComplex<T> Inverse(SplitComplex<T> a, SplitComplex<T> b) const {
    std::fill_n(a.im, kLanes, T(0));
    if (!halved()) {
      for (int64_t k = 1; k <= n_ / 2; ++k) {
        for (int64_t l = 0; l < kLanes; ++l) {
          a.re[(n_ - k) * kLanes + l] = a.re[k * kLanes + l];
          a.im[(n_ - k) * kLanes + l] = -a.im[k * kLanes + l];
        }
      }
      return plan_.template Run<kLanes>(a.exchanged(), b.exchanged()).exchanged();
    }
    const int64_t h = n_ / 2;
    std::fill_n(a.im + h * kLanes, kLanes, T(0));
    ForEachPair<kLanes>(h, h, [&](int64_t k, int64_t i, int64_t j) {
      const T c = roots_.re[static_cast<size_t>(k)], s = -roots_.im[static_cast<size_t>(k)];
      const Number<T> u{a.re[i], a.im[i]}, v{a.re[j], -a.im[j]};
      const Number<T> turned = Number<T>{c, s} * (u - v);
      b.re[i] = u.re + v.re - turned.im;
      b.im[i] = u.im + v.im + turned.re;
    });
    return plan_.template Run<kLanes>(b.exchanged(), a.exchanged()).exchanged();
  }

  // The same of a line alone whose numbers lie side by side, to and from pairs, times `factor`.
  // Requires: halved(), fast_alone().
  void ForwardAlone(const T* x, SplitComplex<T> a, SplitComplex<T> b, T factor, T* y) const {
    const int64_t h = n_ / 2;
    const SplitComplex<T> z = plan_.Last(a, b);
    plan_.RunAlone(FromPairs<T>{x}, a, b, ToSplit<T>{z});
    for (T* part : {z.re, z.im}) part[h] = part[0];
    const auto one = [](auto sum, auto difference, auto root, auto& near, auto& far) {
      const auto turned = root * difference.TimesMinusI();
      near = sum + turned;
      far = sum - turned;
    };
    ForEachMirrored(FromSplit<T>{z}, ToPairs<T>{y, T(0.5) * factor}, one);
  }
  void InverseAlone(const T* y, SplitComplex<T> a, SplitComplex<T> b, T factor, T* x) const {
    const int64_t h = n_ / 2;
    const auto one = [](auto sum, auto difference, auto root, auto& near, auto& far) {
      const auto turned = (difference * decltype(root){root.re, -root.im}).TimesMinusI();
      near = sum - turned;
      far = sum + turned;
    };
    ForEachMirrored(FromPairs<T>{y}, ToSplit<T>{b}, one);
    b.re[0] = y[0] + y[2 * h];
    b.im[0] = y[0] - y[2 * h];
    plan_.RunAlone(FromSplit<T>{b.exchanged()}, a, b, ToPairs<T, true>{x, factor});
  }

 private:
  // Reads and writes numbers 0 to h = n / 2: f(u + v, u - v, root k of 1, near, far), where u is
  // number k and v the conjugate of number h - k, gives number k and the conjugate of number h - k.
  // A register of them at a time, so that some in the middle are computed twice.
  template <class Read, class Write, class F>
  void ForEachMirrored(const Read& read, const Write& write, const F& f) const {
    using V = Vec<T>;
    const auto mirrored = [](Number<V> x) {
      return Number<V>{Backwards<T>(x.re, kEachLane<T>), -Backwards<T>(x.im, kEachLane<T>)};
    };
    for (int64_t k = 0; k <= n_ / 4; k += kSimdLanes<T>) {
      const int64_t j = n_ / 2 - k - kSimdLanes<T> + 1;
      const Number<V> u = read.template At<V>(k), v = mirrored(read.template At<V>(j));
      const Number<V> root{LoadNumbers<V>(roots_.re.data() + k),
                           LoadNumbers<V>(roots_.im.data() + k)};
      Number<V> near, far;
      f(u + v, u - v, root, near, far);
      write(k, near);
      write(j, mirrored(far));
    }
  }

  // Calls f(k, i, j) for k < count and every lane, whose numbers k and h - k are at i and j.
  template <int kLanes, class F>
  FIRN_ALWAYS_INLINE static void ForEachPair(int64_t count, int64_t h, const F& f) {
    if constexpr (kLanes == 1) {
      FIRN_INDEPENDENT_STEPS
      for (int64_t k = 0; k < count; ++k) f(k, k, h - k);
    } else {
      for (int64_t k = 0; k < count; ++k) {
        FIRN_INDEPENDENT_STEPS
        for (int64_t l = 0; l < kLanes; ++l) f(k, k * kLanes + l, (h - k) * kLanes + l);
      }
    }
  }

  int64_t n_;
  FftPlan<T> plan_;
  Roots<T> roots_;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_REAL_BODY_H_
