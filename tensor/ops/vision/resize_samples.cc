#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/vision/resize.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using Mode = ResizeMode;
using At = ResizeCoordinates;
using Nearest = ResizeNearest;

// Scales and roi in hundredths: attributes have no lists of fractions.
struct ResizeAttrs {
  std::vector<int64_t> sizes = {}, scales = {};
  Mode mode = Mode::kNearest;
  At coordinates = At::kHalfPixel;
  Nearest nearest = Nearest::kRoundPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  double extrapolation_value = 0;
  std::vector<int64_t> roi = {};
  bool antialias = false;
  DimList dims = {};
  template <class V>
  void Visit(V& v) {
    v.Field("sizes", sizes);
    v.Field("scales", scales);
    v.Field("mode", mode);
    v.Field("coordinates", coordinates);
    v.Field("nearest", nearest);
    v.Field("cubic_a", cubic_a);
    v.Field("exclude_outside", exclude_outside);
    v.Field("extrapolation_value", extrapolation_value);
    v.Field("roi", roi);
    v.Field("antialias", antialias);
    v.Field("dims", dims);
  }
};

ResizeOptions OptionsOf(const ResizeAttrs& a) {
  ResizeOptions o{.sizes = a.sizes,
                  .dims = a.dims,
                  .mode = a.mode,
                  .coordinates = a.coordinates,
                  .nearest = a.nearest,
                  .cubic_a = a.cubic_a,
                  .exclude_outside = a.exclude_outside,
                  .extrapolation_value = a.extrapolation_value,
                  .antialias = a.antialias};
  for (int64_t s : a.scales) o.scales.push_back(static_cast<double>(s) / 100);
  for (int64_t r : a.roi) o.roi.push_back(static_cast<double>(r) / 100);
  return o;
}

double Cubic(double d, double a) {
  d = std::abs(d);
  if (d < 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

// The formulas of the standard, of element i of `out` along a dimension of `in` elements. No scale:
// sizes were given.
double PlaceOf(double i, double in, double out, double scale, double start, double end, At at) {
  const auto back = [&](double e) { return scale > 0 ? e / scale : e * in / out; };
  const double length = scale > 0 ? scale * in : out;
  switch (at) {
    case At::kHalfPixel:
      return back(i + 0.5) - 0.5;
    case At::kHalfPixelSymmetric:
      return in / 2 * (1 - out / length) + back(i + 0.5) - 0.5;
    case At::kPytorchHalfPixel:
      return out > 1 ? back(i + 0.5) - 0.5 : 0;
    case At::kAlignCorners:
      return out > 1 ? i * (in - 1) / (length - 1) : 0;
    case At::kAsymmetric:
      return back(i);
    case At::kCropAndResize:
      break;
  }
  return out > 1 ? start * (in - 1) + i * (end - start) * (in - 1) / (out - 1)
                 : 0.5 * (start + end) * (in - 1);
}

// A row of the matrix that x is multiplied by; empty outside of x.
std::vector<double> RowOf(double place, double in, double scale, const ResizeAttrs& a) {
  std::vector<double> row(static_cast<size_t>(in));
  if (a.coordinates == At::kCropAndResize && (place < 0 || place > in - 1)) return {};
  const double low = std::floor(place), part = place - low;
  if (a.mode == Mode::kNearest) {
    const bool up = part > 0 && (a.nearest == Nearest::kCeil ||
                                 (a.nearest == Nearest::kRoundPreferFloor && part > 0.5) ||
                                 (a.nearest == Nearest::kRoundPreferCeil && part >= 0.5));
    row[static_cast<size_t>(std::clamp(low + up, 0.0, in - 1))] = 1;
    return row;
  }
  const double wide = a.antialias ? std::max(1.0, 1 / scale) : 1;
  double sum = 0;
  for (double i = low - std::ceil(2 * wide) - 1; i <= low + std::ceil(2 * wide) + 1; ++i) {
    const double d = (i - place) / wide;
    const double w = a.mode == Mode::kCubic ? Cubic(d, a.cubic_a) : std::max(0.0, 1 - std::abs(d));
    if (a.exclude_outside && (i < 0 || i > in - 1)) continue;
    row[static_cast<size_t>(std::clamp(i, 0.0, in - 1))] += w;
    sum += w;
  }
  for (double& w : row) w /= sum;  // 1 but for antialiased and excluded ones
  return row;
}

RefTensor Resized(const RefTensor& x, int dim, size_t at, size_t count, const ResizeAttrs& a) {
  const auto in = static_cast<double>(x.shape[dim]);
  const double start = a.roi.empty() ? 0 : static_cast<double>(a.roi[at]) / 100;
  const double end = a.roi.empty() ? 1 : static_cast<double>(a.roi[count + at]) / 100;
  double scale = 0, out = 0;
  if (a.sizes.empty()) {
    scale = static_cast<double>(a.scales[at]) / 100;
    out = std::floor(in * (end - start) * scale);
  } else {
    out = static_cast<double>(a.sizes[at]);
    scale = out / in;
  }
  Dims sizes = x.shape.dims();
  sizes[dim] = static_cast<int64_t>(out);
  RefTensor y(Shape(sizes.span()));
  y.dtype = x.dtype;
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> to) {
    std::vector<int64_t> from(to.begin(), to.end());
    int64_t& i = from[static_cast<size_t>(dim)];
    const double given = a.sizes.empty() ? scale : 0;
    const double place = PlaceOf(static_cast<double>(i), in, out, given, start, end, a.coordinates);
    const std::vector<double> row = RowOf(place, in, scale, a);
    y.at(to) = row.empty() ? a.extrapolation_value : 0;
    for (size_t e = 0; e < row.size(); ++e) {
      i = static_cast<int64_t>(e);
      y.at(to) += row[e] * x.at(from);
    }
  });
  return y;
}

