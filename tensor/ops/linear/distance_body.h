#ifndef FIRN_TENSOR_OPS_LINEAR_DISTANCE_BODY_H_
#define FIRN_TENSOR_OPS_LINEAR_DISTANCE_BODY_H_

// cdist: a distance for each pair of rows. Terms are collected in several sums side by side, which
// do not wait for each other and make up a vector on the CPU. Where a sum of powers is infinite, or
// so small that it lacks digits, the distance is computed again from differences over the largest
// one.
//
// cdist_grad: a row of dx at a time, to which the rows of y are added one after the other, so that
// sums do not depend on threads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/math_pow.h"
#include "firn/tensor/ops/elementwise/ratio_fn.h"
#include "firn/tensor/ops/linear/distance.h"
#include "firn/tensor/ops/reduce/norm_fn.h"

namespace firn {

// Matrices x [n, d] and y [m, d], many of each.
struct RowPairs {
  int64_t n, m, d;

  explicit RowPairs(const Shape& x, const Shape& y) : n(x.dim(-2)), m(y.dim(-2)), d(x.dim(-1)) {}
  // The first element of row j of the y that belongs to row `row` of all x.
  FIRN_HOST_DEVICE int64_t of_y(int64_t row, int64_t j) const {
    return (Quotient(row, n) * m + j) * d;
  }
};

// Whether a reducer sums powers, which may overflow or underflow where their root does not.
template <class R>
inline constexpr bool kSumsPowers = false;
template <class T>
inline constexpr bool kSumsPowers<SquareSum<T>> = true;
template <class T>
inline constexpr bool kSumsPowers<PowerSum<T>> = true;

template <class T, class R>
struct CdistBody {
  static constexpr int kSums = 64 / sizeof(T);
  RowPairs pairs;
  const T *x, *y;
  T* out;
  R reducer;
  T least;  // the least distance whose sum of powers has all its digits

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t j = TakeDigit(row, pairs.m), d = pairs.d;
    const T *a = x + row * d, *b = y + pairs.of_y(row, j);
    T sums[kSums];
    for (T& s : sums) s = reducer.identity();
    int64_t k = 0;
    for (; k + kSums <= d; k += kSums) {
      for (int s = 0; s < kSums; ++s) {
        sums[s] = reducer.combine(sums[s], reducer.map(a[k + s] - b[k + s]));
      }
    }
    for (int s = 0; k < d; ++k, ++s) sums[s] = reducer.combine(sums[s], reducer.map(a[k] - b[k]));
    for (int half = kSums / 2; half > 0; half /= 2) {
      for (int s = 0; s < half; ++s) sums[s] = reducer.combine(sums[s], sums[s + half]);
    }
    const T distance = d == 0 ? T(0) : reducer.finish(sums[0], d);
    out[i] = kSumsPowers<R> ? Checked(a, b, distance) : distance;
  }
  // The distance of rows a and b whose sum of powers gave `distance`.
  FIRN_HOST_DEVICE T Checked(const T* a, const T* b, T distance) const {
    const bool within = distance >= least && distance <= std::numeric_limits<T>::max();
    return within || distance != distance ? distance : Scaled(a, b, distance);
  }
  int64_t cost() const { return pairs.d + 16; }

 private:
  FIRN_HOST_DEVICE T Scaled(const T* a, const T* b, T distance) const {
    T top = 0;
    for (int64_t k = 0; k < pairs.d; ++k) {
      const T size = std::abs(a[k] - b[k]);
      top = size > top ? size : top;
    }
    if (!(top > 0) || top > std::numeric_limits<T>::max()) return top > 0 ? distance : T(0);
    T sum = 0;
    for (int64_t k = 0; k < pairs.d; ++k) sum += reducer.map((a[k] - b[k]) / top);
    return reducer.finish(sum, pairs.d) * top;
  }
};

template <class T>
FIRN_HOST_DEVICE T SignOf(T d) {
  return d > 0 ? T(1) : d < 0 ? T(-1) : T(0);
}

// The derivative of a distance with respect to a difference, without the factor that is the same
// for all differences: `of(dy, distance)`. A distance of 0 has no derivative.
template <class T>
struct SlopeOfSum {  // p = 1
  FIRN_HOST_DEVICE T of(T dy, T) const { return dy; }
  FIRN_HOST_DEVICE T operator()(T flow, T d, T) const { return flow * SignOf(d); }
};
template <class T>
struct SlopeOfRoot {  // p = 2, where the ratio has all its digits
  FIRN_HOST_DEVICE T of(T dy, T distance) const { return dy / distance; }
  FIRN_HOST_DEVICE T operator()(T flow, T d, T) const { return flow * d; }
};
template <class T>
struct SlopeOfFarRoot {
  FIRN_HOST_DEVICE T of(T dy, T) const { return dy; }
  FIRN_HOST_DEVICE T operator()(T flow, T d, T distance) const { return d / distance * flow; }
};
// Whether `flow` marks a far root, which has another slope.
template <class Slope, class T>
FIRN_HOST_DEVICE bool IsFar(T dy, T distance, T flow) {
  return std::is_same_v<Slope, SlopeOfRoot<T>> && !IsNearRatio(dy, distance, flow);
}
template <class T>
struct SlopeOfLargest {  // p = infinity
  FIRN_HOST_DEVICE T of(T dy, T) const { return dy; }
  FIRN_HOST_DEVICE T operator()(T flow, T d, T distance) const {
    return std::abs(d) < distance ? T(0) : flow * SignOf(d);
  }
};
template <class T>
struct SlopeOfPower {
  T p;
  FIRN_HOST_DEVICE T of(T dy, T) const { return dy; }
  FIRN_HOST_DEVICE T operator()(T flow, T d, T distance) const {
    const T size = std::abs(d);
    return size == 0 ? T(0) : flow * SignOf(d) * math::Pow(size / distance, p - 1);
  }
};

