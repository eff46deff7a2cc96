#include <cmath>
#include <limits>
#include <vector>

#include "firn/tensor/ops/conv/images_samples.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/problems/pool_problem.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using At = std::vector<int64_t>;

MaxPoolOptions OptionsOf(const PoolAttrs& a) {
  return {.kernel = a.kernel,
          .stride = a.stride,
          .padding = a.padding,
          .dilation = a.dilation,
          .ceil_mode = a.ceil_mode};
}

// The functions that users call, on the attributes of the operations.
template <Tensor (*kPool)(const Tensor&, const MaxPoolOptions&),
          Tensor (*kAdaptive)(const Tensor&, const Sizes&)>
Tensor CallPool(In in, const PoolAttrs& a) {
  return a.is_adaptive() ? kAdaptive(in[0], a.adaptive) : kPool(in[0], OptionsOf(a));
}

template <ValuesAndIndices (*kPool)(const Tensor&, const MaxPoolOptions&),
          ValuesAndIndices (*kAdaptive)(const Tensor&, const Sizes&)>
ValuesAndIndices CallPoolWithIndices(In in, const PoolAttrs& a) {
  const ValuesAndIndices y =
      a.is_adaptive() ? kAdaptive(in[0], a.adaptive) : kPool(in[0], OptionsOf(a));
  return {y.values, Cast(y.indices, DType::kI32)};  // they say i64, as PyTorch
}

// The positions of window `o` along dimension `i` that lie inside [0, in).
At Taps(int64_t o, int64_t in, int i, const PoolAttrs& a) {
  At taps;
  if (a.is_adaptive()) {
    const double scale = static_cast<double>(in) / static_cast<double>(a.adaptive[i]);
    const auto end = static_cast<int64_t>(std::ceil(static_cast<double>(o + 1) * scale));
    for (auto t = static_cast<int64_t>(static_cast<double>(o) * scale); t < end; ++t) {
      taps.push_back(t);
    }
    return taps;
  }
  for (int64_t t = 0; t < a.kernel[i]; ++t) {
    const int64_t at = o * a.stride[i] - a.padding[i] + t * a.dilation[i];
    if (at >= 0 && at < in) taps.push_back(at);
  }
  return taps;
}

std::vector<RefTensor> Pool(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const PoolAttrs& a = attrs.get<PoolAttrs>();
  const Shape& x = in[0].shape;
  const int dims = x.rank() - 2;
  const Sizes out = *PoolOutputSize(ImageOf(x), a);
  RefTensor y(*ShapeOfImages(x[0], x[1], out)), index(y.shape);
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    double best = -std::numeric_limits<double>::infinity();
    int64_t where = -1;
    std::vector<At> taps;
    At counts;
    for (int i = 0; i < dims; ++i) {
      taps.push_back(Taps(at[static_cast<size_t>(i) + 2], x[i + 2], i, a));
      counts.push_back(static_cast<int64_t>(taps.back().size()));
    }
    ForEachIndex(Shape(absl::MakeConstSpan(counts)), [&](absl::Span<const int64_t> tap) {
      At from = {at[0], at[1]};
      int64_t flat = 0;
      for (size_t i = 0; i < tap.size(); ++i) {
        from.push_back(taps[i][static_cast<size_t>(tap[i])]);
        flat = flat * x[static_cast<int>(i) + 2] + from.back();
      }
      const double v = in[0].at(from);
      if (where < 0 || v > best || (std::isnan(v) && !std::isnan(best))) {
        best = v;
        where = flat;
      }
    });
    y.at(at) = best;
    index.at(at) = static_cast<double>(where);
  });
  return {y, index};
}

