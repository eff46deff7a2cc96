#include <cmath>

#include "tensor/ops/pool/pool_window.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

// The weight of input position i in output o of one axis, before dividing: 1 inside the window.
bool Inside(int64_t o, int64_t i, int64_t in, const PoolAttrs& a, bool height) {
  const auto pick = [&](const Sizes& s) { return s[height ? 0 : 1]; };
  if (a.is_adaptive()) {
    const double scale = static_cast<double>(in) / static_cast<double>(pick(a.adaptive));
    return static_cast<double>(i) >= std::floor(static_cast<double>(o) * scale) &&
           static_cast<double>(i) < std::ceil(static_cast<double>(o + 1) * scale);
  }
  const int64_t start = o * pick(a.stride) - pick(a.padding);
  return i >= start && i < start + pick(a.kernel);
}

// Divisor of window (oh, ow): PyTorch counts padding up to the padded image's end.
double Divisor(int64_t oh, int64_t ow, const Sizes& image, const PoolAttrs& a) {
  if (a.divisor_override != 0) return static_cast<double>(a.divisor_override);
  const auto count = [&](int64_t o, int64_t in, bool height) {
    const int64_t pad = a.is_adaptive() || !a.count_include_pad ? 0
                        : height                                ? a.padding[0]
                                                                : a.padding[1];
    int64_t n = 0;
    for (int64_t i = -pad; i < in + pad; ++i) n += Inside(o, i, in, a, height);
    return n;
  };
  return static_cast<double>(count(oh, image[0], true) * count(ow, image[1], false));
}

FIRN_REGISTER_SAMPLES(avg_pool2d) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const PoolAttrs& a = attrs.get<PoolAttrs>();
    const Shape& x = in[0].shape;
    const absl::StatusOr<Sizes> out = PoolOutputSize({x[2], x[3]}, a);
    RefTensor y(Shape({x[0], x[1], (*out)[0], (*out)[1]}));
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      double sum = 0;
      for (int64_t i = 0; i < x[2]; ++i) {
        for (int64_t j = 0; j < x[3]; ++j) {
          if (Inside(at[2], i, x[2], a, true) && Inside(at[3], j, x[3], a, false)) {
            sum += in[0].at({at[0], at[1], i, j});
          }
        }
      }
      y.at(at) = sum / Divisor(at[2], at[3], {x[2], x[3]}, a);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("2x2", {Normal({2, 3, 4, 6})}, PoolAttrs{.kernel = 2, .stride = 2});
  s.Add("overlapping with padding", {Normal({1, 2, 5, 7})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1});
  s.Add("padding not counted", {Normal({1, 2, 5, 7})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false});
  s.Add("ceil mode", {Normal({1, 2, 6, 5})},
        PoolAttrs{.kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 1}, .ceil_mode = true});
  s.Add("sum", {Normal({1, 2, 4, 4})}, PoolAttrs{.kernel = 2, .stride = 2, .divisor_override = 1});
  s.Add("adaptive", {Normal({2, 3, 7, 5})}, PoolAttrs{.adaptive = {3, 2}});
  s.Add("global, blocked channels", {Normal({2, 16, 4, 3})}, PoolAttrs{.adaptive = 1});
  s.AddLarge("64x512x8x8", {Normal({64, 512, 8, 8})}, PoolAttrs{.kernel = 2, .stride = 2}, 2.1e6,
             1e7);
  s.AddError("kernel", {Normal({1, 1, 4, 4})}, PoolAttrs{.kernel = 0, .stride = 1},
             "kernel height 0 (want 1 to 16777216)");
  s.AddError("divisor", {Normal({1, 1, 4, 4})},
             PoolAttrs{.kernel = 2, .stride = 1, .divisor_override = -1}, "divisor_override -1");
}

FIRN_REGISTER_SAMPLES(avg_pool2d_grad) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const PoolAttrs& a = attrs.get<PoolAttrs>();
    RefTensor x(Shape({in[0].shape[0], in[0].shape[1], a.image[0], a.image[1]}));
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
      const double share = in[0].at(at) / Divisor(at[2], at[3], a.image, a);
      for (int64_t i = 0; i < a.image[0]; ++i) {
        for (int64_t j = 0; j < a.image[1]; ++j) {
          if (Inside(at[2], i, a.image[0], a, true) && Inside(at[3], j, a.image[1], a, false)) {
            x.at({at[0], at[1], i, j}) += share;
          }
        }
      }
    });
    return std::vector<RefTensor>{x};
  });
  s.Add("3x3", {Normal({1, 2, 3, 4})},
        PoolAttrs{.kernel = 3, .stride = 2, .padding = 1, .image = {5, 7}});
  s.Add("adaptive", {Normal({2, 2, 3, 2})}, PoolAttrs{.adaptive = {3, 2}, .image = {7, 5}});
  s.AddError("size", {Normal({1, 2, 3, 4})}, PoolAttrs{.kernel = 2, .stride = 2, .image = {5, 7}},
             "pooling the image gives (2, 3)");
}

}  // namespace
}  // namespace firn::testing
