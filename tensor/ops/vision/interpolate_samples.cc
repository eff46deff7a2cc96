#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/vision/interpolate.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

double Cubic(double d, double a) {
  d = std::abs(d);
  if (d < 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

// How much output o of `a` takes of each element: a row of the matrix that resample multiplies by.
std::vector<double> RowOf(const ResampleAttrs& a, int64_t o) {
  const auto in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  const auto place = static_cast<double>(o);
  std::vector<double> row(static_cast<size_t>(a.in));
  const auto add = [&](double i, double w) {
    row[static_cast<size_t>(std::clamp(i, 0.0, in - 1))] += w;
  };
  double scale = a.scale != 0 ? a.scale : in / out;
  if (a.align_corners) scale = out > 1 ? (in - 1) / (out - 1) : 0;
  const double middle = scale * (place + 0.5);
  const bool cubic = a.mode == InterpolateMode::kCubic;
  if (a.mode == InterpolateMode::kNearest) {
    add(std::floor(place * scale + 1e-9), 1);
  } else if (a.mode == InterpolateMode::kNearestExact) {
    add(std::floor(middle + 1e-9), 1);
  } else if (a.antialias) {
    const double wide = std::max(scale, 1.0), reach = (cubic ? 2 : 1) * wide;
    double sum = 0;
    for (int64_t i = 0; i < a.in; ++i) {
      const double e = static_cast<double>(i);
      // Pillow's window, in whole elements.
      if (e < std::floor(middle - reach + 0.5) || e >= std::floor(middle + reach + 0.5)) continue;
      const double d = (e + 0.5 - middle) / wide;
      const double w = cubic ? Cubic(d, -0.5) : std::max(0.0, 1 - std::abs(d));
      add(e, w);
      sum += w;
    }
    for (double& w : row) w /= sum;
  } else {
    const double at = a.align_corners ? place * scale : middle - 0.5;
    const double from = cubic ? at : std::max(at, 0.0), low = std::floor(from);
    for (int j = cubic ? -1 : 0; j <= (cubic ? 2 : 1); ++j) {
      const double d = from - low - j;
      add(low + j, cubic ? Cubic(d, -0.75) : 1 - std::abs(d));
    }
  }
  return row;
}

// Along the dimension of `a`, the matrix of its rows, or its transpose.
RefTensor Multiplied(const RefTensor& x, const ResampleAttrs& a, bool transposed) {
  Dims sizes = x.shape.dims();
  const auto dim = static_cast<size_t>(a.dim);
  sizes[static_cast<int>(dim)] = transposed ? a.in : a.out;
  RefTensor y(Shape(sizes.span()));
  for (int64_t o = 0; o < a.out; ++o) {
    const std::vector<double> row = RowOf(a, o);
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      if (transposed) {
        from[dim] = o;
        y.at(at) += row[static_cast<size_t>(at[dim])] * x.at(from);
      } else if (at[dim] == o) {
        for (int64_t i = 0; i < a.in; ++i) {
          from[dim] = i;
          y.at(at) += row[static_cast<size_t>(i)] * x.at(from);
        }
      }
    });
  }
  return y;
}

constexpr auto kNearest = InterpolateMode::kNearest;
constexpr auto kExact = InterpolateMode::kNearestExact;
constexpr auto kLinear = InterpolateMode::kLinear;
constexpr auto kCubic = InterpolateMode::kCubic;

