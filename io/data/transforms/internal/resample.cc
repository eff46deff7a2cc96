// Resizing as Pillow does it (libImaging/Resample.c): a pixel of the result is a sum over a window
// of the image, of weights that a filter gives to distances from its middle (a triangle or Keys'
// cubic), first along rows, then along columns. Weights of u8 are integers of 22 bits, and what
// stands between the two passes is rounded to u8, so results are Pillow's to the bit.
//
// Both passes are sums of rows times a weight, which the compiler makes vectors of. Along rows that
// takes kLanes rows of the image laid side by side first: pixel x of each, then pixel x + 1 of
// each.
#include "firn/io/data/transforms/internal/resample.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "firn/io/data/transforms/internal/image.h"

namespace firn::io::internal {
namespace {

constexpr int kBits = 22;  // 32 less 8 of a pixel and 2 for sums of weights above 1
constexpr int64_t kLanes = 16;
constexpr int64_t kStrip = 64;  // pixels of a row whose sums stay in registers

// How sums of one pixel type are kept.
template <class T>
struct Sums;
template <>
struct Sums<uint8_t> {
  using Weight = int32_t;
  static constexpr int32_t kStart = 1 << (kBits - 1);
  static int32_t Make(double w) {
    return static_cast<int32_t>(std::trunc(w * (1 << kBits) + (w < 0 ? -0.5 : 0.5)));
  }
  static uint8_t Finish(int32_t sum) {
    const int32_t v = sum >> kBits;
    return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
  }
};
template <>
struct Sums<float> {
  using Weight = float;
  static constexpr float kStart = 0;
  static float Make(double w) { return static_cast<float>(w); }
  static float Finish(float sum) { return sum; }
};

// Where the window of each result begins in the image, and its weights, `taps` for each; those
// beyond a window are 0 and lie inside of the image too.
template <class W>
struct Windows {
  int64_t taps = 1;
  std::vector<int64_t> first;
  std::vector<W> weights;
};

struct Window {
  int64_t first;
  std::vector<double> weights;
};

// The weight of a pixel at that distance, in pixels; none from `support` on.
struct Filter {
  double support;
  double (*weight)(double distance);
};

double Triangle(double at) { return at < 1 ? 1 - at : 0; }

// Keys, "Cubic convolution interpolation for digital image processing", 1981, equation 4, with a in
// hundredths: -0.5 is exact for parabolas, and what Pillow has; PyTorch has -0.75 where nothing is
// blurred.
template <int kHundredths>
double Cubic(double at) {
  constexpr double a = kHundredths / 100.0;
  if (at < 1) return ((a + 2) * at - (a + 3)) * at * at + 1;
  return at < 2 ? (((at - 5) * at + 8) * at - 4) * a : 0;
}

Filter FilterOf(const ResampleOptions& options) {
  if (options.interpolation == Interpolation::kBilinear) return {1, Triangle};
  return {2, options.antialias ? Cubic<-50> : Cubic<-75>};
}

// For result i, as Pillow's precompute_coeffs.
void BlurredWindow(int64_t i, int64_t in, double scale, const Filter& filter, Window* window) {
  const double blur = std::max(scale, 1.0), width = filter.support * blur;
  const double center = (static_cast<double>(i) + 0.5) * scale;
  const auto begin = std::max<int64_t>(static_cast<int64_t>(center - width + 0.5), 0);
  const auto end = std::min<int64_t>(static_cast<int64_t>(center + width + 0.5), in);
  window->first = begin;
  window->weights.clear();
  double sum = 0;
  for (int64_t k = begin; k < end; ++k) {
    const double at = std::abs((static_cast<double>(k) - center + 0.5) * (1 / blur));
    window->weights.push_back(filter.weight(at));
    sum += window->weights.back();
  }
  for (double& w : window->weights) w /= sum != 0 ? sum : 1;
}

// PyTorch's interpolate(align_corners=False): the neighbours that the filter reaches. What lies
// beyond the image is its first or its last pixel.
void PlainWindow(int64_t i, int64_t in, double scale, const Filter& filter, Window* window) {
  const double at = (static_cast<double>(i) + 0.5) * scale - 0.5;
  const auto reach = static_cast<int64_t>(filter.support);
  const auto begin = static_cast<int64_t>(std::floor(at)) - reach + 1;
  const auto inside = [in](int64_t k) { return std::clamp<int64_t>(k, 0, in - 1); };
  window->first = inside(begin);
  window->weights.assign(static_cast<size_t>(inside(begin + 2 * reach - 1) - window->first + 1), 0);
  for (int64_t k = begin; k < begin + 2 * reach; ++k) {
    window->weights[static_cast<size_t>(inside(k) - window->first)] +=
        filter.weight(std::abs(static_cast<double>(k) - at));
  }
}

template <class T>
Windows<typename Sums<T>::Weight> MakeWindows(int64_t in, int64_t out,
                                              const ResampleOptions& options) {
  const Filter filter = FilterOf(options);
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double width = filter.support * (options.antialias ? std::max(scale, 1.0) : 1);
  Windows<typename Sums<T>::Weight> windows;
  windows.taps = std::min(static_cast<int64_t>(std::ceil(width)) * 2 + 1, in);
  windows.first.resize(static_cast<size_t>(out));
  windows.weights.assign(static_cast<size_t>(out * windows.taps), 0);
  Window window;
  for (int64_t i = 0; i < out; ++i) {
    (options.antialias ? BlurredWindow : PlainWindow)(i, in, scale, filter, &window);
    // A window at the end of the image begins earlier, so that all its taps are there.
    const int64_t first = std::min(window.first, in - windows.taps);
    windows.first[static_cast<size_t>(i)] = first;
    auto* weights = windows.weights.data() + i * windows.taps + (window.first - first);
    for (const double w : window.weights) *weights++ = Sums<T>::Make(w);
  }
  return windows;
}

// Room for the passes of one image.
template <class T>
struct Scratch {
  std::unique_ptr<T[]> columns;  // kLanes rows side by side
  std::unique_ptr<T[]> results;  // what becomes of them
  std::unique_ptr<T[]> middle;   // the image after the first pass
};

// kLanes rows: `rows` of them, the last one repeated.
template <class T>
void RowsToColumns(const T* from, int64_t stride, int64_t rows, int64_t width,
                   T* __restrict columns) {
  const T* row[kLanes];
  for (int64_t r = 0; r < kLanes; ++r) row[r] = from + std::min(r, rows - 1) * stride;
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t r = 0; r < kLanes; ++r) columns[x * kLanes + r] = row[r][x];
  }
}

