#include <optional>
#include <vector>

#include "firn/tensor/ops/conv/images_samples.h"
#include "firn/tensor/ops/conv/unfold.h"
#include "firn/tensor/ops/conv/unfold_body.h"
#include "firn/tensor/problems/images.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using At = std::vector<int64_t>;

Shape ShapeOf(const Sizes& sizes) { return Shape(sizes.span()); }

// Calls f(position in the image, row, window) for every element of the columns of an image that is
// not padding.
template <class F>
void ForEachTap(const Shape& image, const UnfoldAttrs& a, F&& f) {
  const int dims = image.rank() - 2;
  const Sizes kernel = a.kernel.Over(dims);
  const Sizes windows = *UnfoldedWindows(ImageOf(image), a);
  int64_t row = 0;
  for (int64_t c = 0; c < image[1]; ++c) {
    ForEachIndex(ShapeOf(kernel), [&](absl::Span<const int64_t> tap) {
      int64_t window = 0;
      ForEachIndex(ShapeOf(windows), [&](absl::Span<const int64_t> o) {
        At at = {c};
        for (int i = 0; i < dims; ++i) {
          const auto j = static_cast<size_t>(i);
          const int64_t p = o[j] * a.stride[i] - a.padding[i] + tap[j] * a.dilation[i];
          if (p >= 0 && p < image[i + 2]) at.push_back(p);
        }
        if (at.size() == static_cast<size_t>(dims) + 1) f(at, row, window);
        ++window;
      });
      ++row;
    });
  }
}

// The position with its batch.
At InBatch(int64_t n, const At& at) {
  At full = {n};
  full.insert(full.end(), at.begin(), at.end());
  return full;
}

