#ifndef FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_BODY_H_
#define FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_BODY_H_

// Along each dimension a place is made of one, two or four elements (taps) of x with weights, and
// of an image's element their products. The forward pass and the gradient to the grid go through
// places, each with all channels; the gradient to x through planes of a sample and a channel, each
// with all places, so that no two threads add to one sum.

#include <cmath>
#include <cstdint>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/grid_sample.h"

namespace firn {

constexpr int kGridTaps = 4;  // at most, of a dimension

template <class T>
struct GridTaps {
  int64_t at[kGridTaps] = {};  // -1: outside
  T weight[kGridTaps] = {};
  T slope[kGridTaps] = {};  // of the weight by the grid's number
  int count = 1;
};

// How the grid's numbers become elements of one dimension of x.
template <class T>
struct GridAxis {
  int64_t size = 1;
  GridSampleAttrs a;

  FIRN_HOST_DEVICE int64_t Inside(T place) const {
    if (!(place >= 0 && place <= static_cast<T>(size - 1))) return -1;
    // From 2^24 elements on, a float may be the last element's number rounded up.
    const int64_t i = static_cast<int64_t>(place);
    return i < size ? i : size - 1;
  }
  // Mirrored at the outermost elements or, unless corners are aligned, at their edges.
  FIRN_HOST_DEVICE T Reflected(T place, T& slope) const {
    const T low = a.align_corners ? T(0) : T(-0.5);
    const T span = a.align_corners ? static_cast<T>(size - 1) : static_cast<T>(size);
    if (span == 0) {
      slope = 0;
      return 0;
    }
    T d = place - low;
    if (d < 0) {
      d = -d;
      slope = -slope;
    }
    const T times = std::floor(d / span), rest = d - times * span;
    if (std::fmod(times, T(2)) == 0) return rest + low;
    slope = -slope;
    return span - rest + low;
  }
  // Where `place` lies after padding; its slope becomes 0 where it is held.
  FIRN_HOST_DEVICE T Padded(T place, T& slope) const {
    if (a.padding == GridSamplePadding::kZeros) return place;
    if (a.padding == GridSamplePadding::kReflection) place = Reflected(place, slope);
    const T last = static_cast<T>(size - 1);
    if (place > 0 && place < last) return place;
    slope = 0;
    return place >= last ? last : T(0);  // not a number: the first
  }

  FIRN_HOST_DEVICE GridTaps<T> Taps(T g) const {
    const T n = static_cast<T>(size);
    T slope = a.align_corners ? (n - 1) / 2 : n / 2;
    T place = a.align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (a.pixels) {
      slope = 1;
      place = g;
    }
    GridTaps<T> taps;
    if (a.mode == GridSampleMode::kCubic) {
      Cubic(place, slope, taps);
      return taps;
    }
    place = Padded(place, slope);
    if (a.mode == GridSampleMode::kNearest) {
      taps.at[0] = Inside(std::nearbyint(place));
      taps.weight[0] = 1;
      return taps;
    }
    const T low = std::floor(place), part = place - low;
    taps.count = 2;
    taps.at[0] = Inside(low);
    taps.at[1] = Inside(low + 1);
    taps.weight[0] = 1 - part;
    taps.weight[1] = part;
    taps.slope[0] = -slope;
    taps.slope[1] = slope;
    return taps;
  }

 private:
  FIRN_HOST_DEVICE void Cubic(T place, T slope, GridTaps<T>& taps) const {
    constexpr T kA = T(-0.75);
    const T low = std::floor(place), part = place - low;
    taps.count = 4;
    for (int i = 0; i < 4; ++i) {
      T unused = 1;
      taps.at[i] = Inside(std::nearbyint(Padded(low + T(i - 1), unused)));
      const T d = std::abs(part - T(i - 1));
      const T away = part >= T(i - 1) ? slope : -slope;
      if (d <= 1) {
        taps.weight[i] = ((kA + 2) * d - (kA + 3)) * d * d + 1;
        taps.slope[i] = (3 * (kA + 2) * d - 2 * (kA + 3)) * d * away;
      } else {
        taps.weight[i] = ((d - 5) * d + 8) * d * kA - 4 * kA;
        taps.slope[i] = ((3 * d - 10) * d + 8) * kA * away;
      }
    }
  }
};

// Sizes of x and the grid; images are volumes of one layer.
template <class T>
struct GridShape {
  GridShape(const Shape& x, const Shape& grid, const GridSampleAttrs& a)
      : n(x[0]), c(x[1]), dims(x.rank() - 2) {
    GridAxis<T>* const axes[] = {&w, &h, &d};
    for (GridAxis<T>* axis : axes) axis->a = a;
    for (int i = 0; i < dims; ++i) axes[i]->size = x[x.rank() - 1 - i];
    for (int i = 1; i <= dims; ++i) places *= grid[i];
  }
  FIRN_HOST_DEVICE int64_t plane() const { return d.size * h.size * w.size; }