template <class T>
void SumColumns(const Windows<typename Sums<T>::Weight>& windows, int64_t out,
                const T* __restrict columns, T* __restrict results) {
  using W = typename Sums<T>::Weight;
  for (int64_t x = 0; x < out; ++x) {
    const T* from = columns + windows.first[static_cast<size_t>(x)] * kLanes;
    const W* weights = windows.weights.data() + x * windows.taps;
    W sums[kLanes];
    for (W& s : sums) s = Sums<T>::kStart;
    for (int64_t k = 0; k < windows.taps; ++k) {
      for (int64_t r = 0; r < kLanes; ++r)
        sums[r] += weights[k] * static_cast<W>(from[k * kLanes + r]);
    }
    for (int64_t r = 0; r < kLanes; ++r) results[x * kLanes + r] = Sums<T>::Finish(sums[r]);
  }
}

// Rows [begin, end) of the region, each made `out` wide, into scratch.middle.
template <class T>
void PassAlongRows(const Plane<const T>& plane, const Region& region, int64_t begin, int64_t end,
                   const Windows<typename Sums<T>::Weight>& windows, int64_t out,
                   const Scratch<T>& scratch) {
  for (int64_t y = begin; y < end; y += kLanes) {
    const int64_t rows = std::min(kLanes, end - y);
    RowsToColumns(plane.row(region.top + y) + region.left, plane.width, rows, region.width,
                  scratch.columns.get());
    SumColumns<T>(windows, out, scratch.columns.get(), scratch.results.get());
    for (int64_t r = 0; r < rows; ++r) {
      T* __restrict to = scratch.middle.get() + (y - begin + r) * out;
      const T* __restrict from = scratch.results.get() + r;
      for (int64_t x = 0; x < out; ++x) to[x] = from[x * kLanes];
    }
  }
}

