// One dimension after the other, by a table that is made on the host: for each element of the
// result, which elements of x it is made of and how much they weigh. All of them are chosen at
// once, weighted and added up. What Interpolate has a kernel for goes there.

#include "firn/tensor/ops/vision/resize.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/ops/vision/interpolate.h"

namespace firn {
namespace {

using Coordinates = ResizeCoordinates;

constexpr double kMostSize = 0x1p24;  // of a dimension: its table is made on the host
constexpr double kMostTaps = 0x1p27;  // of a table

[[noreturn]] void RefuseResize(const absl::Status& status) { RaiseStatus(status, "resize"); }

// One dimension of the call.
struct Side {
  int dim = 0;
  int64_t in = 1, out = 1;
  bool scaled = false;  // by a scale that was given
  double scale = 1, start = 0, end = 1;
};

bool IsOutside(double place, const Side& s, const ResizeOptions& o) {
  return o.coordinates == Coordinates::kCropAndResize &&
         !(place >= 0 && place <= static_cast<double>(s.in - 1));
}

// i / scale. From sizes without rounding where it is a whole number: the nearest element depends on
// that.
double Unscaled(double i, const Side& s) {
  if (s.scaled) return i / s.scale;
  return i * static_cast<double>(s.in) / static_cast<double>(s.out);
}

// scale * in, from which `out` was rounded down: the same number where only the rounding of a scale
// of f32, which files have, is between them.
double LengthOf(const Side& s) {
  const double m = static_cast<double>(s.out), length = s.scale * static_cast<double>(s.in);
  return !s.scaled || length - m < m * 0x1p-22 ? m : length;
}

double PlaceOf(int64_t element, const Side& s, Coordinates coordinates) {
  const double i = static_cast<double>(element), n = static_cast<double>(s.in);
  const double m = static_cast<double>(s.out), half = Unscaled(i + 0.5, s) - 0.5;
  switch (coordinates) {
    case Coordinates::kHalfPixel:
      return half;
    case Coordinates::kHalfPixelSymmetric:
      return n / 2 * (1 - m / LengthOf(s)) + half;
    case Coordinates::kPytorchHalfPixel:
      return s.out > 1 ? half : 0;
    case Coordinates::kAlignCorners:
      return s.out > 1 ? i * (n - 1) / (LengthOf(s) - 1) : 0;
    case Coordinates::kAsymmetric:
      return Unscaled(i, s);
    case Coordinates::kCropAndResize:
      break;
  }
  return s.out > 1 ? s.start * (n - 1) + i * (s.end - s.start) * (n - 1) / (m - 1)
                   : (s.start + s.end) * (n - 1) / 2;
}

double NearestTo(double place, ResizeNearest nearest) {
  switch (nearest) {
    case ResizeNearest::kRoundPreferFloor:
      return std::ceil(place - 0.5);
    case ResizeNearest::kRoundPreferCeil:
      return std::floor(place + 0.5);
    case ResizeNearest::kFloor:
      return std::floor(place);
    case ResizeNearest::kCeil:
      break;
  }
  return std::ceil(place);
}

double WeightAt(double distance, const ResizeOptions& o) {
  const double d = std::abs(distance), a = o.cubic_a;
  if (o.mode == ResizeMode::kLinear) return std::max(0.0, 1 - d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

// What one element of the result is made of: elements of x in order, each once, and their weights.
struct Row {
  void Add(int64_t element, double weight) {
    if (!elements.empty() && elements.back() == element) {
      weights.back() += weight;
      return;
    }
    elements.push_back(element);
    weights.push_back(weight);
  }
  size_t size() const { return elements.size(); }
  std::vector<int64_t> elements;
  std::vector<double> weights;
};

// How much of x, to either side of a place, weighs.
double Shrunk(const Side& s, const ResizeOptions& o) {
  return o.antialias ? std::min(s.scale, 1.0) : 1;
}
double Reach(const Side& s, const ResizeOptions& o) {
  return (o.mode == ResizeMode::kCubic ? 2 : 1) / Shrunk(s, o);
}

Row RowOf(double place, const Side& s, const ResizeOptions& o) {
  Row row;
  const double last = static_cast<double>(s.in - 1);
  const auto held = [&](double i) { return static_cast<int64_t>(std::clamp(i, 0.0, last)); };
  if (IsOutside(place, s, o)) place = 0;  // it is replaced later
  if (o.mode == ResizeMode::kNearest) {
    row.Add(held(NearestTo(place, o.nearest)), 1);
    return row;
  }
  const double shrink = Shrunk(s, o), reach = Reach(s, o);
  double sum = 0;
  for (double i = std::floor(place - reach) + 1; i < place + reach; ++i) {
    if (o.exclude_outside && (i < 0 || i > last)) continue;
    const double weight = WeightAt((i - place) * shrink, o);
    row.Add(held(i), weight);
    sum += weight;
  }
  if (row.elements.empty()) row.Add(held(place), sum = 1);
  if ((o.exclude_outside || o.antialias) && sum != 0) {
    for (double& w : row.weights) w /= sum;
  }
  return row;
}

// A table as a tensor: a constant of graphs, which follows from sizes and options alone.
template <class T>
Tensor Constant(std::vector<T> numbers, const Shape& shape, Device device) {
  const NoCaptureScope no_capture;
  return FromVector(std::move(numbers), shape).To(device);
}

// A line of numbers along dimension `dim` of x.
template <class T>
Tensor Along(const Tensor& x, int dim, std::vector<T> numbers) {
  Dims sizes(x.rank(), 1);
  sizes[dim] = static_cast<int64_t>(numbers.size());
  return Constant(std::move(numbers), Shape(sizes.span()), x.device());
}

Tensor Chosen(const Tensor& x, int dim, std::vector<int64_t> elements) {
  const Shape shape({static_cast<int64_t>(elements.size())});
  return IndexSelect(x, dim, Constant(std::move(elements), shape, x.device()));
}

// Rows of as many elements each as the longest has.
Tensor ByTable(const Tensor& x, const Side& s, const ResizeOptions& o) {
  const auto row = [&](int64_t i) { return RowOf(PlaceOf(i, s, o.coordinates), s, o); };
  size_t taps = 0;
  for (int64_t i = 0; i < s.out; ++i) taps = std::max(taps, row(i).size());
  std::vector<int64_t> elements;
  std::vector<double> weights;
  elements.reserve(taps * static_cast<size_t>(s.out));
  weights.reserve(taps * static_cast<size_t>(s.out));
  for (int64_t i = 0; i < s.out; ++i) {
    const Row made = row(i);
    elements.insert(elements.end(), made.elements.begin(), made.elements.end());
    elements.insert(elements.end(), taps - made.size(), made.elements[0]);
    weights.insert(weights.end(), made.weights.begin(), made.weights.end());
    weights.insert(weights.end(), taps - made.size(), 0.0);
  }
  const Tensor chosen = Chosen(x, s.dim, std::move(elements));
  if (o.mode == ResizeMode::kNearest) return chosen;
  const Tensor weighted = Mul(chosen, Cast(Along(x, s.dim, std::move(weights)), x.dtype()));
  Dims sizes = x.shape().dims();
  sizes[s.dim] = s.out;
  int64_t outer = s.out, inner = 1;
  for (int i = 0; i < s.dim; ++i) outer *= sizes[i];
  for (int i = s.dim + 1; i < sizes.rank; ++i) inner *= sizes[i];
  const Tensor rows = Reshape(weighted, {outer, static_cast<int64_t>(taps), inner});
  return Reshape(Sum(rows, 1), Shape(sizes.span()));
}

// Whether `resample` gives the same result.
bool HasKernel(const Side& s, const ResizeOptions& o) {
  if (o.mode == ResizeMode::kNearest || o.antialias || o.exclude_outside) return false;
  if (o.mode == ResizeMode::kCubic && o.cubic_a != -0.75) return false;
  const bool whole = LengthOf(s) == static_cast<double>(s.out);
  return o.coordinates == Coordinates::kHalfPixel ||
         (o.coordinates == Coordinates::kAlignCorners && whole) ||
         (o.coordinates == Coordinates::kPytorchHalfPixel && s.out > 1);
}

Tensor Resized(const Tensor& x, const Side& s, const ResizeOptions& o) {
  if (!HasKernel(s, o)) return ByTable(x, s, o);
  const bool align = o.coordinates == Coordinates::kAlignCorners;
  return inner::Resample(
      x, {.dim = s.dim,
          .in = s.in,
          .out = s.out,
          .mode = o.mode == ResizeMode::kCubic ? InterpolateMode::kCubic : InterpolateMode::kLinear,
          .align_corners = align,
          .scale = s.scaled && !align ? 1 / s.scale : 0});
}

// y with extrapolation_value at places outside of x.
Tensor Extrapolated(const Tensor& y, const Side& s, const ResizeOptions& o) {
  std::vector<bool> outside;
  for (int64_t i = 0; i < s.out; ++i) {
    outside.push_back(IsOutside(PlaceOf(i, s, o.coordinates), s, o));
  }
  if (std::find(outside.begin(), outside.end(), true) == outside.end()) return y;
  return Where(Along(y, s.dim, std::move(outside)),
               Full({}, o.extrapolation_value, y.dtype(), y.device()), y);
}

Side SideOf(const Tensor& x, const ResizeOptions& o, const Dims& dims, int i) {
  const auto at = static_cast<size_t>(i), count = static_cast<size_t>(dims.rank);
  Side s{.dim = static_cast<int>(dims[i]), .in = x.size(dims[i]), .scaled = !o.scales.empty()};
  if (!o.roi.empty()) {
    s.start = o.roi[at];
    s.end = o.roi[count + at];
    if (!std::isfinite(s.start) || !std::isfinite(s.end)) {
      RefuseResize(InvalidArgument("roi must be finite, got ", s.start, " to ", s.end));
    }
  }
  const double n = static_cast<double>(s.in);
  double size = s.scaled ? 0 : static_cast<double>(o.sizes[at]);
  if (s.scaled) {
    s.scale = o.scales[at];
    size = std::floor(n * (s.end - s.start) * s.scale);
  }
  if (!(s.in > 0 && size >= 1 && size <= kMostSize) || !(s.scale > 0 && std::isfinite(s.scale))) {
    RefuseResize(InvalidArgument("dimension ", s.dim, " of x ", x.shape().ToString(),
                                 " would get size ", size, ", scale ", s.scale,
                                 ": expected 1 to 2^24 of 1 or more, by a positive scale"));
  }
  s.out = s.scaled ? static_cast<int64_t>(size) : o.sizes[at];
  if (!s.scaled) s.scale = static_cast<double>(s.out) / n;
  const double window = 2 * Reach(s, o) + 1;
  if (!(size * window <= kMostTaps)) {
    RefuseResize(InvalidArgument("dimension ", s.dim, " would get ", size, " elements of ", window,
                                 " of x ", x.shape().ToString(), ": expected 2^27 in all at most"));
  }
  return s;
}

std::vector<Side> SidesOf(const Tensor& x, const ResizeOptions& o) {
  if (o.sizes.empty() == o.scales.empty()) {
    RefuseResize(InvalidArgument("expected one of sizes and scales, got ",
                                 o.sizes.empty() ? "neither" : "both"));
  }
  Dims dims(x.rank());
  for (int i = 0; i < x.rank(); ++i) dims[i] = i;
  if (!o.dims.empty()) {
    const absl::StatusOr<Dims> found = NormalizeDims(o.dims, x.shape());
    if (!found.ok()) RefuseResize(found.status());
    // Those are sorted; sizes stand in the caller's order.
    dims = *found;
    for (int i = 0; i < dims.rank; ++i) {
      dims[i] = o.dims.d[i] < 0 ? o.dims.d[i] + x.rank() : o.dims.d[i];
    }
  }
  const auto count = static_cast<size_t>(dims.rank);
  if (o.sizes.size() + o.scales.size() != count) {
    RefuseResize(InvalidArgument("expected a size or scale for each of ", count,
                                 " dimensions of x ", x.shape().ToString(), ", got ",
                                 o.sizes.size() + o.scales.size()));
  }
  const bool crop = o.coordinates == Coordinates::kCropAndResize;
  if (o.roi.size() != (crop ? 2 * count : 0)) {
    RefuseResize(InvalidArgument("expected ", crop ? 2 * count : 0, " numbers in roi for ",
                                 WordFor(o.coordinates), ", got ", o.roi.size()));
  }
  std::vector<Side> sides;
  for (int i = 0; i < dims.rank; ++i) sides.push_back(SideOf(x, o, dims, i));
  return sides;
}

}  // namespace

Tensor Resize(const Tensor& x, const ResizeOptions& o) {
  CheckDefined(x, "resize");
  const bool nearest = o.mode == ResizeMode::kNearest;
  if (!nearest && !IsFloating(x.dtype())) {
    RefuseResize(InvalidArgument("x must be f32, f64, f16 or bf16, or the mode nearest, got ",
                                 x.spec().ToString()));
  }
  if (nearest && o.antialias) {
    RefuseResize(InvalidArgument("antialias is for the modes linear and cubic"));
  }
  if (!std::isfinite(o.cubic_a)) {
    RefuseResize(InvalidArgument("cubic_a must be finite, got ", o.cubic_a));
  }
  const std::vector<Side> sides = SidesOf(x, o);
  const auto resized = [&](const std::vector<Tensor>& in) {
    Tensor y = in[0];
    for (const Side& s : sides) {
      const bool same =
          s.in == s.out && s.scale == 1 && o.coordinates != Coordinates::kCropAndResize;
      if (!same) y = Resized(y, s, o);
    }
    for (const Side& s : sides) y = Extrapolated(y, s, o);
    return y;
  };
  return nearest ? resized({x}) : InFloat({x}, resized);
}

}  // namespace firn
