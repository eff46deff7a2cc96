#include <cmath>
#include <limits>

#include "tensor/ops/pool/pool_window.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

// The padded positions of window o that lie inside [0, in).
std::vector<int64_t> Taps(int64_t o, int64_t in, int64_t k, int64_t s, int64_t p, int64_t d) {
  std::vector<int64_t> taps;
  for (int64_t t = 0; t < k; ++t) {
    const int64_t i = o * s - p + t * d;
    if (i >= 0 && i < in) taps.push_back(i);
  }
  return taps;
}

FIRN_REGISTER_SAMPLES(max_pool2d) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const PoolAttrs& a = attrs.get<PoolAttrs>();
    const Shape& x = in[0].shape;
    const absl::StatusOr<Sizes> out = PoolOutputSize({x[2], x[3]}, a);
    RefTensor y(Shape({x[0], x[1], (*out)[0], (*out)[1]})), index(y.shape);
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      double best = -std::numeric_limits<double>::infinity();
      int64_t where = -1;
      for (int64_t i : Taps(at[2], x[2], a.kernel[0], a.stride[0], a.padding[0], a.dilation[0])) {
        for (int64_t j : Taps(at[3], x[3], a.kernel[1], a.stride[1], a.padding[1], a.dilation[1])) {
          const double v = in[0].at({at[0], at[1], i, j});
          if (where < 0 || v > best || (std::isnan(v) && !std::isnan(best))) {
            best = v;
            where = i * x[3] + j;
          }
        }
      }
      y.at(at) = best;
      index.at(at) = static_cast<double>(where);
    });
    return std::vector<RefTensor>{y, index};
  });
  s.Add("2x2", {Distinct({2, 3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("overlapping with padding", {Distinct({1, 2, 5, 7})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1});
  s.Add("ceil mode", {Distinct({1, 2, 6, 5})},
        PoolAttrs{.kernel = 3, .stride = 2, .ceil_mode = true});
  s.Add("dilation", {Distinct({1, 1, 7, 8})},
        PoolAttrs{.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 1}, .dilation = {3, 2}});
  s.Add("blocked channels", {Distinct({2, 16, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 2});
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
  // Sizes that adaptive windows give would leave the other options unchecked.
  s.AddError("adaptive", {Normal({1, 1, 4, 4})},
             PoolAttrs{.kernel = 1, .padding = 1, .dilation = -5, .adaptive = 2},
             "no adaptive windows");
  s.AddError("integers", {Integers({1, 1, 4, 4}, 0, 9)}, PoolAttrs{.kernel = 2, .stride = 2},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(max_pool2d_grad) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const Sizes& image = attrs.get<PoolAttrs>().image;
    RefTensor x(Shape({in[0].shape[0], in[0].shape[1], image[0], image[1]}));
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
      const auto flat = static_cast<int64_t>(in[1].at(at));
      x.at({at[0], at[1], flat / image[1], flat % image[1]}) += in[0].at(at);
    });
    return std::vector<RefTensor>{x};
  });
  const Tensor indices = Integers({2, 3, 2, 2}, 0, 20).To(DType::kI32);
  s.Add("scatter", {Normal({2, 3, 2, 2}), indices}, PoolAttrs{.kernel = 0, .image = {4, 5}});
  s.Add("windows",
        {Normal({2, 2, 2, 3}), Indices({0, 2, 4, 10, 16, 14, 6, 7, 3, 11, 7,  13,
                                        5, 6, 9, 15, 18, 19, 1, 7, 8, 11, 17, 14},
                                       {2, 2, 2, 3})
                                   .To(DType::kI32)},
        PoolAttrs{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .image = {4, 5}});
  s.AddError("windows",
             {Normal({1, 1, 2, 2}), Indices({0, 2, 10, 13}, {1, 1, 2, 2}).To(DType::kI32)},
             PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .image = {4, 5}},
             "values [1, 1, 2, 2], want one for each of the 2 x 3 windows");
  s.AddError("windows of one pixel",
             {Normal({1, 1, 1, 1}), Indices({0}, {1, 1, 1, 1}).To(DType::kI32)},
             PoolAttrs{.kernel = 1, .stride = 2, .image = {4, 5}},
             "values [1, 1, 1, 1], want one for each of the 2 x 3 windows");
  s.AddError("index", {Normal({1, 1, 1, 1}), Indices({20}, {1, 1, 1, 1}).To(DType::kI32)},
             PoolAttrs{.kernel = 0, .image = {4, 5}}, "indices 20 at index 0 is outside [0, 20)");
  s.AddError("adaptive", {Normal({1, 1, 1, 1}), Indices({0}, {1, 1, 1, 1}).To(DType::kI32)},
             PoolAttrs{.kernel = {-1000, 2}, .stride = -1, .adaptive = 1, .image = 4},
             "no adaptive windows");
  s.AddError("image", {Normal({1, 1, 1, 1}), Indices({0}, {1, 1, 1, 1}).To(DType::kI32)},
             PoolAttrs{.kernel = 2, .padding = 1, .image = {4, INT64_MAX}}, "image width 92233720");
  s.AddError("shapes", {Normal({1, 1, 1, 1}), indices}, PoolAttrs{.kernel = 0, .image = {4, 5}},
             "indices [2, 3, 2, 2] do not fit [1, 1, 1, 1]");
}

FIRN_REGISTER_SAMPLES(max_pool2d_gather) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y(in[1].shape);
    const int64_t width = in[0].shape[3];
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const auto flat = static_cast<int64_t>(in[1].at(at));
      y.at(at) = in[0].at({at[0], at[1], flat / width, flat % width});
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("gather", {Normal({2, 3, 4, 5}), Integers({2, 3, 2, 2}, 0, 20).To(DType::kI32)});
  s.AddError("index", {Normal({1, 1, 4, 5}), Indices({-1}, {1, 1, 1, 1}).To(DType::kI32)}, {},
             "indices -1 at index 0 is outside [0, 20)");
}

}  // namespace
}  // namespace firn::testing
