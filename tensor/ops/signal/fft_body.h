#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_BODY_H_

// Discrete Fourier transforms of any length of some lines side by side, on the CPU.
//
// A length is taken apart into factors 8, 4, 2, 3, 5, 7 and other primes up to kMostDirect, one
// pass over the data each, which goes from one buffer to another and leaves the results in order
// (Stockham's method; Cochran et al., "What is the fast Fourier transform?", 1967). A length with a
// larger prime becomes a convolution with a chirp, of a length that has small factors only
// (Bluestein, 1970).
//
// Element t of lane l is at [t * kLanes + l] of an array of real and one of imaginary parts: passes
// go along lanes, and along what earlier passes have put together, a register at a time. A line
// alone has a first pass of its own (fft_line_body.h). Exchanging both arrays gives the inverse
// transform, without its divisor.
//
// Firn has its own code because the usual libraries are not packages of Debian (pocketfft), have a
// licence that Firn's users could not adopt (FFTW), or allocate while they run (Eigen's).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/ops/signal/fft_factors_body.h"
#include "firn/tensor/ops/signal/fft_line_body.h"
#include "firn/tensor/ops/signal/fft_passes_body.h"
#include "firn/tensor/ops/signal/fft_prime_body.h"

namespace firn::cpu {

// Lines of T side by side: a cache line's worth.
template <class T>
constexpr int kLanesOf = 64 / sizeof(T);

// Up to how many numbers a line has to be one of several side by side.
constexpr int64_t kLongLine = 16384;

// --- Plans ---------------------------------------------------------------------------------------

// The plan of a length; it never changes once made.
template <class T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n);

  int64_t size() const { return n_; }
  // Numbers in each of the two buffers that Run takes, for one lane.
  int64_t buffer() const { return chirp_ == nullptr ? n_ : chirp_->plan.size(); }
  // Transforms the n numbers of each lane at the start of `a`, with `b` as scratch; gives which of
  // them has the result. Multiplications of one lane: about work(). Requires of more than one lane:
  // buffer() is at most kLongLine.
  template <int kLanes>
  SplitComplex<T> Run(SplitComplex<T> a, SplitComplex<T> b) const;
  double work() const;
  // Whether a line alone is as fast as one of kLanesOf side by side: RunAlone is for those.
  bool fast_alone() const {
    return chirp_ == nullptr ? line_ != nullptr : chirp_->plan.fast_alone();
  }
  // The same for one line, which comes from where `read` and goes to where `write` says; `read` may
  // read b.
  template <class Read, class Write>
  void RunAlone(const Read& read, SplitComplex<T> a, SplitComplex<T> b, const Write& write) const;
  // Where the result of RunAlone may be written to.
  SplitComplex<T> Last(SplitComplex<T> a, SplitComplex<T> b) const {
    return chirp_ == nullptr ? line_->passes().Last(a, b) : b;
  }

 private:
  struct Chirp;
  template <int kLanes>
  SplitComplex<T> RunChirp(SplitComplex<T> a, SplitComplex<T> b) const;

  int64_t n_;
  FftPasses<T> passes_;                       // of lines side by side, and of a slow line alone
  std::unique_ptr<const Chirp> chirp_;        // for a length with a large prime
  std::unique_ptr<const LineFft<T>> line_;    // where a line alone has a first pass
  std::unique_ptr<const PrimeFft<T>> prime_;  // where a line alone does better than by a chirp
};

// For Bluestein's method: exp(-pi i t^2 / n), and the transform of its conjugate, divided by its
// length.
template <class T>
struct FftPlan<T>::Chirp {
  explicit Chirp(int64_t n);
  static int64_t Smooth(int64_t least);

  FftPlan<T> plan;
  std::vector<T> re, im, spectrum_re, spectrum_im;
};

