#include <algorithm>
#include <cmath>
#include <string>

#include "tensor/ops/conv/conv_problem.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

// The definition, gathered output by output over a zero-padded image.
RefTensor Convolve(const RefTensor& x, const RefTensor& w, const RefTensor* bias,
                   const ConvAttrs& a) {
  const auto out = [](int64_t in, int64_t k, int64_t s, int64_t p, int64_t d) {
    return (in + 2 * p - d * (k - 1) - 1) / s + 1;
  };
  RefTensor y(Shape({x.shape[0], w.shape[0],
                     out(x.shape[2], w.shape[2], a.stride.h, a.padding.h, a.dilation.h),
                     out(x.shape[3], w.shape[3], a.stride.w, a.padding.w, a.dilation.w)}));
  const int64_t per_group = w.shape[0] / a.groups;
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    double sum = bias != nullptr ? (*bias)[at[1]] : 0;
    ForEachIndex(Shape({w.shape[1], w.shape[2], w.shape[3]}), [&](absl::Span<const int64_t> k) {
      const int64_t i = at[2] * a.stride.h - a.padding.h + k[1] * a.dilation.h;
      const int64_t j = at[3] * a.stride.w - a.padding.w + k[2] * a.dilation.w;
      if (i < 0 || j < 0 || i >= x.shape[2] || j >= x.shape[3]) return;
      const int64_t c = at[1] / per_group * w.shape[1] + k[0];
      sum += w.at({at[1], k[0], k[1], k[2]}) * x.at({at[0], c, i, j});
    });
    y.at(at) = sum;
  });
  return y;
}

FIRN_REGISTER_SAMPLES(conv2d) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{
        Convolve(in[0], in[1], in[2].defined() ? &in[2] : nullptr, attrs.get<ConvAttrs>())};
  });
  s.rtol_f32 = 2e-5;  // Winograd
  s.atol_f32 = 2e-4;
  const Tensor none;
  s.Add("1x1", {Normal({2, 3, 4, 5}), Normal({4, 3, 1, 1}, 2), Normal({4}, 3)}, ConvAttrs{});
  s.Add("3x3 with padding", {Normal({2, 2, 5, 4}), Normal({3, 2, 3, 3}, 2), Normal({3}, 3)},
        ConvAttrs{.padding = 1});
  s.Add("3x3 of blocked channels",
        {Normal({2, 16, 7, 8}), Normal({32, 16, 3, 3}, 2), Normal({32}, 3)},
        ConvAttrs{.padding = 1})
      .check_gradient = false;  // thousands of weights
  s.Add("5x5 of blocked channels",
        {Normal({2, 16, 8, 9}), Normal({32, 16, 5, 5}, 2), Normal({32}, 3)},
        ConvAttrs{.padding = 2})
      .check_gradient = false;
  s.Add("strides, dilations and unequal sides",
        {Normal({1, 2, 7, 9}), Normal({2, 2, 2, 3}, 2), none},
        ConvAttrs{.stride = {2, 3}, .padding = {1, 2}, .dilation = {3, 2}});
  s.Add("groups", {Normal({2, 4, 5, 5}), Normal({6, 2, 3, 3}, 2), Normal({6}, 3)},
        ConvAttrs{.stride = 2, .padding = 1, .groups = 2});
  s.Add("depthwise", {Normal({1, 16, 6, 6}), Normal({16, 1, 3, 3}, 2), none},
        ConvAttrs{.padding = 1, .groups = 16});
  s.Add("first layer", {Normal({2, 1, 8, 8}), Normal({16, 1, 5, 5}, 2), Normal({16}, 3)},
        ConvAttrs{.padding = 2});
  s.AddLarge("128 channels, 8x8, batch 64",
             {Normal({64, 128, 8, 8}), Normal({128, 128, 3, 3}, 2), Normal({128}, 3)},
             ConvAttrs{.padding = 1}, 2.0 * 64 * 128 * 128 * 9 * 64, 4.8e6);
  s.AddLarge("16 to 32 channels, 5x5 kernel, 14x14, batch 64",
             {Normal({64, 16, 14, 14}), Normal({32, 16, 5, 5}, 2), Normal({32}, 3)},
             ConvAttrs{.padding = 2}, 2.0 * 64 * 16 * 32 * 25 * 196, 2.5e6);
  s.AddError("channels", {Normal({8, 4, 24, 24}), Normal({64, 3, 7, 7}, 2), none}, ConvAttrs{},
             "weight [64, 3, 7, 7] wants 3 input channels, x is [8, 4, 24, 24]");
  s.AddError("rank", {Normal({4, 24, 24}), Normal({64, 3, 7, 7}, 2), none}, ConvAttrs{},
             "x must have 4 dimensions");
  s.AddError("bias", {Normal({1, 3, 8, 8}), Normal({4, 3, 3, 3}, 2), Normal({5})}, ConvAttrs{},
             "bias [5] does not fit the 4 output channels");
  s.AddError("kernel too large", {Normal({1, 3, 2, 2}), Normal({4, 3, 3, 3}, 2), none}, ConvAttrs{},
             "the kernel covers 3 in height, x with padding has 2");
  s.AddError("stride", {Normal({1, 3, 8, 8}), Normal({4, 3, 3, 3}, 2), none},
             ConvAttrs{.stride = 0}, "stride (0, 0) (want 1 to 16777216)");
  s.AddError("padding", {Normal({1, 3, 8, 8}), Normal({4, 3, 3, 3}, 2), none},
             ConvAttrs{.padding = 1 << 30},
             "padding (1073741824, 1073741824) (want 0 to 16777216)");
  s.AddError("groups", {Normal({1, 3, 8, 8}), Normal({4, 3, 3, 3}, 2), none},
             ConvAttrs{.groups = 2}, "groups 2 must divide the 3 input and 4 output channels");
}