FIRN_REGISTER_COMPOSITE(resize) {
  s.Declare({{.name = "x"}});
  s.Function([](In in, const ResizeAttrs& a) { return Resize(in[0], OptionsOf(a)); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<ResizeAttrs>();
    RefTensor y = in[0];
    const int rank = y.shape.rank(), count = a.dims.empty() ? rank : static_cast<int>(a.dims.rank);
    for (int i = 0; i < count; ++i) {
      const int64_t dim = a.dims.empty() ? i : (a.dims.d[i] + rank) % rank;
      y = Resized(y, static_cast<int>(dim), static_cast<size_t>(i), static_cast<size_t>(count), a);
    }
    return std::vector<RefTensor>{y};
  });
  const Tensor line = Normal({7}), image = Normal({1, 2, 4, 5});
  for (const Mode mode : {Mode::kNearest, Mode::kLinear, Mode::kCubic}) {
    for (const At at : {At::kHalfPixel, At::kHalfPixelSymmetric, At::kPytorchHalfPixel,
                        At::kAlignCorners, At::kAsymmetric}) {
      const std::string name = std::string(WordFor(mode)) + ", " + std::string(WordFor(at));
      s.Add(name, {line}, ResizeAttrs{{11}, {}, mode, at});
      s.Add(name + ", scale", {line}, ResizeAttrs{{}, {63}, mode, at});
      s.Add(name + ", to one", {line}, ResizeAttrs{{1}, {}, mode, at});
      if (mode == Mode::kNearest) continue;
      s.Add(name + ", excluded", {line},
            ResizeAttrs{.scales = {163}, .mode = mode, .coordinates = at, .exclude_outside = true});
      s.Add(name + ", antialiased", {line},
            ResizeAttrs{.scales = {43}, .mode = mode, .coordinates = at, .antialias = true});
      s.Add(name + ", both", {line},
            ResizeAttrs{.sizes = {3},
                        .mode = mode,
                        .coordinates = at,
                        .exclude_outside = true,
                        .antialias = true});
    }
    s.Add(std::string(WordFor(mode)) + ", crop", {image},
          ResizeAttrs{.sizes = {1, 2, 3, 4},
                      .mode = mode,
                      .coordinates = At::kCropAndResize,
                      .extrapolation_value = 7,
                      .roi = {0, 0, 10, -20, 100, 100, 90, 130}});
  }
  for (const Nearest nearest : {Nearest::kRoundPreferCeil, Nearest::kFloor, Nearest::kCeil}) {
    s.Add(std::string(WordFor(nearest)), {line},
          ResizeAttrs{.sizes = {14}, .coordinates = At::kAsymmetric, .nearest = nearest});
    s.Add(std::string(WordFor(nearest)) + ", fewer", {line},
          ResizeAttrs{.scales = {63}, .nearest = nearest});
  }
  s.Add("crop to a scale", {line},
        ResizeAttrs{.scales = {200},
                    .mode = Mode::kLinear,
                    .coordinates = At::kCropAndResize,
                    .roi = {25, 75}});
  s.Add(
      "crop to one", {line},
      ResizeAttrs{
          .sizes = {1}, .mode = Mode::kLinear, .coordinates = At::kCropAndResize, .roi = {25, 60}});
  s.Add("cubic a", {image},
        ResizeAttrs{.sizes = {1, 2, 6, 3}, .mode = Mode::kCubic, .cubic_a = -0.5});
  s.Add("dims", {image}, ResizeAttrs{.scales = {150, 80}, .mode = Mode::kLinear, .dims = {-1, 1}});
  s.Add(
      "blocked channels", {Normal({1, 16, 3, 3})},
      ResizeAttrs{
          .sizes = {5, 4}, .mode = Mode::kLinear, .coordinates = At::kAsymmetric, .dims = {2, 3}});
  s.Add("integers", {Integers({1, 2, 3, 4}, 0, 200)}, ResizeAttrs{.sizes = {1, 2, 5, 2}});
  s.Add("flags", {Booleans({5})}, ResizeAttrs{.sizes = {3}});
  s.Add("no samples", {Normal({0, 5})},
        ResizeAttrs{.sizes = {3}, .mode = Mode::kLinear, .dims = 1});
  s.AddLarge("8x64x56x56", {Normal({8, 64, 56, 56})},
             ResizeAttrs{.sizes = {112, 112}, .mode = Mode::kLinear, .dims = {2, 3}}, 6 * 6.4e6,
             32e6);
  s.AddError("both", {line}, ResizeAttrs{{3}, {50}}, "expected one of sizes and scales, got both");
  s.AddError("count", {image}, ResizeAttrs{{3}},
             "expected a size or scale for each of 4 dimensions of x [1, 2, 4, 5], got 1");
  s.AddError("integers", {Integers({3}, 0, 9)}, ResizeAttrs{.sizes = {3}, .mode = Mode::kLinear},
             "or the mode nearest, got i64 [3]");
  s.AddError("too small", {line}, ResizeAttrs{{}, {10}}, "dimension 0 of x [7] would get size 0");
  s.AddError("no roi", {line}, ResizeAttrs{.sizes = {3}, .coordinates = At::kCropAndResize},
             "expected 2 numbers in roi for tf_crop_and_resize, got 0");
  s.AddError("roi", {line}, ResizeAttrs{.sizes = {3}, .roi = {0, 100}},
             "expected 0 numbers in roi for half_pixel, got 2");
  s.AddError("antialias", {line}, ResizeAttrs{.sizes = {3}, .antialias = true},
             "antialias is for the modes linear and cubic");
  s.AddError(
      "a", {line},
      ResizeAttrs{
          .sizes = {3}, .mode = Mode::kCubic, .cubic_a = std::numeric_limits<double>::infinity()},
      "cubic_a must be finite, got inf");
}

FIRN_REGISTER_GOLDEN(resize) { return Resize(args["x"], OptionsOf(AttrsFrom<ResizeAttrs>(args))); }

}  // namespace
}  // namespace firn::testing
