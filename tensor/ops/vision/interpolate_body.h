#ifndef FIRN_TENSOR_OPS_VISION_INTERPOLATE_BODY_H_
#define FIRN_TENSOR_OPS_VISION_INTERPOLATE_BODY_H_

// resample and its adjoint along one dimension. First a table is made, in workspace: where the
// window of each output begins, and the weights of its elements. Weights of elements beyond the
// ends are added to those at the ends, so that every window lies inside and all have one length.
// Windows begin further right for larger outputs, so that those that hold an element are
// neighbours, found by bisection: the adjoint gathers, and no two threads add to one sum.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/interpolate.h"

namespace firn {

// Where the elements of x lie that an output is made of, before they are held inside.
struct ResampleRule {
  explicit ResampleRule(const ResampleAttrs& a)
      : in(a.in),
        out(a.out),
        mode(a.mode),
        align(a.align_corners),
        antialias(a.antialias),
        cubic(a.mode == InterpolateMode::kCubic),
        given(a.scale != 0) {
    const double i = static_cast<double>(in), o = static_cast<double>(out);
    scale = given ? a.scale : i / o;
    if (align) scale = out > 1 ? (i - 1) / (o - 1) : 0;
    const double half = cubic ? 2 : 1;
    support = antialias ? half * std::max(scale, 1.0) : half;
    const bool nearest =
        mode == InterpolateMode::kNearest || mode == InterpolateMode::kNearestExact;
    // A window of a real width begins within one element, so that it may meet one more than fit.
    const double most = nearest ? 1 : antialias ? std::ceil(support) * 2 + 1 : 2 * half;
    taps = most < i ? static_cast<int64_t>(most) : in;
  }

  // The first element for output o, of `count` that have weights; `at` is for Weight.
  FIRN_HOST_DEVICE int64_t First(int64_t o, double& at, int64_t& count) const {
    const double place = static_cast<double>(o);
    count = 1;
    at = 0;
    if (mode == InterpolateMode::kNearest) {
      // Exact where the sizes say it: PyTorch rounds the quotient.
      return given ? static_cast<int64_t>(place * scale) : o * in / out;
    }
    if (mode == InterpolateMode::kNearestExact) {
      return given ? static_cast<int64_t>((place + 0.5) * scale) : (2 * o + 1) * in / (2 * out);
    }
    if (antialias) {
      at = scale * (place + 0.5);
      const int64_t first = static_cast<int64_t>(at - support + 0.5 > 0 ? at - support + 0.5 : 0);
      const double end = at + support + 0.5;
      const int64_t last = end < static_cast<double>(in) ? static_cast<int64_t>(end) : in;
      count = last - first;
      return first;
    }
    at = align ? place * scale : scale * (place + 0.5) - 0.5;
    if (!cubic && at < 0) at = 0;
    count = cubic ? 4 : 2;
    return static_cast<int64_t>(std::floor(at)) - (cubic ? 1 : 0);
  }

  // The weight of element i; for antialiased ones up to a common factor.
  FIRN_HOST_DEVICE double Weight(int64_t i, double at) const {
    if (mode == InterpolateMode::kNearest || mode == InterpolateMode::kNearestExact) return 1;
    double d = static_cast<double>(i) - at;
    if (antialias) d = (d + 0.5) / (scale > 1 ? scale : 1);
    d = std::abs(d);
    if (!cubic) return d < 1 ? 1 - d : 0;
    const double a = antialias ? -0.5 : -0.75;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
  }

