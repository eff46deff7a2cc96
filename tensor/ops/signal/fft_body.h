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
// Element t of lane l is at [t * kLanes + l] of an array of real and one of imaginary parts: loops
// run along lanes, and along what earlier passes have put together, so that compilers make vectors
// of them. Exchanging both arrays gives the inverse transform, without its divisor.
//
// Own code because the libraries of the field are no packages of Debian (pocketfft), have a licence
// that Firn's users could not take over (FFTW), or allocate while they run (Eigen's).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"

namespace firn::cpu {

// The largest prime factor that is transformed by its definition.
inline constexpr int64_t kMostDirect = 47;

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

template <class T>
struct Number {
  T re, im;
  friend Number operator+(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }
  friend Number operator-(Number a, Number b) { return {a.re - b.re, a.im - b.im}; }
  friend Number operator*(T s, Number a) { return {s * a.re, s * a.im}; }
  friend Number operator*(Number a, Number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  Number TimesMinusI() const { return {im, -re}; }
};

// The transform of kRadix numbers, in place.
template <int kRadix, class T>
FIRN_ALWAYS_INLINE void Butterfly(Number<T>* a) {
  using N = Number<T>;
  if constexpr (kRadix == 2) {
    const N sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (kRadix == 3) {
    const T kHalf = T(0.5), kSine = static_cast<T>(0.86602540378443864676);
    const N sum = a[1] + a[2], turned = kSine * (a[1] - a[2]).TimesMinusI();
    const N middle = a[0] - kHalf * sum;
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
    const T kC1 = static_cast<T>(0.30901699437494742410),
            kS1 = static_cast<T>(0.95105651629515357212);
    const T kC2 = static_cast<T>(-0.80901699437494742410),
            kS2 = static_cast<T>(0.58778525229247312917);
    const N near = a[1] + a[4], near_difference = (a[1] - a[4]).TimesMinusI();
    const N far = a[2] + a[3], far_difference = (a[2] - a[3]).TimesMinusI();
    const N first = a[0] + kC1 * near + kC2 * far, second = a[0] + kC2 * near + kC1 * far;
    const N first_turned = kS1 * near_difference + kS2 * far_difference;
    const N second_turned = kS2 * near_difference - kS1 * far_difference;
    a[0] = a[0] + near + far;
    a[1] = first + first_turned;
    a[2] = second + second_turned;
    a[3] = second - second_turned;
    a[4] = first - first_turned;
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
    FIRN_INDEPENDENT_STEPS
    for (int64_t r = 0; r < width; ++r) {
      Number<T> a[kRadix];
      for (int j = 0; j < kRadix; ++j) {
        a[j] = {x.re[j * groups * width + r], x.im[j * groups * width + r]};
      }
      Butterfly<kRadix>(a);
      y.re[r] = a[0].re;
      y.im[r] = a[0].im;
      for (int k = 1; k < kRadix; ++k) {
        const Number<T> turned = a[k] * root[k];
        y.re[k * width + r] = turned.re;
        y.im[k * width + r] = turned.im;
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

 private:
  struct Chirp;
  template <int kLanes>
  SplitComplex<T> RunChirp(SplitComplex<T> a, SplitComplex<T> b) const;

  int64_t n_;
  std::vector<int64_t> factors_;
  Roots<T> roots_;
  std::unique_ptr<const Chirp> chirp_;
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

// The smallest length from `least` on without other factors than 2, 3 and 5.
template <class T>
int64_t FftPlan<T>::Chirp::Smooth(int64_t least) {
  int64_t best = 1;
  while (best < least) best *= 2;
  for (int64_t five = 1; five < best; five *= 5) {
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
  for (const int64_t factor : {4, 2, 3, 5}) take(factor);
  for (int64_t factor = 7; factor <= kMostDirect; factor += 2) take(factor);
  if (rest > 1) {
    factors_.clear();
    chirp_ = std::make_unique<const Chirp>(n);
  } else {
    roots_ = Roots<T>(n, n);
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
  int64_t left = n_, done = 1;
  for (const int64_t factor : factors_) {
    const int64_t groups = left / factor, width = done * kLanes;
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

// y[k] = chirp[k] sum over t of (x[t] chirp[t]) conj(chirp[k - t])
template <class T>
template <int kLanes>
SplitComplex<T> FftPlan<T>::RunChirp(SplitComplex<T> a, SplitComplex<T> b) const {
  const int64_t m = chirp_->plan.size();
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