FIRN_REGISTER_SAMPLES(conv2d_act) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<ConvActAttrs>();
    RefTensor y = Convolve(in[0], in[1], in[2].defined() ? &in[2] : nullptr, a.conv);
    for (double& v : y.values) {
      v = a.activation == FusedActivation::kRelu ? std::max(v, 0.0) : std::tanh(v);
    }
    return std::vector<RefTensor>{y};
  });
  s.rtol_f32 = 2e-5;
  s.atol_f32 = 2e-4;
  const Tensor none;
  for (const FusedActivation activation : {FusedActivation::kRelu, FusedActivation::kTanh}) {
    const std::string after = activation == FusedActivation::kRelu ? ", relu" : ", tanh";
    s.Add("3x3 with bias" + after, {Normal({2, 2, 5, 4}), Normal({3, 2, 3, 3}, 2), Normal({3}, 3)},
          ConvActAttrs{{.padding = 1}, activation});
    s.Add("strides, dilations and unequal sides" + after,
          {Normal({1, 2, 7, 9}), Normal({2, 2, 2, 3}, 2), none},
          ConvActAttrs{{.stride = {2, 3}, .padding = {1, 2}, .dilation = {3, 2}}, activation});
  }
  s.Add("groups", {Normal({2, 16, 5, 5}), Normal({8, 8, 3, 3}, 2), Normal({8}, 3)},
        ConvActAttrs{{.stride = 2, .padding = 1, .groups = 2}});
  s.Add("no images", {Normal({0, 2, 5, 4}), Normal({3, 2, 3, 3}, 2), Normal({3}, 3)},
        ConvActAttrs{});
  s.AddLarge("128 channels, 8x8, batch 64",
             {Normal({64, 128, 8, 8}), Normal({128, 128, 3, 3}, 2), Normal({128}, 3)},
             ConvActAttrs{{.padding = 1}}, 2.0 * 64 * 128 * 128 * 9 * 64, 4.8e6);
  s.AddError("bias", {Normal({1, 3, 8, 8}), Normal({4, 3, 3, 3}, 2), Normal({5})}, ConvActAttrs{},
             "bias [5] does not fit the 4 output channels");
  s.AddError("no activation", {Normal({1, 3, 8, 8}), Normal({4, 3, 3, 3}, 2), none},
             ConvActAttrs{{}, FusedActivation::kNone}, "activation 0, want 1 (relu), 2 (tanh)");
}