  int64_t in, out, taps = 1;
  InterpolateMode mode;
  bool align, antialias, cubic, given;
  double scale = 1, support = 1;
};

template <class T>
struct ResampleTable {
  int64_t* begins;  // of each output's window
  T* weights;       // [out][taps]
};

template <class T>
struct TableBody {
  ResampleRule rule;
  ResampleTable<T> table;
  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    double at = 0;
    int64_t count = 0;
    const int64_t first = rule.First(o, at, count), last = rule.in - rule.taps;
    const int64_t begin = first < 0 ? 0 : first > last ? last : first;
    T* const w = table.weights + o * rule.taps;
    table.begins[o] = begin;
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += rule.Weight(first + j, at);
    const double unit = rule.antialias && sum != 0 ? 1 / sum : 1;
    for (int64_t j = 0; j < rule.taps; ++j) {
      // The elements beyond an end belong to the one at that end, others to themselves alone: a
      // step for each pair of the two would be quadratic in how many times smaller the result is.
      const int64_t i = begin + j;
      const int64_t low = i == 0 || i < first ? first : i;
      const int64_t high = i == rule.in - 1 || i >= first + count ? first + count : i + 1;
      double weight = 0;
      for (int64_t e = low; e < high; ++e) weight += rule.Weight(e, at);
      w[j] = static_cast<T>(weight * unit);
    }
  }
  int64_t cost() const { return 4 * rule.taps; }
};

// y[outer][out][inner] of x[outer][in][inner].
template <class T>
struct ResampleBody {
  ResampleTable<T> table;
  int64_t in, out, inner, taps;
  const T* x;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t column = TakeDigit(row, inner), o = TakeDigit(row, out);
    const T* const from = x + (row * in + table.begins[o]) * inner + column;
    const T* const w = table.weights + o * taps;
    T sum = 0;
    for (int64_t j = 0; j < taps; ++j) sum += w[j] * from[j * inner];
    y[i] = sum;
  }
  void operator()(int64_t begin, int64_t end) const {
    const int64_t length = inner == 1 ? out : inner;
    ForEachRowOf(begin, end, length, [&](int64_t row, int64_t first, int64_t last) {
      if (inner == 1) {
        Line(x + row * in, y + row * out, first, last);
      } else {
        const int64_t o = row % out;
        const T* const from = x + (row / out * in + table.begins[o]) * inner;
        const T* const w = table.weights + o * taps;
        T* const to = y + row * inner;
        for (int64_t j = first; j < last; ++j) to[j] = w[0] * from[j];
        for (int64_t t = 1; t < taps; ++t) {
          const T* const tap = from + t * inner;
          for (int64_t j = first; j < last; ++j) to[j] += w[t] * tap[j];
        }
      }
    });
  }
  int64_t cost() const { return taps + 1; }

 private:
  void Line(const T* from, T* to, int64_t first, int64_t last) const {
    if (taps == 1) {
      for (int64_t o = first; o < last; ++o) to[o] = from[table.begins[o]];
    } else if (taps == 2) {
      for (int64_t o = first; o < last; ++o) {
        const T* const at = from + table.begins[o];
        to[o] = table.weights[2 * o] * at[0] + table.weights[2 * o + 1] * at[1];
      }
    } else {
      for (int64_t o = first; o < last; ++o) {
        const T *const at = from + table.begins[o], *const w = table.weights + o * taps;
        T sum = 0;
        for (int64_t t = 0; t < taps; ++t) sum += w[t] * at[t];
        to[o] = sum;
      }
    }
  }
};

// dx[outer][in][inner] of dy[outer][out][inner].
template <class T>
struct ResampleGradBody {
  ResampleTable<T> table;
  int64_t in, out, inner, taps;
  const T* dy;
  T* dx;

