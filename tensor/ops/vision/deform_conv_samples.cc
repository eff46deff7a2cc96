#include <algorithm>
#include <cmath>

#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/vision/deform_conv.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct DeformAttrs {
  Sizes stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("stride", stride);
    v.Field("padding", padding);
    v.Field("dilation", dilation);
    v.Field("groups", groups);
  }
};

// x[n, c] between its elements.
double Between(const RefTensor& x, int64_t n, int64_t c, double y, double u) {
  double sum = 0;
  for (int64_t i = 0; i < x.shape[2]; ++i) {
    for (int64_t j = 0; j < x.shape[3]; ++j) {
      const double rows = std::max(0.0, 1 - std::abs(y - static_cast<double>(i)));
      const double columns = std::max(0.0, 1 - std::abs(u - static_cast<double>(j)));
      sum += rows * columns * x.at({n, c, i, j});
    }
  }
  return sum;
}

FIRN_REGISTER_COMPOSITE(deform_conv2d) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 4, .max_rank = 4},
             {.name = "offset", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4},
             {.name = "weight", .same_dtype_as = "x", .min_rank = 4, .max_rank = 4},
             {.name = "bias", .same_dtype_as = "x", .max_rank = 1, .optional = true},
             {.name = "mask", .same_dtype_as = "x", .max_rank = 4, .optional = true}});
  s.Function([](In in, const DeformAttrs& a) {
    return DeformConv2d(in[0], in[1], in[2], in[3], in[4],
                        {a.stride, a.padding, a.dilation, a.groups});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<DeformAttrs>();
    const RefTensor &x = in[0], &offset = in[1], &weight = in[2];
    const bool biased = in.size() > 3 && in[3].defined(), masked = in.size() > 4 && in[4].defined();
    const int64_t kh = weight.shape[2], kw = weight.shape[3], each = weight.shape[1];
    const int64_t parts = offset.shape[1] / (2 * kh * kw);
    RefTensor y(Shape({x.shape[0], weight.shape[0], offset.shape[2], offset.shape[3]}));
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const int64_t n = at[0], o = at[1], i = at[2], j = at[3];
      double sum = biased ? in[3][o] : 0;
      ForEachIndex(Shape({each, kh, kw}), [&](absl::Span<const int64_t> tap) {
        const int64_t c = o / (y.shape[1] / a.groups) * each + tap[0];
        const int64_t part = c / (x.shape[1] / parts);
        const int64_t k = (part * kh + tap[1]) * kw + tap[2];
        const int64_t row = i * a.stride[0] - a.padding[0] + tap[1] * a.dilation[0];
        const int64_t column = j * a.stride[1] - a.padding[1] + tap[2] * a.dilation[1];
        const double v = Between(x, n, c, static_cast<double>(row) + offset.at({n, 2 * k, i, j}),
                                 static_cast<double>(column) + offset.at({n, 2 * k + 1, i, j}));
        sum += v * weight.at({o, tap[0], tap[1], tap[2]}) * (masked ? in[4].at({n, k, i, j}) : 1);
      });
      y.at(at) = sum;
    });
    return std::vector<RefTensor>{y};
  });
  // Offsets that keep away from whole elements, where the derivative jumps.
  const auto offset = [](const Shape& shape) {
    return Integers(shape, -2, 2, 5).To(DType::kF64) + Uniform(shape, 0.15, 0.85, 6);
  };
  const Tensor x = Normal({2, 4, 4, 5}), weight = Normal({3, 4, 2, 3}, 2);
  s.Add("plain", {x, offset({2, 12, 3, 3}), weight, Tensor(), Tensor()}, DeformAttrs{});
  s.Add("bias and mask",
        {x, offset({2, 12, 3, 3}), weight, Normal({3}, 3), Uniform({2, 6, 3, 3}, 0, 1, 4)},
        DeformAttrs{});
  s.Add("options", {x, offset({2, 12, 3, 3}), weight, Tensor(), Tensor()},
        DeformAttrs{{2, 3}, {2, 3}, {3, 2}, 1});
  s.Add("groups and parts",
        {Normal({1, 4, 3, 3}), offset({1, 16, 2, 2}), Normal({6, 2, 2, 2}, 2), Normal({6}, 3),
         Uniform({1, 8, 2, 2}, 0, 1, 4)},
        DeformAttrs{.groups = 2});
  s.Add("blocked channels",
        {Normal({1, 16, 3, 3}), offset({1, 2, 3, 3}), Normal({8, 16, 1, 1}, 2), Tensor(), Tensor()},
        DeformAttrs{});
  s.Add("no offsets", {x, Zeros({2, 12, 3, 3}, DType::kF64), weight, Tensor(), Tensor()},
        DeformAttrs{})
      .check_gradient = false;
  s.AddLarge("4x32x56x56",
             {Normal({4, 32, 56, 56}), offset({4, 18, 54, 54}), Normal({32, 32, 3, 3}, 2),
              Normal({32}, 3), Tensor()},
             DeformAttrs{}, 2.0 * 4 * 54 * 54 * 32 * 32 * 9, 0);
  s.AddError("offset", {x, offset({2, 12, 3, 4}), weight, Tensor(), Tensor()}, DeformAttrs{},
             "offset [2, 12, 3, 4], want [2, parts x 12, 3, 3] with parts that divide 4 channels");
  s.AddError("mask", {x, offset({2, 12, 3, 3}), weight, Tensor(), Normal({2, 12, 3, 3})},
             DeformAttrs{}, "mask [2, 12, 3, 3], want [2, 6, 3, 3]");
  s.AddError("groups", {x, offset({2, 12, 3, 3}), weight, Tensor(), Tensor()},
             DeformAttrs{.groups = 2},
             "weight [3, 4, 2, 3] does not fit x [2, 4, 4, 5] in 2 groups");
  s.AddError("bias", {x, offset({2, 12, 3, 3}), weight, Normal({4}), Tensor()}, DeformAttrs{},
             "bias [4], want [3]");
  s.AddError("stride", {x, offset({2, 12, 3, 3}), weight, Tensor(), Tensor()},
             DeformAttrs{.stride = 0}, "stride must be one or two numbers from 1 on, got 0");
  s.AddError("window", {x, offset({2, 12, 3, 3}), weight, Tensor(), Tensor()},
             DeformAttrs{.dilation = 4}, "does not fit x [2, 4, 4, 5] with padding 0");
}

}  // namespace
}  // namespace firn::testing