FIRN_REGISTER_SAMPLES(conv_transpose2d) {
  // Scatters each input element times the kernel into the result.
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor &x = in[0], &w = in[1];
    const ConvAttrs& a = attrs.get<ConvAttrs>();
    RefTensor y(Shape({x.shape[0], w.shape[1] * a.groups, a.result.h, a.result.w}));
    const int64_t per_group = x.shape[1] / a.groups;
    ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
      ForEachIndex(Shape({w.shape[1], w.shape[2], w.shape[3]}), [&](absl::Span<const int64_t> k) {
        const int64_t i = at[2] * a.stride.h - a.padding.h + k[1] * a.dilation.h;
        const int64_t j = at[3] * a.stride.w - a.padding.w + k[2] * a.dilation.w;
        if (i < 0 || j < 0 || i >= a.result.h || j >= a.result.w) return;
        y.at({at[0], at[1] / per_group * w.shape[1] + k[0], i, j}) +=
            x.at(at) * w.at({at[1], k[0], k[1], k[2]});
      });
    });
    return std::vector<RefTensor>{y};
  });
  s.rtol_f32 = 2e-5;
  s.atol_f32 = 2e-4;
  s.Add("3x3", {Normal({2, 3, 4, 5}), Normal({3, 2, 3, 3}, 2)},
        ConvAttrs{.padding = 1, .result = {4, 5}});
  s.Add("3x3 of blocked channels", {Normal({2, 32, 7, 8}), Normal({32, 16, 3, 3}, 2)},
        ConvAttrs{.padding = 1, .result = {7, 8}})
      .check_gradient = false;
  s.Add("5x5 of blocked channels", {Normal({2, 32, 8, 9}), Normal({32, 16, 5, 5}, 2)},
        ConvAttrs{.padding = 2, .result = {8, 9}})
      .check_gradient = false;
  s.Add("strides and groups", {Normal({1, 4, 3, 3}), Normal({4, 2, 2, 3}, 2)},
        ConvAttrs{.stride = {2, 3}, .groups = 2, .result = {7, 10}});
  s.Add("dilations", {Normal({1, 2, 3, 3}), Normal({2, 2, 3, 2}, 2)},
        ConvAttrs{.padding = 1, .dilation = {2, 3}, .result = {5, 4}});
  s.AddLarge("128 channels, 8x8, batch 64", {Normal({64, 128, 8, 8}), Normal({128, 128, 3, 3}, 2)},
             ConvAttrs{.padding = 1, .result = 8}, 2.0 * 64 * 128 * 128 * 9 * 64, 4.8e6);
  s.AddLarge("16 to 32 channels, 5x5 kernel, 14x14, batch 64",
             {Normal({64, 32, 14, 14}), Normal({32, 16, 5, 5}, 2)},
             ConvAttrs{.padding = 2, .result = 14}, 2.0 * 64 * 16 * 32 * 25 * 196, 2.5e6);
  s.AddError("channels", {Normal({1, 4, 5, 5}), Normal({3, 2, 3, 3}, 2)},
             ConvAttrs{.result = {7, 7}}, "weight [3, 2, 3, 3] wants 3 input channels");
  s.AddError("result size", {Normal({1, 3, 5, 5}), Normal({3, 2, 3, 3}, 2)},
             ConvAttrs{.result = {9, 9}}, "a convolution of (9, 9) gives (7, 7)");
}

