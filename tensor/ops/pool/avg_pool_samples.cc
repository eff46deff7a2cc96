#include <cmath>
#include <vector>

#include "firn/tensor/ops/conv/images_samples.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/problems/pool_problem.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// The functions that users call, on the attributes of the operations.
template <Tensor (*kPool)(const Tensor&, const AvgPoolOptions&),
          Tensor (*kAdaptive)(const Tensor&, const Sizes&)>
Tensor CallPool(In in, const PoolAttrs& a) {
  if (a.is_adaptive()) return kAdaptive(in[0], a.adaptive);
  return kPool(in[0], {.kernel = a.kernel,
                       .stride = a.stride,
                       .padding = a.padding,
                       .ceil_mode = a.ceil_mode,
                       .count_include_pad = a.count_include_pad,
                       .divisor_override = a.divisor_override});
}

// Whether position p of dimension `i`, of `in` positions, lies in window o.
bool Inside(int64_t o, int64_t p, int64_t in, const PoolAttrs& a, int i) {
  if (a.is_adaptive()) {
    const double scale = static_cast<double>(in) / static_cast<double>(a.adaptive[i]);
    return static_cast<double>(p) >= std::floor(static_cast<double>(o) * scale) &&
           static_cast<double>(p) < std::ceil(static_cast<double>(o + 1) * scale);
  }
  const int64_t start = o * a.stride[i] - a.padding[i];
  return p >= start && p < start + a.kernel[i];
}

// The divisor of the window at `o`: PyTorch counts padding up to the padded image's end.
double Divisor(absl::Span<const int64_t> o, const Sizes& image, const PoolAttrs& a) {
  if (a.divisor_override != 0) return static_cast<double>(a.divisor_override);
  int64_t divisor = 1;
  for (int i = 0; i < image.count(); ++i) {
    const int64_t pad = a.is_adaptive() || !a.count_include_pad ? 0 : a.padding[i];
    int64_t n = 0;
    for (int64_t p = -pad; p < image[i] + pad; ++p) {
      n += Inside(o[static_cast<size_t>(i)], p, image[i], a, i);
    }
    divisor *= n;
  }
  return static_cast<double>(divisor);
}

// Calls f(output's position, image's position, weight) for every element of every window.
template <class F>
void ForEachElement(const Shape& image, const Shape& pooled, const PoolAttrs& a, F&& f) {
  const Sizes size = ImageOf(image);
  ForEachIndex(pooled, [&](absl::Span<const int64_t> at) {
    const double weight = 1 / Divisor(at.subspan(2), size, a);
    ForEachIndex(Shape(size.span()), [&](absl::Span<const int64_t> p) {
      std::vector<int64_t> from = {at[0], at[1]};
      for (int i = 0; i < size.count(); ++i) {
        const auto j = static_cast<size_t>(i);
        if (!Inside(at[j + 2], p[j], size[i], a, i)) return;
        from.push_back(p[j]);
      }
      f(at, absl::MakeConstSpan(from), weight);
    });
  });
}

std::vector<RefTensor> Averages(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const PoolAttrs& a = attrs.get<PoolAttrs>();
  const Shape& x = in[0].shape;
  RefTensor y(*ShapeOfImages(x[0], x[1], *PoolOutputSize(ImageOf(x), a)));
  ForEachElement(x, y.shape, a,
                 [&](auto at, auto from, double weight) { y.at(at) += in[0].at(from) * weight; });
  return {y};
}

std::vector<RefTensor> Spread(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const PoolAttrs& a = attrs.get<PoolAttrs>();
  const Shape& g = in[0].shape;
  RefTensor x(*ShapeOfImages(g[0], g[1], a.image.Over(g.rank() - 2)));
  ForEachElement(x.shape, g, a,
                 [&](auto at, auto from, double weight) { x.at(from) += in[0].at(at) * weight; });
  return {x};
}

