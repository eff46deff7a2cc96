#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/tensor/ops/vision/grid_sample.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// A place in elements, mirrored step by step until it lies inside.
double Mirrored(double place, double low, double high) {
  if (high <= low) return 0;
  while (place < low || place > high) place = place < low ? 2 * low - place : 2 * high - place;
  return place;
}

double Padded(double place, double size, const GridSampleAttrs& a) {
  if (a.padding == GridSamplePadding::kZeros) return place;
  if (a.padding == GridSamplePadding::kReflection) {
    place = a.align_corners ? Mirrored(place, 0, size - 1) : Mirrored(place, -0.5, size - 0.5);
  }
  return std::clamp(place, 0.0, size - 1);
}

double CubicWeight(double d) {
  d = std::abs(d);
  if (d < 1) return 1.25 * d * d * d - 2.25 * d * d + 1;
  return d < 2 ? -0.75 * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

// The weight of each element along a dimension for the grid's number g.
std::vector<double> LineOf(double g, int64_t size, const GridSampleAttrs& a) {
  const auto n = static_cast<double>(size);
  std::vector<double> line(static_cast<size_t>(size));
  const auto add = [&](double i, double w) {
    if (i >= 0 && i < n) line[static_cast<size_t>(i)] += w;
  };
  const double plain = a.pixels          ? g
                       : a.align_corners ? (g + 1) / 2 * (n - 1)
                                         : ((g + 1) * n - 1) / 2;
  if (a.mode == GridSampleMode::kCubic) {
    for (int j = -1; j <= 2; ++j) {
      const double i = std::floor(plain) + j;
      add(Padded(i, n, a), CubicWeight(plain - i));
    }
    return line;
  }
  const double place = Padded(plain, n, a);
  if (a.mode == GridSampleMode::kNearest) {
    add(std::nearbyint(place), 1);
  } else {
    const double low = std::floor(place);
    add(low, 1 - (place - low));
    add(low + 1, place - low);
  }
  return line;
}

// y[n][c][place]: the sum over all elements of x by the product of their weights.
std::vector<RefTensor> Sampled(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const auto& a = attrs.get<GridSampleAttrs>();
  const RefTensor &x = in[0], &grid = in[1];
  const int dims = x.shape.rank() - 2;
  Dims sizes = grid.shape.dims();
  sizes[1] = x.shape[1];
  for (int i = 0; i < dims; ++i) sizes[i + 2] = grid.shape[i + 1];
  RefTensor y(Shape(sizes.span()));
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    std::vector<int64_t> place(at.begin(), at.end());
    place.erase(place.begin() + 1);
    place.push_back(0);
    std::vector<std::vector<double>> lines;  // of the outermost dimension first
    for (int i = 0; i < dims; ++i) {
      place.back() = dims - 1 - i;
      lines.push_back(LineOf(grid.at(place), x.shape[i + 2], a));
    }
    ForEachIndex(x.shape, [&](absl::Span<const int64_t> from) {
      if (from[0] != at[0] || from[1] != at[1]) return;
      double w = 1;
      for (size_t i = 0; i < lines.size(); ++i) w *= lines[i][static_cast<size_t>(from[i + 2])];
      y.at(at) += w * x.at(from);
    });
  });
  return {y};
}

using Mode = GridSampleMode;
using Padding = GridSamplePadding;