FIRN_REGISTER_SAMPLES(unfold) {
  s.Function([](In in, const UnfoldAttrs& a) {
    return Unfold(in[0], {.kernel = a.kernel,
                          .dilation = a.dilation,
                          .padding = a.padding,
                          .stride = a.stride,
                          .dims = in[0].rank() - 2});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const UnfoldAttrs& a = attrs.get<UnfoldAttrs>();
    const Shape& x = in[0].shape;
    const int dims = x.rank() - 2;
    RefTensor y(Shape(
        {x[0], x[1] * a.kernel.Over(dims).volume(), UnfoldedWindows(ImageOf(x), a)->volume()}));
    ForEachTap(x, a, [&](const At& at, int64_t row, int64_t window) {
      for (int64_t n = 0; n < x[0]; ++n) {
        y.at({n, row, window}) = in[0].at(InBatch(n, at));
      }
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("2x3", {Normal({2, 3, 4, 5})}, UnfoldAttrs{.kernel = {2, 3}});
  s.Add("strides, dilations and padding", {Normal({1, 2, 7, 6})},
        UnfoldAttrs{.kernel = {3, 2}, .dilation = {2, 1}, .padding = {1, 2}, .stride = {1, 3}});
  s.Add("sequences", {Normal({2, 2, 9})}, UnfoldAttrs{.kernel = 3, .padding = 1, .stride = 2});
  s.Add("volumes", {Normal({1, 2, 3, 4, 3})},
        UnfoldAttrs{.kernel = {2, 2, 3}, .padding = {1, 0, 0}, .stride = {2, 1, 1}});
  s.Add("8 channels", {Normal({1, 8, 3, 3})}, UnfoldAttrs{.kernel = 2});
  s.Add("no images", {Normal({0, 2, 3, 3})}, UnfoldAttrs{.kernel = 2});
  s.Add("padding beyond the image", {Normal({1, 1, 2, 3})},
        UnfoldAttrs{.kernel = 2, .padding = {3, 4}, .stride = {2, 3}});
  s.AddLarge("64x16x28x28, 3x3", {Normal({64, 16, 28, 28})}, UnfoldAttrs{.kernel = 3, .padding = 1},
             0, 4.0 * 64 * 16 * 28 * 28 * 10);
  s.AddError("rank", {Normal({3, 4})}, UnfoldAttrs{.kernel = 2}, "x must have 3 to 5 dimensions");
  s.AddError("kernel too large", {Normal({1, 1, 2, 4})}, UnfoldAttrs{.kernel = 3},
             "the kernel covers 3 in height, x with padding has 2");
  s.AddError("strides", {Normal({1, 1, 4, 4})}, UnfoldAttrs{.kernel = 2, .stride = {1, 0}},
             "stride (1, 0) (want 1 to 16777216)");
  s.AddError("sizes", {Normal({1, 1, 4, 4})}, UnfoldAttrs{.kernel = {2, 2, 2}},
             "kernel (2, 2, 2) has 3 numbers (want 1 or 2)");
  s.AddError("integers", {Integers({1, 1, 4, 4}, 0, 9)}, UnfoldAttrs{.kernel = 2},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(fold) {
  s.Function([](In in, const UnfoldAttrs& a) {
    return Fold(in[0], {.output_size = a.output_size,
                        .kernel = a.kernel,
                        .dilation = a.dilation,
                        .padding = a.padding,
                        .stride = a.stride,
                        .dims = a.output_size.count()});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const UnfoldAttrs& a = attrs.get<UnfoldAttrs>();
    const Shape& x = in[0].shape;
    const int64_t taps = a.kernel.Over(a.output_size.count()).volume();
    RefTensor y(*ShapeOfImages(x[0], x[1] / taps, a.output_size));
    ForEachTap(y.shape, a, [&](const At& at, int64_t row, int64_t window) {
      for (int64_t n = 0; n < x[0]; ++n) y.at(InBatch(n, at)) += in[0].at({n, row, window});
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("2x3", {Normal({2, 18, 9})}, UnfoldAttrs{.kernel = {2, 3}, .output_size = {4, 5}});
  s.Add("strides, dilations and padding", {Normal({1, 12, 20})},
        UnfoldAttrs{.kernel = {3, 2},
                    .dilation = {2, 1},
                    .padding = {1, 2},
                    .stride = {1, 2},
                    .output_size = {7, 5}});
  s.Add("sequences", {Normal({2, 6, 5})},
        UnfoldAttrs{.kernel = 3, .padding = 1, .stride = 2, .output_size = 9});
  s.Add("volumes", {Normal({1, 24, 6})},
        UnfoldAttrs{.kernel = {2, 2, 3},
                    .padding = {1, 0, 0},
                    .stride = {2, 1, 1},
                    .output_size = {3, 4, 3}});
  s.Add("no images", {Normal({0, 8, 4})}, UnfoldAttrs{.kernel = 2, .output_size = {3, 3}});
  s.Add("padding beyond the image", {Normal({1, 4, 16})},
        UnfoldAttrs{.kernel = 2, .padding = {3, 4}, .stride = {2, 3}, .output_size = {2, 3}});
  s.Add("rows of several parts", {Normal({1, 3, 4102})},
        UnfoldAttrs{.kernel = 3, .dilation = 2, .padding = 3, .output_size = 4100})
      .check_gradient = false;
  s.Add("strided rows of several parts", {Normal({1, 3, 1250})},
        UnfoldAttrs{.kernel = 3, .padding = 1, .stride = 2, .output_size = 2499})
      .check_gradient = false;
  s.Add(
       "several bands", {Normal({1, 6, 41 * 121})},
       UnfoldAttrs{.kernel = {3, 2}, .padding = {2, 1}, .stride = {2, 1}, .output_size = {79, 120}})
      .check_gradient = false;
  s.AddLarge("64x16x28x28, 3x3", {Normal({64, 144, 784})},
             UnfoldAttrs{.kernel = 3, .padding = 1, .output_size = {28, 28}}, 7.2e6,
             4.0 * 64 * 16 * 28 * 28 * 10);
  s.AddError("rank", {Normal({1, 1, 4, 4})}, UnfoldAttrs{.kernel = 2, .output_size = {3, 3}},
             "x must have 3 dimensions");
  s.AddError("rows", {Normal({1, 6, 4})}, UnfoldAttrs{.kernel = 2, .output_size = {3, 3}},
             "has 6 rows, which is no multiple of the 4 taps of kernel 2");
  s.AddError("windows", {Normal({1, 4, 5})}, UnfoldAttrs{.kernel = 2, .output_size = {3, 3}},
             "x [1, 4, 5] has 5 windows, an image of (3, 3) has (2, 2)");
  s.AddError("image", {Normal({1, 4, 5})}, UnfoldAttrs{.kernel = 2, .output_size = {3, -3}},
             "image width -3 (want 0 to");
}

template <class Options>
Options OptionsFrom(GoldenArgs& args) {
  Options o;
  o.kernel = SizesFrom(args, "kernel", 1);
  o.dilation = SizesFrom(args, "dilation", 1);
  o.padding = SizesFrom(args, "padding", 0);
  o.stride = SizesFrom(args, "stride", 1);
  return o;
}

FIRN_REGISTER_GOLDEN(unfold) { return Unfold(args["x"], OptionsFrom<UnfoldOptions>(args)); }
FIRN_REGISTER_GOLDEN(fold) {
  FoldOptions options = OptionsFrom<FoldOptions>(args);
  options.output_size = SizesFrom(args, "output_size", 1);
  return Fold(args["x"], options);
}

}  // namespace
}  // namespace firn::testing