  // The first output whose window begins at `begin` or later.
  FIRN_HOST_DEVICE int64_t FirstFrom(int64_t begin) const {
    int64_t low = 0, high = out;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (table.begins[middle] < begin) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  FIRN_HOST_DEVICE T WeightOf(int64_t e, int64_t o) const {
    return table.weights[o * taps + e - table.begins[o]];
  }

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t column = TakeDigit(row, inner), e = TakeDigit(row, in);
    const T* const from = dy + row * out * inner + column;
    T sum = 0;
    for (int64_t o = FirstFrom(e - taps + 1); o < out && table.begins[o] <= e; ++o) {
      sum += WeightOf(e, o) * from[o * inner];
    }
    dx[i] = sum;
  }
  void operator()(int64_t begin, int64_t end) const {
    const int64_t length = inner == 1 ? in : inner, each = inner == 1 ? OutputsOfEach() : 0;
    ForEachRowOf(begin, end, length, [&](int64_t row, int64_t first, int64_t last) {
      if (each == 2) {
        Groups<2>(dy + row * out, dx + row * in, first, last);
      } else if (each > 0) {
        Groups<0>(dy + row * out, dx + row * in, first, last);
      } else if (inner == 1) {
        Line(dy + row * out, dx + row * in, first, last);
      } else {
        const int64_t e = row % in;
        const T* const from = dy + row / in * out * inner;
        T* const to = dx + row * inner;
        std::fill(to + first, to + last, T(0));
        for (int64_t o = FirstFrom(e - taps + 1); o < out && table.begins[o] <= e; ++o) {
          const T w = WeightOf(e, o);
          const T* const line = from + o * inner;
          for (int64_t j = first; j < last; ++j) to[j] += w * line[j];
        }
      }
    });
  }
  int64_t cost() const { return 2 * taps + 1; }

 private:
  // How many outputs repeat each element, in order and nothing else; 0 where that is not so.
  int64_t OutputsOfEach() const {
    const int64_t each = taps == 1 && out % in == 0 ? out / in : 0;
    for (int64_t o = 0, e = 0; e < in && each > 0; ++e) {
      for (const int64_t stop = o + each; o < stop; ++o) {
        if (table.begins[o] != e) return 0;
      }
    }
    return each;
  }
  // Sums that no later one waits for, as it would by memory.
  template <int64_t kEach>
  void Groups(const T* from, T* to, int64_t first, int64_t last) const {
    const int64_t each = kEach > 0 ? kEach : out / in;
    FIRN_INDEPENDENT_STEPS
    for (int64_t e = first; e < last; ++e) {
      T sum = 0;
      for (int64_t o = e * each; o < (e + 1) * each; ++o) sum += table.weights[o] * from[o];
      to[e] = sum;
    }
  }
  void Line(const T* from, T* to, int64_t first, int64_t last) const {
    std::fill(to + first, to + last, T(0));
    const int64_t stop = FirstFrom(last);
    for (int64_t o = FirstFrom(first - taps + 1); o < stop; ++o) {
      const int64_t at = table.begins[o];
      for (int64_t t = std::max<int64_t>(0, first - at); t < std::min(taps, last - at); ++t) {
        to[at + t] += table.weights[o * taps + t] * from[o];
      }
    }
  }
};

template <template <class> class Body>
struct ResampleKernelOf {
  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    const ResampleRule rule(q.attrs<ResampleAttrs>());
    return static_cast<size_t>(rule.out) *
           (sizeof(int64_t) + static_cast<size_t>(rule.taps) * SizeOf(q.in(0).dtype));
  }
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const ResampleAttrs& a = k.attrs<ResampleAttrs>();
    const ResampleRule rule(a);
    const Shape& shape = k.in_spec(0).shape;
    int64_t inner = 1;
    for (int i = static_cast<int>(a.dim) + 1; i < shape.rank(); ++i) inner *= shape[i];
    const int64_t n = k.out_spec().num_elements();
    if (n == 0) return absl::OkStatus();
    const auto run = [&]<class T>(TypeTag<T>) -> absl::Status {
      int64_t* const begins = k.workspace<int64_t>();
      const ResampleTable<T> table{begins, reinterpret_cast<T*>(begins + rule.out)};
      FIRN_RETURN_IF_ERROR(on.ForEach(rule.out, TableBody<T>{rule, table}));
      return on.ForEach(
          n, Body<T>{table, rule.in, rule.out, inner, rule.taps, k.in<T>(0), k.out<T>()});
    };
    return k.in_spec(0).dtype == DType::kF64 ? run(TypeTag<double>()) : run(TypeTag<float>());
  }
};
using ResampleKernel = ResampleKernelOf<ResampleBody>;
using ResampleGradKernel = ResampleKernelOf<ResampleGradBody>;

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_INTERPOLATE_BODY_H_