// Calls f(name, attrs, inner sizes).
template <class F>
void ForEachCase(const F& f) {
  f("nearest", ResampleAttrs{1, 5, 8, kNearest}, 1);
  f("nearest, fewer, rows", ResampleAttrs{1, 7, 3, kNearest}, 4);
  f("nearest exact", ResampleAttrs{1, 5, 9, kExact}, 3);
  f("nearest, twice as many", ResampleAttrs{1, 21, 42, kNearest}, 1);
  f("nearest, twice as many rows", ResampleAttrs{1, 5, 10, kNearest}, 19);
  f("nearest, three times as many", ResampleAttrs{1, 5, 15, kNearest}, 1);
  f("nearest, a scale", ResampleAttrs{1, 5, 7, kNearest, false, false, 0.65}, 1);
  f("linear", ResampleAttrs{1, 4, 9, kLinear}, 1);
  f("linear rows", ResampleAttrs{1, 5, 3, kLinear}, 6);
  f("linear, aligned", ResampleAttrs{1, 4, 7, kLinear, true}, 2);
  f("linear, to one", ResampleAttrs{1, 4, 1, kLinear, true}, 1);
  f("linear of one", ResampleAttrs{1, 1, 4, kLinear}, 2);
  f("linear, a scale", ResampleAttrs{1, 5, 7, kLinear, false, false, 0.65}, 1);
  f("linear, antialiased", ResampleAttrs{1, 9, 4, kLinear, false, true}, 1);
  f("antialiased, larger", ResampleAttrs{1, 4, 9, kLinear, false, true}, 2);
  f("cubic", ResampleAttrs{1, 6, 11, kCubic}, 1);
  f("cubic of few", ResampleAttrs{1, 2, 5, kCubic}, 3);
  f("cubic, aligned", ResampleAttrs{1, 6, 4, kCubic, true}, 2);
  f("cubic, antialiased", ResampleAttrs{1, 11, 4, kCubic, false, true}, 2);
}

FIRN_REGISTER_SAMPLES(resample) {
  s.Function([](In in, const ResampleAttrs& a) { return Resample(in[0], a); });
  s.WithoutVectors("interpolate, which is made of it, has some");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{Multiplied(in[0], attrs.get<ResampleAttrs>(), false)};
  });
  ForEachCase([&](const char* name, const ResampleAttrs& a, int64_t inner) {
    s.Add(name, {Normal({3, a.in, inner})}, a);
  });
  s.Add("channels", {Normal({2, 8, 3, 4})}, ResampleAttrs{2, 3, 5, kLinear});
  s.Add("nothing", {Normal({0, 3})}, ResampleAttrs{1, 3, 2, kLinear});
  s.AddLarge("rows 8x64x56x56", {Normal({512, 56, 56})}, ResampleAttrs{1, 56, 112, kLinear}, 1.3e7,
             1.9e7);
  s.AddLarge("columns 8x64x56x56", {Normal({512, 56, 56})}, ResampleAttrs{2, 56, 112, kLinear},
             1.3e7, 1.9e7);
  s.AddError("size", {Normal({3, 5})}, ResampleAttrs{1, 4, 8},
             "x [3, 5] has no dimension 1 of size 4");
  s.AddError("scale", {Normal({3, 4})}, ResampleAttrs{1, 4, 8, kLinear, false, false, -1},
             "scale must be 0 or a number of elements, got -1");
}

FIRN_REGISTER_SAMPLES(resample_grad) {
  s.Internal("the gradient of resample");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{Multiplied(in[0], attrs.get<ResampleAttrs>(), true)};
  });
  ForEachCase([&](const char* name, const ResampleAttrs& a, int64_t inner) {
    s.Add(name, {Normal({3, a.out, inner})}, a);
  });
  s.Add("nothing", {Normal({0, 2})}, ResampleAttrs{1, 3, 2, kLinear});
  s.AddLarge("rows 8x64x112x56", {Normal({512, 112, 56})}, ResampleAttrs{1, 56, 112, kLinear},
             1.3e7, 1.9e7);
  s.AddLarge("columns 8x64x56x112", {Normal({512, 56, 112})}, ResampleAttrs{2, 56, 112, kLinear},
             1.3e7, 1.9e7);
  s.AddError("size", {Normal({3, 5})}, ResampleAttrs{1, 4, 8},
             "x [3, 5] has no dimension 1 of size 8");
}

struct InterpolateAttrs {
  Sizes size = {};
  double scale_factor = 0;
  InterpolateMode mode = kNearest;
  bool align_corners = false, antialias = false;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("scale_factor", scale_factor);
    v.Field("mode", mode);
    v.Field("align_corners", align_corners);
    v.Field("antialias", antialias);
  }
};

InterpolateOptions OptionsOf(const InterpolateAttrs& a) {
  InterpolateOptions o{
      .size = a.size, .mode = a.mode, .align_corners = a.align_corners, .antialias = a.antialias};
  if (a.scale_factor != 0) o.scale_factor = {a.scale_factor};
  return o;
}