  int64_t n, c, places = 1;
  int dims;
  GridAxis<T> w, h, d;
};

// The elements of a plane that one place is made of.
template <class T>
struct GridPlace {
  FIRN_HOST_DEVICE GridPlace(const GridShape<T>& s, const T* g)
      : x(s.w.Taps(g[0])), y(s.h.Taps(g[1])), width(s.w.size), height(s.h.size) {
    if (s.dims == 3) {
      z = s.d.Taps(g[2]);
    } else {
      z.weight[0] = 1;
    }
  }
  // Calls f(offset, i, j, k) for each that lies inside.
  template <class F>
  FIRN_HOST_DEVICE void ForEach(const F& f) const {
    for (int k = 0; k < z.count; ++k) {
      if (z.at[k] < 0) continue;
      for (int j = 0; j < y.count; ++j) {
        if (y.at[j] < 0) continue;
        const int64_t row = (z.at[k] * height + y.at[j]) * width;
        for (int i = 0; i < x.count; ++i) {
          if (x.at[i] >= 0) f(row + x.at[i], i, j, k);
        }
      }
    }
  }
  FIRN_HOST_DEVICE T Weight(int i, int j, int k) const {
    return x.weight[i] * y.weight[j] * z.weight[k];
  }

  GridTaps<T> x, y, z;
  int64_t width, height;
};

template <class T>
struct GridSampleBody {
  GridShape<T> s;
  const T *x, *grid;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t sample = i;
    const int64_t at = TakeDigit(sample, s.places);
    const GridPlace<T> place(s, grid + i * s.dims);
    const T* const from = x + sample * s.c * s.plane();
    T* const to = out + sample * s.c * s.places + at;
    for (int64_t c = 0; c < s.c; ++c) {
      T sum = 0;
      place.ForEach([&](int64_t e, int u, int v, int w) {
        sum += place.Weight(u, v, w) * from[c * s.plane() + e];
      });
      to[c * s.places] = sum;
    }
  }
  int64_t cost() const { return 8 * s.c + 32; }
};

// The gradient to the grid.
template <class T>
struct GridGradBody {
  GridShape<T> s;
  const T *dy, *x, *grid;
  T* dgrid;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t sample = i;
    const int64_t at = TakeDigit(sample, s.places);
    const GridPlace<T> p(s, grid + i * s.dims);
    const T* const from = x + sample * s.c * s.plane();
    const T* const dout = dy + sample * s.c * s.places + at;
    T sums[3] = {};
    p.ForEach([&](int64_t e, int u, int v, int w) {
      T flow = 0;
      for (int64_t c = 0; c < s.c; ++c) flow += dout[c * s.places] * from[c * s.plane() + e];
      sums[0] += flow * p.x.slope[u] * p.y.weight[v] * p.z.weight[w];
      sums[1] += flow * p.x.weight[u] * p.y.slope[v] * p.z.weight[w];
      sums[2] += flow * p.x.weight[u] * p.y.weight[v] * p.z.slope[w];
    });
    for (int d = 0; d < s.dims; ++d) dgrid[i * s.dims + d] = sums[d];
  }
  int64_t cost() const { return 8 * s.c + 32; }
};

// The gradient to x, a plane at a time.
template <class T>
struct GridImageGradBody {
  GridShape<T> s;
  const T *dy, *grid;
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const T* const from = dy + i * s.places;
    const T* const g = grid + i / s.c * s.places * s.dims;
    T* const to = dx + i * s.plane();
    for (int64_t e = 0; e < s.plane(); ++e) to[e] = 0;
    for (int64_t at = 0; at < s.places; ++at) {
      const GridPlace<T> place(s, g + at * s.dims);
      place.ForEach(
          [&](int64_t e, int u, int v, int w) { to[e] += place.Weight(u, v, w) * from[at]; });
    }
  }
  int64_t cost() const { return 8 * s.places + s.plane(); }
};

template <class F>
absl::Status VisitGrid(DType d, const F& f) {
  return d == DType::kF64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}

struct GridSampleKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitGrid(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const GridShape<T> s(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<GridSampleAttrs>());
      if (k.out_spec().num_elements() == 0) return absl::OkStatus();
      return on.ForEach(s.n * s.places, GridSampleBody<T>{s, k.in<T>(0), k.in<T>(1), k.out<T>()});
    });
  }
};

struct GridSampleGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitGrid(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
      const GridShape<T> s(k.in_spec(1).shape, k.in_spec(2).shape, k.attrs<GridSampleAttrs>());
      if (s.n * s.c > 0) {
        FIRN_RETURN_IF_ERROR(
            on.ForEach(s.n * s.c, GridImageGradBody<T>{s, k.in<T>(0), k.in<T>(2), k.out<T>(0)}));
      }
      if (s.n * s.places == 0) return absl::OkStatus();
      return on.ForEach(s.n * s.places,
                        GridGradBody<T>{s, k.in<T>(0), k.in<T>(1), k.in<T>(2), k.out<T>(1)});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_BODY_H_