template <class T, class Slope>
struct CdistGradBody {
  RowPairs pairs;
  const T *dy, *x, *y, *distances;
  T* dx;
  Slope slope;
  bool turned;

  // The place of the distance between row `row` of all x and row j of its y, and of its dy.
  FIRN_HOST_DEVICE int64_t of_pair(int64_t row, int64_t j) const {
    if (!turned) return row * pairs.m + j;
    const int64_t at = Quotient(row, pairs.n);
    return (at * pairs.m + j) * pairs.n + row - at * pairs.n;
  }

  FIRN_HOST_DEVICE void operator()(int64_t row) const {
    const int64_t d = pairs.d;
    const T* const a = x + row * d;
    T* const out = dx + row * d;
    for (int64_t k = 0; k < d; ++k) out[k] = 0;
    for (int64_t j = 0; j < pairs.m; ++j) {
      const int64_t pair = of_pair(row, j);
      const T distance = distances[pair];
      if (distance == 0) continue;
      const T of_distance = dy[pair], flow = slope.of(of_distance, distance);
      const T* const b = y + pairs.of_y(row, j);
      if (IsFar<Slope>(of_distance, distance, flow)) {
        Add(SlopeOfFarRoot<T>(), of_distance, distance, a, b, out);
      } else {
        Add(slope, flow, distance, a, b, out);
      }
    }
  }
  int64_t cost() const { return pairs.m * (pairs.d + 4); }

 private:
  template <class S>
  FIRN_HOST_DEVICE void Add(const S& s, T flow, T distance, const T* a, const T* b, T* out) const {
    for (int64_t k = 0; k < pairs.d; ++k) out[k] += s(flow, a[k] - b[k], distance);
  }
};

template <class F>
absl::Status VisitSingleOrDouble(DType dtype, const F& f) {
  return dtype == DType::kF64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}

// f(r) with the reducer of the distance; for the host only, unlike VisitNorm.
template <class T, class F>
absl::Status VisitDistance(double p, const F& f) {
  if (p == 2) return f(SquareSum<T>());
  if (p == 1) return f(AbsSum<T>());
  if (p == 0) return f(NonzeroCount<T>());
  return std::isinf(p) ? f(AbsExtreme<T, true>()) : f(PowerSum<T>(p));
}

template <class T>
T LeastDistance(double p) {
  const double sum = static_cast<double>(std::numeric_limits<T>::min()) /
                     static_cast<double>(std::numeric_limits<T>::epsilon());
  return p > 0 ? static_cast<T>(std::pow(sum, 1 / p)) : T(0);
}

// f(body) with the body of a call of cdist.
template <class F>
absl::Status VisitCdist(KernelContext& k, const F& f) {
  const RowPairs pairs(k.in_spec(0).shape, k.in_spec(1).shape);
  const double p = k.attrs<CdistAttrs>().p;
  return VisitSingleOrDouble(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return VisitDistance<T>(p, [&]<class R>(const R& reducer) {
      return f(
          CdistBody<T, R>{pairs, k.in<T>(0), k.in<T>(1), k.out<T>(), reducer, LeastDistance<T>(p)});
    });
  });
}

// f(body) with that of a call of cdist_grad. Requires: p is not 0.
template <class F>
absl::Status VisitCdistGrad(KernelContext& k, const F& f) {
  const RowPairs pairs(k.in_spec(1).shape, k.in_spec(2).shape);
  const double p = k.attrs<CdistGradAttrs>().p;
  const bool turned = k.attrs<CdistGradAttrs>().turned;
  return VisitSingleOrDouble(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto with = [&]<class Slope>(const Slope& slope) {
      return f(CdistGradBody<T, Slope>{pairs, k.in<T>(0), k.in<T>(1), k.in<T>(2), k.in<T>(3),
                                       k.out<T>(), slope, turned});
    };
    if (p == 2) return with(SlopeOfRoot<T>());
    if (p == 1) return with(SlopeOfSum<T>());
    return std::isinf(p) ? with(SlopeOfLargest<T>()) : with(SlopeOfPower<T>{static_cast<T>(p)});
  });
}

struct CdistKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitCdist(
        k, [&](const auto& body) { return on.ForEach(k.out_spec().num_elements(), body); });
  }
};

struct CdistGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    if (k.attrs<CdistGradAttrs>().p == 0) return FillZeros(on, k.out_spec(), k.out<void>());
    const Shape& x = k.in_spec(1).shape;
    const int64_t rows = x.num_elements() / std::max<int64_t>(x.dim(-1), 1);
    return VisitCdistGrad(k, [&](const auto& body) { return on.ForEach(rows, body); });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_DISTANCE_BODY_H_