FIRN_REGISTER_COMPOSITE(interpolate) {
  s.Declare({{.name = "x", .min_rank = 3, .max_rank = 5}});
  s.Function([](In in, const InterpolateAttrs& a) { return Interpolate(in[0], OptionsOf(a)); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<InterpolateAttrs>();
    RefTensor y = in[0];
    for (int i = 2; i < in[0].shape.rank(); ++i) {
      const int64_t size = in[0].shape[i];
      ResampleAttrs r{i,          size, a.size.given() ? a.size[i - 2] : 0, a.mode, a.align_corners,
                      a.antialias};
      if (a.scale_factor != 0) {
        r.out = static_cast<int64_t>(std::floor(static_cast<double>(size) * a.scale_factor));
        r.scale = 1 / a.scale_factor;
      }
      y = Multiplied(y, r, false);
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("images", {Normal({2, 3, 4, 5})}, InterpolateAttrs{.size = {6, 3}});
  s.Add("twice as large", {Normal({1, 2, 3, 4})}, InterpolateAttrs{{}, 2});
  s.Add("sequences by a factor", {Normal({2, 3, 7})}, InterpolateAttrs{{}, 1.6, kLinear});
  s.Add("volumes", {Normal({1, 2, 3, 2, 3})},
        InterpolateAttrs{.size = {2, 5, 3}, .mode = kLinear, .align_corners = true});
  s.Add("bicubic", {Normal({1, 2, 5, 4})}, InterpolateAttrs{.size = {8, 9}, .mode = kCubic});
  s.Add("blocked channels", {Normal({1, 16, 4, 4})}, InterpolateAttrs{.size = 6, .mode = kLinear});
  s.Add("antialiased", {Normal({1, 1, 9, 8})},
        InterpolateAttrs{.size = {4, 3}, .mode = kLinear, .antialias = true});
  s.Add("integers", {Integers({1, 2, 3, 4}, 0, 200)}, InterpolateAttrs{.size = {5, 2}});
  s.Add("flags", {Booleans({1, 2, 5})}, InterpolateAttrs{.size = 3, .mode = kExact});
  s.Add("no samples", {Normal({0, 2, 5})}, InterpolateAttrs{.size = 3, .mode = kLinear});
  const Tensor planes = Normal({8, 64, 56, 56});
  s.AddLarge("nearest, larger", {planes}, InterpolateAttrs{.size = {112, 112}}, 0, 32e6);
  s.AddLarge("linear, larger", {planes}, InterpolateAttrs{.size = {112, 112}, .mode = kLinear},
             6 * 6.4e6, 32e6);
  s.AddLarge("linear, smaller", {planes}, InterpolateAttrs{.size = {37, 37}, .mode = kLinear},
             6 * 0.7e6, 9.2e6);
  s.AddLarge("cubic, larger", {planes}, InterpolateAttrs{.size = {112, 112}, .mode = kCubic},
             14 * 6.4e6, 32e6);
  s.AddLarge("cubic, smaller, antialiased", {planes},
             InterpolateAttrs{.size = {37, 37}, .mode = kCubic, .antialias = true}, 14 * 0.7e6,
             9.2e6);
  s.AddError("both", {Normal({1, 2, 5})}, InterpolateAttrs{2, 2.0},
             "expected one of size and scale_factor, got both");
  s.AddError("size", {Normal({1, 2, 5})}, InterpolateAttrs{.size = {2, 3}},
             "expected one number or 1 for x [1, 2, 5], got 2");
  s.AddError("rank", {Normal({2, 5})}, InterpolateAttrs{.size = 3}, "x must be [n, c, w]");
  s.AddError("integers", {Integers({1, 2, 5}, 0, 9)}, InterpolateAttrs{.size = 3, .mode = kLinear},
             "or the mode a nearest one, got i64 [1, 2, 5]");
  s.AddError("too small", {Normal({1, 2, 5})}, InterpolateAttrs{{}, 0.1},
             "dimension 2 of x [1, 2, 5] would get size 0");
  s.AddError("corners", {Normal({1, 2, 5})}, InterpolateAttrs{.size = 3, .align_corners = true},
             "align_corners is for the modes linear and cubic");
}

}  // namespace
}  // namespace firn::testing