FIRN_REGISTER_SAMPLES(avg_pool1d) {
  s.Function(CallPool<AvgPool1d, AdaptiveAvgPool1d>);
  s.Reference(Averages);
  s.Add("2", {Normal({2, 3, 7})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("padding not counted, ceil mode", {Normal({1, 2, 8})},
        PoolAttrs{
            .kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
  s.Add("adaptive", {Normal({2, 2, 7})}, PoolAttrs{.adaptive = 3});
  s.Add("blocked channels", {Normal({2, 16, 5})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("no sequences", {Normal({0, 2, 5})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.AddLarge("64x64x512", {Normal({64, 64, 512})}, PoolAttrs{.kernel = 2, .stride = 2}, 2.1e6,
             1.3e7);
  s.AddError("rank", {Normal({1, 1, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 1},
             "x must have 3 dimensions");
  s.AddError("two paddings", {Normal({1, 1, 4})},
             PoolAttrs{.kernel = 2, .stride = 1, .padding = {1, 1}},
             "padding (1, 1) has 2 numbers (want 1)");
}

FIRN_REGISTER_SAMPLES(avg_pool2d) {
  s.Function(CallPool<AvgPool2d, AdaptiveAvgPool2d>);
  s.Reference(Averages);
  s.Add("2x2", {Normal({2, 3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("overlapping with padding", {Normal({1, 2, 5, 7})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1});
  s.Add("padding not counted", {Normal({1, 2, 5, 7})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false});
  s.Add("ceil mode", {Normal({1, 2, 6, 5})},
        PoolAttrs{.kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 1}, .ceil_mode = true});
  s.Add("sum", {Normal({1, 2, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 2, .divisor_override = 1});
  s.Add("adaptive", {Normal({2, 3, 7, 5})}, PoolAttrs{.adaptive = {3, 2}});
  s.Add("adaptive, grows", {Normal({1, 2, 2, 3})}, PoolAttrs{.adaptive = {4, 5}});
  s.Add("global, blocked channels", {Normal({2, 16, 4, 3})}, PoolAttrs{.adaptive = 1});
  s.AddLarge("64x512x8x8", {Normal({64, 512, 8, 8})}, PoolAttrs{.kernel = 2, .stride = 2}, 2.1e6,
             1e7);
  s.AddError("kernel", {Normal({1, 1, 4, 4})}, PoolAttrs{.kernel = 0, .stride = 1},
             "kernel height 0 (want 1 to 16777216)");
  s.AddError("divisor", {Normal({1, 1, 4, 4})},
             PoolAttrs{.kernel = 2, .stride = 1, .divisor_override = -1}, "divisor_override -1");
}

FIRN_REGISTER_SAMPLES(avg_pool3d) {
  s.Function(CallPool<AvgPool3d, AdaptiveAvgPool3d>);
  s.Reference(Averages);
  s.Add("2x2x2", {Normal({2, 2, 4, 3, 4})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add(
      "unequal sides with padding, ceil mode", {Normal({1, 2, 5, 4, 6})},
      PoolAttrs{.kernel = {3, 1, 2}, .stride = {2, 1, 3}, .padding = {1, 0, 1}, .ceil_mode = true});
  s.Add("padding not counted", {Normal({1, 1, 3, 4, 4})},
        PoolAttrs{.kernel = 2, .stride = 2, .padding = 1, .count_include_pad = false});
  s.Add("adaptive", {Normal({1, 2, 3, 5, 4})}, PoolAttrs{.adaptive = {2, 3, 1}});
  s.Add("blocked channels", {Normal({1, 16, 2, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.AddLarge("16x16x16x32x32", {Normal({16, 16, 16, 32, 32})}, PoolAttrs{.kernel = 2, .stride = 2},
             4.2e6, 1.9e7);
  s.AddError("rank", {Normal({1, 4, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 1},
             "x must have 5 dimensions");
}

FIRN_REGISTER_SAMPLES(avg_pool1d_grad) {
  s.Internal("the gradient of avg_pool1d");
  s.Reference(Spread);
  s.Add("3", {Normal({1, 2, 3})}, PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .image = 5});
  s.Add("adaptive", {Normal({2, 2, 3})}, PoolAttrs{.adaptive = 3, .image = 7});
  s.AddError("size", {Normal({1, 2, 3})}, PoolAttrs{.kernel = 2, .stride = 2, .image = 5},
             "pooling the image gives 2");
}

FIRN_REGISTER_SAMPLES(avg_pool2d_grad) {
  s.Internal("the gradient of avg_pool2d");
  s.Reference(Spread);
  s.Add("3x3", {Normal({1, 2, 3, 4})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .image = {5, 7}});
  s.Add("adaptive", {Normal({2, 2, 3, 2})}, PoolAttrs{.adaptive = {3, 2}, .image = {7, 5}});
  s.AddError("size", {Normal({1, 2, 3, 4})}, PoolAttrs{.kernel = 2, .stride = 2, .image = {5, 7}},
             "pooling the image gives (2, 3)");
}

FIRN_REGISTER_SAMPLES(avg_pool3d_grad) {
  s.Internal("the gradient of avg_pool3d");
  s.Reference(Spread);
  s.Add("3x1x2", {Normal({1, 2, 3, 4, 3})},
        PoolAttrs{
            .kernel = {3, 1, 2}, .stride = {2, 1, 2}, .padding = {1, 0, 0}, .image = {5, 4, 6}});
  s.Add("adaptive", {Normal({1, 1, 2, 3, 2})},
        PoolAttrs{.adaptive = {2, 3, 2}, .image = {3, 5, 4}});
  s.AddError("image", {Normal({1, 1, 2, 2, 2})},
             PoolAttrs{.kernel = 2, .stride = 2, .image = {4, 4}},
             "image (4, 4) has 2 numbers (want 1 or 3)");
}

template <Tensor (*kPool)(const Tensor&, const AvgPoolOptions&)>
Tensor GoldenPool(GoldenArgs& args) {
  const Sizes kernel = SizesFrom(args, "kernel", 1);
  return kPool(args["x"], {.kernel = kernel,
                           .stride = args.Has("stride") ? SizesFrom(args, "stride", 1) : kernel,
                           .padding = SizesFrom(args, "padding", 0),
                           .ceil_mode = args.Flag("ceil_mode", false),
                           .count_include_pad = args.Flag("count_include_pad", true),
                           .divisor_override = args.Int("divisor_override", 0)});
}

FIRN_REGISTER_GOLDEN(avg_pool1d) { return GoldenPool<AvgPool1d>(args); }
FIRN_REGISTER_GOLDEN(avg_pool2d) { return GoldenPool<AvgPool2d>(args); }
FIRN_REGISTER_GOLDEN(avg_pool3d) { return GoldenPool<AvgPool3d>(args); }
FIRN_REGISTER_GOLDEN(adaptive_avg_pool1d) {
  return AdaptiveAvgPool1d(args["x"], SizesFrom(args, "output_size", 1));
}
FIRN_REGISTER_GOLDEN(adaptive_avg_pool2d) {
  return AdaptiveAvgPool2d(args["x"], SizesFrom(args, "output_size", 1));
}
FIRN_REGISTER_GOLDEN(adaptive_avg_pool3d) {
  return AdaptiveAvgPool3d(args["x"], SizesFrom(args, "output_size", 1));
}

}  // namespace
}  // namespace firn::testing