// The smallest length from `least` on without other factors than 2, 3 and 5, and for which a line
// alone is fast, unless it is short.
template <class T>
int64_t FftPlan<T>::Chirp::Smooth(int64_t least) {
  const int64_t unit = least > 8 * kSimdLanes<T> ? kSimdLanes<T> : 1;
  int64_t best = 1;
  while (best < least) best *= 2;
  for (int64_t five = unit; five < best; five *= 5) {
    for (int64_t three = five; three < best; three *= 3) {
      int64_t length = three;
      while (length < least) length *= 2;
      best = std::min(best, length);
    }
  }
  return best;
}

template <class T>
FftPlan<T>::Chirp::Chirp(int64_t n) : plan(Smooth(2 * n - 1)) {
  const int64_t m = plan.size();
  const FftPlan<double> exact(m);
  std::vector<double> b_re(static_cast<size_t>(m), 0), b_im = b_re, c_re = b_re, c_im = b_re;
  for (int64_t t = 0; t < n; ++t) {
    // t^2 modulo 2 n, in which the chirp repeats.
    const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(t) * t % (2 * n));
    const auto [c, s] = Roots<double>::CosSin(square, 2 * n);
    re.push_back(static_cast<T>(c));
    im.push_back(static_cast<T>(-s));
    for (const int64_t at : {t, (m - t) % m}) {
      b_re[static_cast<size_t>(at)] = c;
      b_im[static_cast<size_t>(at)] = s;
    }
  }
  const SplitComplex<double> y =
      exact.template Run<1>({b_re.data(), b_im.data()}, {c_re.data(), c_im.data()});
  for (int64_t t = 0; t < m; ++t) {
    spectrum_re.push_back(static_cast<T>(y.re[t] / static_cast<double>(m)));
    spectrum_im.push_back(static_cast<T>(y.im[t] / static_cast<double>(m)));
  }
}

template <class T>
FftPlan<T>::FftPlan(int64_t n) : n_(n) {
  if (!IsSmooth(n)) {
    chirp_ = std::make_unique<const Chirp>(n);
    if (PrimeFft<T>::Fits(n)) prime_ = std::make_unique<const PrimeFft<T>>(n);
    return;
  }
  if (LineFft<T>::FirstOf(n) != 0) line_ = std::make_unique<const LineFft<T>>(n);
  if (line_ == nullptr || n <= kLongLine) passes_ = FftPasses<T>(n, 1);
}

template <class T>
double FftPlan<T>::work() const {
  if (chirp_ != nullptr) return 2 * chirp_->plan.work() + 12 * static_cast<double>(n_);
  return (passes_.count() == 0 && line_ != nullptr ? line_->passes() : passes_).work();
}

template <class T>
template <int kLanes>
SplitComplex<T> FftPlan<T>::Run(SplitComplex<T> a, SplitComplex<T> b) const {
  if (kLanes == 1 && fast_alone()) {
    const SplitComplex<T> last = Last(b, a);
    RunAlone(FromSplit<T>{a}, b, a, ToSplit<T>{last});
    return last;
  }
  if (chirp_ != nullptr) return RunChirp<kLanes>(a, b);
  const SplitComplex<T> last = passes_.Last(a, b);
  passes_.Run(kLanes, a, b, ToSplit<T>{last});
  return last;
}

// Calls f(value of the type to compute with, t) for all t < n: registers, then single numbers.
template <class T, class F>
FIRN_ALWAYS_INLINE void ForEachRegister(int64_t n, const F& f) {
  int64_t t = 0;
  for (; t + kSimdLanes<T> <= n; t += kSimdLanes<T>) f(Vec<T>(), t);
  for (; t < n; ++t) f(T(), t);
}

