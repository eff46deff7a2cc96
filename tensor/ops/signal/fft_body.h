#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_BODY_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_BODY_H_

// Discrete Fourier transforms of any length of some lines side by side, on the CPU.
//
// A length is taken apart into factors 4, 2, 3, 5 and other primes up to kMostDirect, one pass over
// the data each, which goes from one buffer to another and leaves the results in order (Stockham's
// method; Cochran et al., "What is the fast Fourier transform?", 1967). A length with a larger
// prime becomes a convolution with a chirp, of a length that has small factors only (Bluestein,
// 1970).
//
// Element t of lane l is at [t * kLanes + l] of an array of real and one of imaginary parts: passes
// go along lanes, and along what earlier passes have put together, a register at a time. A line
// alone whose length is a multiple of kLanesOf is as many lanes of every so manieth number for
// the first passes; the square of lanes and coefficients is then turned over for the last ones
// (RunSplit). Exchanging both arrays gives the inverse transform, without its divisor.
//
// Own code because the libraries of the field are no packages of Debian (pocketfft), have a licence
// that Firn's users could not take over (FFTW), or allocate while they run (Eigen's).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/tensor/ops/signal/fft_passes_body.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

// The largest prime factor that is transformed by its definition.
inline constexpr int64_t kMostDirect = 47;

// Lines of T side by side, and lanes of a line alone: a cache line's worth.
template <class T>
constexpr int kLanesOf = 64 / sizeof(T);

// Numbers from which on a line alone becomes lanes: enough to fill registers with one's.
template <class T>
constexpr int64_t kShortestAlone = kLanesOf<T>* kLanesOf<T>;

// --- Plans ---------------------------------------------------------------------------------------

// What a length needs; never changes once made.
template <class T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n);

  int64_t size() const { return n_; }
  // Numbers in each of the two buffers that Run takes, for one lane.
  int64_t buffer() const { return chirp_ == nullptr ? n_ : chirp_->plan.size(); }
  // Transforms the n numbers of each lane at the start of `a`, with `b` as scratch; gives which of
  // them has the result. Multiplications of one lane: about work().
  template <int kLanes>
  SplitComplex<T> Run(SplitComplex<T> a, SplitComplex<T> b) const;
  double work() const;
  // Whether a line alone is as fast as one of kLanesOf side by side.
  bool fast_alone() const {
    return chirp_ == nullptr ? part_ != nullptr : chirp_->plan.fast_alone();
  }

 private:
  struct Chirp;
  template <int kLanes>
  SplitComplex<T> RunChirp(SplitComplex<T> a, SplitComplex<T> b) const;
  SplitComplex<T> RunSplit(SplitComplex<T> a, SplitComplex<T> b) const;
  template <int kLanes>
  SplitComplex<T> RunPasses(SplitComplex<T> a, SplitComplex<T> b, size_t begin) const;

  int64_t n_;
  std::vector<int64_t> factors_;
  Roots<T> roots_;
  std::unique_ptr<const Chirp> chirp_;
  // Of RunSplit: the plan of a lane, and [lane][coefficient] its roots.
  std::unique_ptr<const FftPlan<T>> part_;
  Roots<T> turns_;
};

// Of Bluestein's method: exp(-pi i t^2 / n), and the transform of its conjugate, divided by its
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
  const int64_t unit = least > kShortestAlone<T> ? kLanesOf<T> : 1;
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
  int64_t rest = n;
  const auto take = [&](int64_t factor) {
    while (rest % factor == 0 && rest > 1) {
      factors_.push_back(factor);
      rest /= factor;
    }
  };
  const bool split = n % kLanesOf<T> == 0 && n >= kShortestAlone<T>;
  if (split) rest /= kLanesOf<T>;
  for (const int64_t factor : {4, 2, 3, 5}) take(factor);
  for (int64_t factor = 7; factor <= kMostDirect; factor += 2) take(factor);
  if (rest > 1) {
    factors_.clear();
    chirp_ = std::make_unique<const Chirp>(n);
    return;
  }
  roots_ = Roots<T>(n, n);
  if (!split) return;
  const int64_t m = n / kLanesOf<T>;
  part_ = std::make_unique<const FftPlan<T>>(m);
  factors_ = part_->factors_;
  for (int64_t left = kLanesOf<T>; left > 1; left /= factors_.back()) {
    factors_.push_back(std::min<int64_t>(left, 4));
  }
  for (int64_t q = 0; q < kLanesOf<T>; ++q) {
    for (int64_t r = 0; r < m; ++r) {
      turns_.re.push_back(roots_.re[static_cast<size_t>(q * r)]);
      turns_.im.push_back(roots_.im[static_cast<size_t>(q * r)]);
    }
  }
}