FIRN_REGISTER_SAMPLES(grid_sample) {
  s.Function([](In in, const GridSampleAttrs& a) {
    return a.pixels ? SampleElements(in[0], in[1], a) : GridSample(in[0], in[1], a);
  });
  s.Reference(Sampled);
  // Places of 1.3 beyond the edges; none on a kink to within what differences look at.
  const auto images = [](uint64_t seed) { return Uniform({2, 3, 4, 2}, -1.3, 1.3, seed); };
  for (const Mode mode : {Mode::kLinear, Mode::kNearest, Mode::kCubic}) {
    for (const Padding padding : {Padding::kZeros, Padding::kBorder, Padding::kReflection}) {
      for (const bool align : {false, true}) {
        const std::string name =
            absl::StrCat(WordFor(mode), ", ", WordFor(padding), align ? ", aligned" : "");
        s.Add(name, {Normal({2, 3, 5, 4}), images(7)}, GridSampleAttrs{{mode, padding, align}})
            .check_gradient = mode != Mode::kNearest;
        if (mode == Mode::kCubic) continue;
        s.Add("volumes, " + name, {Normal({1, 2, 3, 2, 4}), Uniform({1, 2, 3, 2, 3}, -1.3, 1.3, 9)},
              GridSampleAttrs{{mode, padding, align}})
            .check_gradient = false;
      }
    }
  }
  s.Add("volumes", {Normal({1, 2, 3, 4, 3}), Uniform({1, 2, 1, 2, 3}, -0.9, 0.9, 3)},
        GridSampleAttrs{});
  s.Add("elements", {Normal({2, 3, 5, 4}), Uniform({2, 3, 4, 2}, -1.3, 5.3, 7)},
        GridSampleAttrs{{}, true});
  s.Add("elements, reflection", {Normal({2, 3, 5, 4}), Uniform({2, 3, 4, 2}, -6.3, 9.3, 7)},
        GridSampleAttrs{{Mode::kCubic, Padding::kReflection, true}, true});
  s.Add("one element", {Normal({1, 2, 1, 1}), Uniform({1, 2, 2, 2}, -0.9, 0.9, 4)},
        GridSampleAttrs{{.padding = Padding::kReflection, .align_corners = true}});
  s.Add("blocked channels", {Normal({1, 16, 4, 4}), Uniform({1, 3, 3, 2}, -0.9, 0.9, 5)},
        GridSampleAttrs{});
  s.Add("no places", {Normal({2, 3, 4, 4}), Normal({2, 0, 3, 2})}, GridSampleAttrs{});
  s.AddLarge("8x32x64x64", {Normal({8, 32, 64, 64}), Uniform({8, 64, 64, 2}, -1, 1)},
             GridSampleAttrs{}, 8.4e6, 8.7e6);
  s.AddError("grid", {Normal({2, 3, 4, 4}), Normal({2, 3, 3, 3})}, GridSampleAttrs{},
             "grid [2, 3, 3, 3] does not fit x [2, 3, 4, 4]: expected [n, h, w, 2]");
  s.AddError("cubic", {Normal({1, 1, 2, 2, 2}), Normal({1, 1, 1, 1, 3})},
             GridSampleAttrs{{Mode::kCubic}}, "mode bicubic is for images");
  s.AddError("nothing", {Normal({1, 1, 0, 2}), Normal({1, 1, 1, 2})}, GridSampleAttrs{},
             "x [1, 1, 0, 2] has nothing to sample");
}

FIRN_REGISTER_SAMPLES(grid_sample_grad) {
  s.Internal("the gradient of grid_sample");
  // The sum of dy y is linear in x, and between kinks a polynomial of degree 3 at most in a number
  // of the grid, whose derivative is four differences, but for their rounding.
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    std::vector<RefTensor> at = {in[1], in[2]},
                           grads = {RefTensor(in[1].shape), RefTensor(in[2].shape)};
    const auto loss = [&](double& number, double value) {
      const double was = std::exchange(number, value);
      const RefTensor y = Sampled(at, attrs)[0];
      number = was;
      double sum = 0;
      for (int64_t i = 0; i < y.size(); ++i) sum += y[i] * in[0][i];
      return sum;
    };
    for (int64_t i = 0; i < at[1].size(); ++i) {
      double& g = at[1][i];
      constexpr double kStep = 1e-3;
      grads[1][i] = (8 * (loss(g, g + kStep) - loss(g, g - kStep)) -
                     (loss(g, g + 2 * kStep) - loss(g, g - 2 * kStep))) /
                    (12 * kStep);
    }
    std::fill(at[0].values.begin(), at[0].values.end(), 0.0);
    for (int64_t i = 0; i < at[0].size(); ++i) grads[0][i] = loss(at[0][i], 1);
    return grads;
  });
  s.Add("images",
        {Normal({1, 2, 2, 3}), Normal({1, 2, 3, 4}, 2), Uniform({1, 2, 3, 2}, -0.9, 0.9, 3)},
        GridSampleAttrs{});
  s.Add("bicubic",
        {Normal({1, 2, 2, 2}), Normal({1, 2, 4, 5}, 2), Uniform({1, 2, 2, 2}, -0.9, 0.9, 3)},
        GridSampleAttrs{{Mode::kCubic, Padding::kBorder}});
  s.Add(
      "volumes",
      {Normal({1, 2, 1, 2, 2}), Normal({1, 2, 2, 3, 2}, 2), Uniform({1, 1, 2, 2, 3}, -0.9, 0.9, 3)},
      GridSampleAttrs{{Mode::kLinear, Padding::kReflection, true}});
  s.AddLarge("8x32x64x64",
             {Normal({8, 32, 64, 64}), Normal({8, 32, 64, 64}, 2), Uniform({8, 64, 64, 2}, -1, 1)},
             GridSampleAttrs{}, 2.5e7, 1.7e7);
  s.AddError("dy", {Normal({1, 2, 2, 2}), Normal({1, 2, 3, 4}), Normal({1, 2, 3, 2})},
             GridSampleAttrs{}, "dy [1, 2, 2, 2], want [1, 2, 2, 3]");
}