FIRN_REGISTER_SAMPLES(max_pool1d) {
  s.Function(CallPool<MaxPool1d, AdaptiveMaxPool1d>);
  s.Function(CallPoolWithIndices<MaxPool1dWithIndices, AdaptiveMaxPool1dWithIndices>);
  s.Reference(Pool);
  s.Add("2", {Distinct({2, 3, 7})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("overlapping with padding and dilation", {Distinct({1, 2, 9})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true});
  s.Add("stride 1 with padding", {Distinct({1, 2, 40})},
        PoolAttrs{.kernel = 3, .stride = 1, .padding = 1});
  s.Add("stride 3 with dilation", {Distinct({1, 1, 61})},
        PoolAttrs{.kernel = 3, .stride = 3, .padding = 1, .dilation = 2});
  // More outputs than are computed at once.
  s.Add("wide", {Distinct({1, 1, 300})}, PoolAttrs{.kernel = 2, .stride = 1}).check_gradient =
      false;
  s.Add("ties and NaN, stride 1", {Values({1, 1, NAN, 2, NAN, 3, 3, 0}, {1, 1, 8})},
        PoolAttrs{.kernel = 3, .stride = 1})
      .check_gradient = false;
  s.Add("adaptive", {Distinct({2, 1, 7})}, PoolAttrs{.adaptive = 3});
  s.Add("blocked channels", {Distinct({2, 16, 5})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("no sequences", {Distinct({0, 2, 5})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.AddLarge("64x64x512", {Normal({64, 64, 512})}, PoolAttrs{.kernel = 2, .stride = 2}, 2.1e6,
             1.6e7);
  s.AddError("rank", {Normal({3, 4, 6, 6})}, PoolAttrs{.kernel = 2, .stride = 2},
             "x must have 3 dimensions");
  s.AddError("two strides", {Normal({3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = {2, 2}},
             "stride (2, 2) has 2 numbers (want 1)");
}

FIRN_REGISTER_SAMPLES(max_pool2d) {
  s.Function(CallPool<MaxPool2d, AdaptiveMaxPool2d>);
  s.Function(CallPoolWithIndices<MaxPool2dWithIndices, AdaptiveMaxPool2dWithIndices>);
  s.Reference(Pool);
  s.Add("2x2", {Distinct({2, 3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("overlapping with padding", {Distinct({1, 2, 5, 7})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1});
  s.Add("ceil mode", {Distinct({1, 2, 6, 5})},
        PoolAttrs{.kernel = 3, .stride = 2, .ceil_mode = true});
  s.Add("dilation", {Distinct({1, 1, 7, 8})},
        PoolAttrs{.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 1}, .dilation = {3, 2}});
  s.Add("blocked channels", {Distinct({2, 16, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("adaptive", {Distinct({2, 3, 7, 5})}, PoolAttrs{.adaptive = {3, 2}});
  // Attributes that adaptive windows do not need are neither checked nor used.
  s.Add("adaptive, global", {Distinct({1, 16, 4, 3})},
        PoolAttrs{.kernel = 1, .padding = 1, .dilation = -5, .adaptive = 1});
  s.Add("ties and NaN", {Values({1, 1, 1, 1, NAN, 2, 3, NAN}, {1, 1, 2, 4})},
        PoolAttrs{.kernel = 2, .stride = 2})
      .check_gradient = false;
  s.AddLarge("64x16x28x28", {Normal({64, 16, 28, 28})}, PoolAttrs{.kernel = 2, .stride = 2}, 8e5,
             4.8e6);
  s.AddError("rank", {Normal({3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2},
             "x must have 4 dimensions");
  s.AddError("a window of padding", {Normal({1, 1, 2, 6})},
             PoolAttrs{.kernel = 2, .stride = 1, .padding = 1, .dilation = 3},
             "holds nothing but padding");
  s.AddError("padding", {Normal({1, 3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2, .padding = 2},
             "padding height 2 (want 0 to half the kernel, 1)");
  s.AddError("adaptive", {Normal({1, 1, 4, 4})}, PoolAttrs{.adaptive = {2, -1}},
             "output_size (2, -1) (want 1 to 16777216)");
  s.AddError("adaptive, empty", {Normal({1, 1, 0, 4})}, PoolAttrs{.adaptive = 2},
             "x has an empty image");
  s.AddError("integers", {Integers({1, 1, 4, 4}, 0, 9)}, PoolAttrs{.kernel = 2, .stride = 2},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(max_pool3d) {
  s.Function(CallPool<MaxPool3d, AdaptiveMaxPool3d>);
  s.Function(CallPoolWithIndices<MaxPool3dWithIndices, AdaptiveMaxPool3dWithIndices>);
  s.Reference(Pool);
  s.Add("2x2x2", {Distinct({2, 2, 4, 3, 4})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("unequal sides", {Distinct({1, 2, 5, 4, 6})},
        PoolAttrs{.kernel = {3, 1, 2}, .stride = {2, 1, 3}, .padding = {1, 0, 1}});
  s.Add("dilation and ceil mode", {Distinct({1, 1, 6, 5, 7})},
        PoolAttrs{.kernel = 2, .stride = 2, .dilation = {3, 1, 2}, .ceil_mode = true});
  s.Add("adaptive", {Distinct({1, 2, 3, 5, 4})}, PoolAttrs{.adaptive = {2, 3, 1}});
  s.Add("blocked channels", {Distinct({1, 16, 2, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.AddLarge("16x16x16x32x32", {Normal({16, 16, 16, 32, 32})}, PoolAttrs{.kernel = 2, .stride = 2},
             4.2e6, 2.4e7);
  s.AddError("rank", {Normal({2, 3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2},
             "x must have 5 dimensions");
  s.AddError("two sides", {Normal({1, 1, 4, 4, 4})}, PoolAttrs{.kernel = {2, 2}, .stride = 2},
             "kernel (2, 2) has 2 numbers (want 1 or 3)");
}

template <class Options, class Pool, class PoolWithIndices>
GoldenResults EitherOf(GoldenArgs& args, const Options& options, Pool pool,
                       PoolWithIndices with_indices) {
  if (!args.Flag("return_indices", false)) return pool(args["x"], options);
  const ValuesAndIndices both = with_indices(args["x"], options);
  return {{"y", both.values}, {"indices", both.indices}};
}

MaxPoolOptions OptionsFrom(GoldenArgs& args) {
  const Sizes kernel = SizesFrom(args, "kernel", 1);
  return {.kernel = kernel,
          .stride = args.Has("stride") ? SizesFrom(args, "stride", 1) : kernel,
          .padding = SizesFrom(args, "padding", 0),
          .dilation = SizesFrom(args, "dilation", 1),
          .ceil_mode = args.Flag("ceil_mode", false)};
}

using Maxima = Tensor (*)(const Tensor&, const MaxPoolOptions&);

FIRN_REGISTER_GOLDEN(max_pool1d) {
  return EitherOf(args, OptionsFrom(args), Maxima(MaxPool1d), MaxPool1dWithIndices);
}
FIRN_REGISTER_GOLDEN(max_pool2d) {
  return EitherOf(args, OptionsFrom(args), Maxima(MaxPool2d), MaxPool2dWithIndices);
}
FIRN_REGISTER_GOLDEN(max_pool3d) {
  return EitherOf(args, OptionsFrom(args), Maxima(MaxPool3d), MaxPool3dWithIndices);
}
FIRN_REGISTER_GOLDEN(adaptive_max_pool1d) {
  return EitherOf(args, SizesFrom(args, "output_size", 1), AdaptiveMaxPool1d,
                  AdaptiveMaxPool1dWithIndices);
}
FIRN_REGISTER_GOLDEN(adaptive_max_pool2d) {
  return EitherOf(args, SizesFrom(args, "output_size", 1), AdaptiveMaxPool2d,
                  AdaptiveMaxPool2dWithIndices);
}
FIRN_REGISTER_GOLDEN(adaptive_max_pool3d) {
  return EitherOf(args, SizesFrom(args, "output_size", 1), AdaptiveMaxPool3d,
                  AdaptiveMaxPool3dWithIndices);
}

}  // namespace
}  // namespace firn::testing