// One row of the result from the rows `from` on.
template <class T, class W>
void SumRows(const W* weights, int64_t taps, const T* from, int64_t width, T* __restrict to) {
  int64_t x = 0;
  for (; x + kStrip <= width; x += kStrip) {
    W sums[kStrip];
    for (W& s : sums) s = Sums<T>::kStart;
    for (int64_t k = 0; k < taps; ++k) {
      const T* row = from + k * width + x;
      for (int64_t i = 0; i < kStrip; ++i) sums[i] += weights[k] * static_cast<W>(row[i]);
    }
    for (int64_t i = 0; i < kStrip; ++i) to[x + i] = Sums<T>::Finish(sums[i]);
  }
  for (; x < width; ++x) {
    W sum = Sums<T>::kStart;
    for (int64_t k = 0; k < taps; ++k) sum += weights[k] * static_cast<W>(from[k * width + x]);
    to[x] = Sums<T>::Finish(sum);
  }
}

template <class T>
std::unique_ptr<T[]> Room(int64_t n) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(n));
}

template <class T>
void Filtered(const Tensor& image, const Region& region, const ResampleOptions& options,
              Tensor& out) {
  const int64_t height = out.size(1), width = out.size(2);
  const auto along_rows = MakeWindows<T>(region.width, width, options);
  const auto down = MakeWindows<T>(region.height, height, options);
  // The rows that the second pass reads.
  const int64_t begin = down.first.front(), end = down.first.back() + down.taps;
  const Scratch<T> scratch = {Room<T>(region.width * kLanes), Room<T>(width * kLanes),
                              Room<T>((end - begin) * width)};
  for (int64_t c = 0; c < image.size(0); ++c) {
    PassAlongRows(PlaneOf<T>(image, c), region, begin, end, along_rows, width, scratch);
    const Plane<T> to = MutablePlaneOf<T>(out, c);
    for (int64_t y = 0; y < height; ++y) {
      const int64_t first = down.first[static_cast<size_t>(y)];
      SumRows(down.weights.data() + y * down.taps, down.taps,
              scratch.middle.get() + (first - begin) * width, width, to.row(y));
    }
  }
}

std::vector<int64_t> NearestPlaces(int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  std::vector<int64_t> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<int64_t>((static_cast<double>(i) + 0.5) * scale);
    places[static_cast<size_t>(i)] = std::min(at, in - 1);
  }
  return places;
}

template <class T>
void Nearest(const Tensor& image, const Region& region, Tensor& out) {
  const std::vector<int64_t> ys = NearestPlaces(region.height, out.size(1));
  const std::vector<int64_t> xs = NearestPlaces(region.width, out.size(2));
  for (int64_t c = 0; c < image.size(0); ++c) {
    const Plane<const T> from = PlaneOf<T>(image, c);
    const Plane<T> to = MutablePlaneOf<T>(out, c);
    for (int64_t y = 0; y < to.height; ++y) {
      const T* __restrict row = from.row(region.top + ys[static_cast<size_t>(y)]) + region.left;
      T* __restrict result = to.row(y);
      for (int64_t x = 0; x < to.width; ++x) result[x] = row[xs[static_cast<size_t>(x)]];
    }
  }
}

}  // namespace

void MoveTo(const Region& from, int64_t height, int64_t width, Scene* scene) {
  const auto scale = [](int64_t a, int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  scene->Move({scale(from.width, width), 0, static_cast<double>(from.left), 0,
               scale(from.height, height), static_cast<double>(from.top)},
              height, width);
}

Tensor Resample(const Tensor& image, const Region& from, int64_t height, int64_t width,
                const ResampleOptions& options, const char* who) {
  Tensor out = NewImage(image, height, width, who);
  ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    if (options.interpolation == Interpolation::kNearest) {
      Nearest<T>(image, from, out);
    } else {
      Filtered<T>(image, from, options, out);
    }
  });
  return out;
}

}  // namespace firn::io::internal