// y[k] = chirp[k] sum over t of (x[t] chirp[t]) conj(chirp[k - t])
template <class T>
template <class Read, class Write>
void FftPlan<T>::RunAlone(const Read& read, SplitComplex<T> a, SplitComplex<T> b,
                          const Write& write) const {
  if (prime_ != nullptr) return prime_->Run(read, a, b, write);
  if (chirp_ == nullptr) return line_->Run(read, a, b, write);
  const Chirp& c = *chirp_;
  const int64_t m = c.plan.size();
  const auto chirp = [&]<class V>(V, int64_t t) {
    return Number<V>{LoadNumbers<V>(c.re.data() + t), LoadNumbers<V>(c.im.data() + t)};
  };
  ForEachRegister<T>(
      n_, [&]<class V>(V v, int64_t t) { ToSplit<T>{b}(t, read.template At<V>(t) * chirp(v, t)); });
  for (T* part : {b.re, b.im}) std::fill(part + n_, part + m, T(0));
  const SplitComplex<T> y = c.plan.Last(a, b), other = y.re == a.re ? b : a;
  c.plan.line_->Run(FromSplit<T>{b}, a, b,
                    ToProducts<T>{y, c.spectrum_re.data(), c.spectrum_im.data()});
  const SplitComplex<T> z = c.plan.Last(other, y);
  c.plan.line_->Run(FromSplit<T>{y.exchanged()}, other, y, ToSplit<T>{z});
  ForEachRegister<T>(n_, [&]<class V>(V v, int64_t t) {
    write(t, FromSplit<T>{z.exchanged()}.template At<V>(t) * chirp(v, t));
  });
}

// The same for lines side by side.
template <class T>
template <int kLanes>
SplitComplex<T> FftPlan<T>::RunChirp(SplitComplex<T> a, SplitComplex<T> b) const {
  const auto multiply = [&](SplitComplex<T> x, int64_t count, const std::vector<T>& re,
                            const std::vector<T>& im) {
    for (int64_t t = 0; t < count; ++t) {
      const T c = re[static_cast<size_t>(t)], s = im[static_cast<size_t>(t)];
      for (int64_t l = t * kLanes; l < (t + 1) * kLanes; ++l) {
        const T u = x.re[l], v = x.im[l];
        x.re[l] = u * c - v * s;
        x.im[l] = u * s + v * c;
      }
    }
  };
  const int64_t m = chirp_->plan.size();
  multiply(a, n_, chirp_->re, chirp_->im);
  for (T* part : {a.re, a.im}) std::fill(part + n_ * kLanes, part + m * kLanes, T(0));
  const SplitComplex<T> y = chirp_->plan.template Run<kLanes>(a, b);
  multiply(y, m, chirp_->spectrum_re, chirp_->spectrum_im);
  const SplitComplex<T> other = y.re == a.re ? b : a;
  const SplitComplex<T> z =
      chirp_->plan.template Run<kLanes>(y.exchanged(), other.exchanged()).exchanged();
  multiply(z, n_, chirp_->re, chirp_->im);
  return z;
}

// --- Which there are -----------------------------------------------------------------------------

// What pages call of plans for numbers of T is compiled once, not for every page.
#define FIRN_FFT_PLAN(kind, T)                                                                   \
  kind template class FftPlan<T>;                                                                \
  kind template SplitComplex<T> FftPlan<T>::Run<1>(SplitComplex<T>, SplitComplex<T>) const;      \
  kind template SplitComplex<T> FftPlan<T>::Run<kLanesOf<T>>(SplitComplex<T>, SplitComplex<T>)   \
      const;                                                                                     \
  kind template void FftPlan<T>::RunAlone(const FromSplit<T>&, SplitComplex<T>, SplitComplex<T>, \
                                          const ToSplit<T>&) const;                              \
  kind template void FftPlan<T>::RunAlone(const FromPairs<T>&, SplitComplex<T>, SplitComplex<T>, \
                                          const ToSplit<T>&) const;                              \
  kind template void FftPlan<T>::RunAlone(const FromSplit<T>&, SplitComplex<T>, SplitComplex<T>, \
                                          const ToPairs<T, true>&) const;                        \
  kind template void FftPlan<T>::RunAlone(const FromPairs<T>&, SplitComplex<T>, SplitComplex<T>, \
                                          const ToPairs<T>&) const;                              \
  kind template void FftPlan<T>::RunAlone(const FromPairs<T, true>&, SplitComplex<T>,            \
                                          SplitComplex<T>, const ToPairs<T, true>&) const

FIRN_FFT_PLAN(extern, float);   // fft_plan_f32.cc
FIRN_FFT_PLAN(extern, double);  // fft_plan_f64.cc

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_BODY_H_