template <class T>
double FftPlan<T>::work() const {
  if (chirp_ != nullptr) return 2 * chirp_->plan.work() + 12 * static_cast<double>(n_);
  double passes = 1;
  for (const int64_t factor : factors_) passes += factor > 5 ? static_cast<double>(factor) : 3;
  return 4 * passes * static_cast<double>(n_);
}

template <class T>
template <int kLanes>
SplitComplex<T> FftPlan<T>::Run(SplitComplex<T> a, SplitComplex<T> b) const {
  if (chirp_ != nullptr) return RunChirp<kLanes>(a, b);
  if constexpr (kLanes == 1) {
    if (part_ != nullptr) return RunSplit(a, b);
  }
  return RunPasses<kLanes>(a, b, 0);
}

// The passes of factors from number `begin` on.
template <class T>
template <int kLanes>
SplitComplex<T> FftPlan<T>::RunPasses(SplitComplex<T> a, SplitComplex<T> b, size_t begin) const {
  int64_t left = n_, done = 1;
  for (size_t i = 0; i < begin; ++i) left /= factors_[i], done *= factors_[i];
  for (size_t i = begin; i < factors_.size(); ++i) {
    const int64_t factor = factors_[i], groups = left / factor, width = done * kLanes;
    switch (factor) {
      case 2:
        Pass<2>(a, b, groups, width, done, roots_);
        break;
      case 3:
        Pass<3>(a, b, groups, width, done, roots_);
        break;
      case 4:
        Pass<4>(a, b, groups, width, done, roots_);
        break;
      case 5:
        Pass<5>(a, b, groups, width, done, roots_);
        break;
      default:
        PassOfPrime(factor, a, b, groups, width, done, roots_);
    }
    left = groups;
    done *= factor;
    std::swap(a, b);
  }
  return a;
}

// x times c, number by number.
template <class T>
void MultiplyNumbers(SplitComplex<T> x, int64_t n, const T* c_re, const T* c_im) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t t = 0; t < n; ++t) {
    const T u = x.re[t], v = x.im[t];
    x.re[t] = u * c_re[t] - v * c_im[t];
    x.im[t] = u * c_im[t] + v * c_re[t];
  }
}

// Number t is [t / kLanesOf][t % kLanesOf]: the first passes of the whole line are transforms of
// lanes but for their roots, `turns_`.
template <class T>
SplitComplex<T> FftPlan<T>::RunSplit(SplitComplex<T> a, SplitComplex<T> b) const {
  constexpr int kLanes = kLanesOf<T>;
  const int64_t m = part_->n_;
  const SplitComplex<T> z = part_->template RunPasses<kLanes>(a, b, 0);
  const SplitComplex<T> y = z.re == a.re ? b : a;
  inner::internal::CopyTransposed(m, kLanes, sizeof(T), z.re, kLanes, y.re, m);
  inner::internal::CopyTransposed(m, kLanes, sizeof(T), z.im, kLanes, y.im, m);
  MultiplyNumbers(y, n_, turns_.re.data(), turns_.im.data());
  return RunPasses<1>(y, z, part_->factors_.size());
}

// y[k] = chirp[k] sum over t of (x[t] chirp[t]) conj(chirp[k - t])
template <class T>
template <int kLanes>
SplitComplex<T> FftPlan<T>::RunChirp(SplitComplex<T> a, SplitComplex<T> b) const {
  const int64_t m = chirp_->plan.size();
  const auto multiply = [&](SplitComplex<T> x, int64_t count, const std::vector<T>& re,
                            const std::vector<T>& im) {
    if constexpr (kLanes == 1) return MultiplyNumbers(x, count, re.data(), im.data());
    for (int64_t t = 0; t < count; ++t) {
      const T c = re[static_cast<size_t>(t)], s = im[static_cast<size_t>(t)];
      for (int64_t l = t * kLanes; l < (t + 1) * kLanes; ++l) {
        const T u = x.re[l], v = x.im[l];
        x.re[l] = u * c - v * s;
        x.im[l] = u * s + v * c;
      }
    }
  };
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

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_BODY_H_