FIRN_REGISTER_SAMPLES(conv2d_weight_grad) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor &x = in[0], &g = in[1];
    const ConvAttrs& a = attrs.get<ConvAttrs>();
    RefTensor w(Shape({g.shape[1], x.shape[1] / a.groups, a.result.h, a.result.w}));
    const int64_t per_group = g.shape[1] / a.groups;
    ForEachIndex(w.shape, [&](absl::Span<const int64_t> k) {
      double sum = 0;
      ForEachIndex(Shape({g.shape[0], g.shape[2], g.shape[3]}), [&](absl::Span<const int64_t> at) {
        const int64_t i = at[1] * a.stride.h - a.padding.h + k[2] * a.dilation.h;
        const int64_t j = at[2] * a.stride.w - a.padding.w + k[3] * a.dilation.w;
        if (i < 0 || j < 0 || i >= x.shape[2] || j >= x.shape[3]) return;
        const int64_t c = k[0] / per_group * w.shape[1] + k[1];
        sum += x.at({at[0], c, i, j}) * g.at({at[0], k[0], at[1], at[2]});
      });
      w.at(k) = sum;
    });
    return std::vector<RefTensor>{w};
  });
  s.rtol_f32 = 2e-5;
  s.atol_f32 = 2e-4;
  s.Add("3x3", {Normal({2, 2, 4, 5}), Normal({2, 3, 4, 5}, 2)},
        ConvAttrs{.padding = 1, .result = 3});
  s.Add("3x3 of blocked channels", {Normal({2, 16, 7, 8}), Normal({2, 32, 7, 8}, 2)},
        ConvAttrs{.padding = 1, .result = 3})
      .check_gradient = false;
  s.Add("5x5 of blocked channels", {Normal({2, 16, 8, 9}), Normal({2, 32, 8, 9}, 2)},
        ConvAttrs{.padding = 2, .result = 5})
      .check_gradient = false;
  s.Add("first layer", {Normal({3, 1, 7, 6}), Normal({3, 16, 4, 3}, 2)},
        ConvAttrs{.stride = 2, .padding = 2, .result = {5, 5}});
  s.Add("first layer with dilation", {Normal({2, 3, 9, 8}), Normal({2, 16, 5, 4}, 2)},
        ConvAttrs{.dilation = 2, .result = {3, 3}})
      .check_gradient = false;
  s.Add("first layer with three blocks", {Normal({2, 2, 6, 7}), Normal({2, 24, 6, 11}, 2)},
        ConvAttrs{.padding = {1, 4}, .result = {3, 5}})
      .check_gradient = false;
  s.Add("first layer with a wide kernel", {Normal({2, 1, 9, 9}), Normal({2, 16, 5, 5}, 2)},
        ConvAttrs{.stride = 2, .padding = 3, .result = 7})
      .check_gradient = false;
  s.Add("groups", {Normal({2, 4, 5, 5}), Normal({2, 2, 3, 3}, 2)},
        ConvAttrs{.groups = 2, .result = 3});
  s.AddLarge("128 channels, 8x8, batch 64", {Normal({64, 128, 8, 8}), Normal({64, 128, 8, 8}, 2)},
             ConvAttrs{.padding = 1, .result = 3}, 2.0 * 64 * 128 * 128 * 9 * 64, 4.8e6);
  s.AddLarge("16 to 32 channels, 5x5 kernel, 14x14, batch 64",
             {Normal({64, 16, 14, 14}), Normal({64, 32, 14, 14}, 2)},
             ConvAttrs{.padding = 2, .result = 5}, 2.0 * 64 * 16 * 32 * 25 * 196, 2.5e6);
  s.AddError("batches", {Normal({2, 2, 4, 5}), Normal({3, 3, 4, 5}, 2)},
             ConvAttrs{.padding = 1, .result = 3}, "have different batches");
  s.AddError("image", {Normal({2, 2, 4, 5}), Normal({2, 3, 4, 4}, 2)},
             ConvAttrs{.padding = 1, .result = 3}, "x [2, 2, 4, 5] gives images (4, 5)");
}

}  // namespace
}  // namespace firn::testing