struct AffineGridAttrs {
  Dims size;
  bool align_corners = false;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("align_corners", align_corners);
  }
};

FIRN_REGISTER_COMPOSITE(affine_grid) {
  s.Declare({{.name = "theta", .dtypes = kFloating, .min_rank = 3, .max_rank = 3}},
            {{.name = "y", .same_dtype_as = "theta"}});
  s.Function([](In in, const AffineGridAttrs& a) {
    return AffineGrid(in[0], Shape(a.size.span()), a.align_corners);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<AffineGridAttrs>();
    const int dims = a.size.rank - 2;
    Dims sizes(dims + 2, dims);
    sizes[0] = a.size[0];
    for (int i = 0; i < dims; ++i) sizes[i + 1] = a.size[i + 2];
    RefTensor y(Shape(sizes.span()));
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const int64_t row = at.back();
      y.at(at) = in[0].at({at[0], row, dims});
      for (int i = 0; i < dims; ++i) {
        const auto dim = static_cast<size_t>(dims - i);  // of y: the last one is x
        const auto n = static_cast<double>(sizes[static_cast<int>(dim)]);
        const auto k = static_cast<double>(at[dim]);
        const double place = !a.align_corners ? (2 * k + 1) / n - 1
                             : n > 1          ? 2 * k / (n - 1) - 1
                                              : 0;
        y.at(at) += in[0].at({at[0], row, i}) * place;
      }
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("images", {Normal({2, 2, 3})}, AffineGridAttrs{Shape({2, 5, 3, 4}).dims()});
  s.Add("aligned", {Normal({1, 2, 3})}, AffineGridAttrs{Shape({1, 1, 3, 4}).dims(), true});
  s.Add("volumes", {Normal({2, 3, 4})}, AffineGridAttrs{Shape({2, 1, 2, 3, 2}).dims()});
  s.Add("one row", {Normal({1, 2, 3})}, AffineGridAttrs{Shape({1, 1, 1, 4}).dims(), true});
  s.AddLarge("16x256x256", {Normal({16, 2, 3})}, AffineGridAttrs{Shape({16, 3, 256, 256}).dims()},
             6 * 1e6, 8.4e6);
  s.AddError("theta", {Normal({2, 2, 3})}, AffineGridAttrs{Shape({1, 5, 3, 4}).dims()},
             "expected theta [n, 2, 3] for a size [n, c, h, w]");
}

FIRN_REGISTER_COMPOSITE(warp_by_flow) {
  s.WithoutVectors("PyTorch has no such function");
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 5},
             {.name = "flow", .same_dtype_as = "x", .min_rank = 4, .max_rank = 5}});
  s.Function<WarpByFlow>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const RefTensor &x = in[0], &flow = in[1];
    RefTensor y(x.shape);
    const int dims = x.shape.rank() - 2;
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<double> place;
      for (int i = 0; i < dims; ++i) {
        std::vector<int64_t> of(at.begin(), at.end());
        of[1] = dims - 1 - i;
        const auto dim = static_cast<size_t>(i + 2);
        place.push_back(std::clamp(static_cast<double>(at[dim]) + flow.at(of), 0.0,
                                   static_cast<double>(x.shape[i + 2] - 1)));
      }
      ForEachIndex(x.shape, [&](absl::Span<const int64_t> from) {
        if (from[0] != at[0] || from[1] != at[1]) return;
        double w = 1;
        for (size_t i = 0; i < place.size(); ++i) {
          w *= std::max(0.0, 1 - std::abs(place[i] - static_cast<double>(from[i + 2])));
        }
        y.at(at) += w * x.at(from);
      });
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("images", {Normal({2, 3, 4, 5}), Uniform({2, 2, 4, 5}, -2, 2, 4)});
  s.Add("volumes", {Normal({1, 2, 2, 3, 3}), Uniform({1, 3, 2, 3, 3}, -1, 1, 6)});
  // Places of half types would lie elements away; those of f32 below 256 by 2^-17 of one at most.
  s.Add("wide", {Normal({1, 1, 1, 250}), Uniform({1, 2, 1, 250}, -2, 2, 5)}).check_gradient = false;
  s.AddLarge("8x32x64x64", {Normal({8, 32, 64, 64}), Uniform({8, 2, 64, 64}, -4, 4)}, {}, 8.4e6,
             8.7e6);
  s.AddError("flow", {Normal({2, 3, 4, 5}), Normal({2, 3, 4, 5})}, {},
             "expected x [n, c, h, w] and flow [n, 2, h, w]");
}

}  // namespace
}  // namespace firn::testing
