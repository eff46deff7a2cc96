#include "firn/tensor/ops/conv/conv_samples.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using At = std::vector<int64_t>;

int DimsOf(const RefTensor& t) { return t.shape.rank() - 2; }

// Sizes that begin with the first two given.
Shape ShapeWith(int64_t first, int64_t second, const At& image) {
  At sizes = {first, second};
  sizes.insert(sizes.end(), image.begin(), image.end());
  return Shape(absl::MakeConstSpan(sizes));
}

// Sets `where` to the place where the kernel's tap `k` ([channel, spatial...]) at the output `at`
// ([n, out, spatial...]) meets x, in the channel `c`; false for padding.
bool Meets(const RefTensor& x, absl::Span<const int64_t> at, int64_t c, absl::Span<const int64_t> k,
           const ConvAttrs& a, At& where) {
  where[0] = at[0];
  where[1] = c;
  for (int i = 0; i < DimsOf(x); ++i) {
    const auto j = static_cast<size_t>(i);
    const int64_t p = at[j + 2] * a.stride[i] - a.padding[i] + k[j + 1] * a.dilation[i];
    if (p < 0 || p >= x.shape[i + 2]) return false;
    where[j + 2] = p;
  }
  return true;
}

// Calls f(y's position, x's position, weight's position) for every product of a convolution.
template <class F>
void ForEachProduct(const RefTensor& x, const Shape& w, const Shape& y, const ConvAttrs& a, F&& f) {
  const Shape taps(w.span().subspan(1));
  At from(static_cast<size_t>(x.shape.rank())), tap(from.size());
  ForEachIndex(y, [&](absl::Span<const int64_t> at) {
    const int64_t group = at[1] / (w[0] / a.groups);
    tap[0] = at[1];
    ForEachIndex(taps, [&](absl::Span<const int64_t> k) {
      if (!Meets(x, at, group * w[1] + k[0], k, a, from)) return;
      std::copy(k.begin(), k.end(), tap.begin() + 1);
      f(at, absl::MakeConstSpan(from), absl::MakeConstSpan(tap));
    });
  });
}

RefTensor Convolve(const RefTensor& x, const RefTensor& w, const RefTensor* bias,
                   const ConvAttrs& a) {
  At image;
  for (int i = 0; i < DimsOf(x); ++i) {
    const int64_t reach = a.dilation[i] * (w.shape[i + 2] - 1) + 1;
    image.push_back((x.shape[i + 2] + 2 * a.padding[i] - reach) / a.stride[i] + 1);
  }
  RefTensor y(ShapeWith(x.shape[0], w.shape[0], image));
  ForEachProduct(x, w.shape, y.shape, a,
                 [&](auto at, auto from, auto tap) { y.at(at) += x.at(from) * w.at(tap); });
  if (bias == nullptr) return y;
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) { y.at(at) += (*bias)[at[1]]; });
  return y;
}

At Over(const Sizes& sizes, int dims) {
  const Sizes all = sizes.Over(dims);
  return At(all.span().begin(), all.span().end());
}

// References of the operations, for any number of dimensions.
std::vector<RefTensor> Forward(absl::Span<const RefTensor> in, AttrsRef attrs) {
  return {Convolve(in[0], in[1], in[2].defined() ? &in[2] : nullptr, attrs.get<ConvAttrs>())};
}

// Scatters each input element times the kernel into the result.
std::vector<RefTensor> Transposed(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &x = in[0], &w = in[1];
  const ConvAttrs& a = attrs.get<ConvAttrs>();
  RefTensor y(ShapeWith(x.shape[0], w.shape[1] * a.groups, Over(a.result, DimsOf(x))));
  ForEachProduct(y, w.shape, x.shape, a,
                 [&](auto at, auto from, auto tap) { y.at(from) += x.at(at) * w.at(tap); });
  return {y};
}

std::vector<RefTensor> WeightGrad(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &x = in[0], &g = in[1];
  const ConvAttrs& a = attrs.get<ConvAttrs>();
  RefTensor w(ShapeWith(g.shape[1], x.shape[1] / a.groups, Over(a.result, DimsOf(x))));
  ForEachProduct(x, w.shape, g.shape, a,
                 [&](auto at, auto from, auto tap) { w.at(tap) += x.at(from) * g.at(at); });
  return {w};
}

void WithTolerances(Samples& s) {
  s.rtol_f32 = 2e-5;  // Winograd
  s.atol_f32 = 2e-4;
}

FIRN_REGISTER_SAMPLES(conv1d) {
  s.Function(CallConv<Conv1d>);
  s.Reference(Forward);
  WithTolerances(s);
  const Tensor none;
  s.Add("a kernel of 3 with padding", {Normal({2, 3, 7}), Normal({4, 3, 3}, 2), Normal({4}, 3)},
        ConvAttrs{.padding = 1});
  s.Add("blocked channels", {Normal({2, 16, 9}), Normal({32, 16, 3}, 2), Normal({32}, 3)},
        ConvAttrs{.padding = 1})
      .check_gradient = false;
  s.Add("strides and dilations", {Normal({1, 2, 11}), Normal({2, 2, 3}, 2), none},
        ConvAttrs{.stride = 2, .padding = 2, .dilation = 3});
  s.Add("groups", {Normal({2, 4, 6}), Normal({6, 2, 2}, 2), Normal({6}, 3)},
        ConvAttrs{.groups = 2});
  s.Add("depthwise", {Normal({1, 16, 6}), Normal({16, 1, 3}, 2), none},
        ConvAttrs{.padding = 1, .groups = 16});
  s.Add("first layer", {Normal({2, 1, 12}), Normal({16, 1, 5}, 2), Normal({16}, 3)},
        ConvAttrs{.padding = 2});
  s.Add("no sequences", {Normal({0, 2, 5}), Normal({3, 2, 3}, 2), none}, ConvAttrs{});
  s.AddLarge("64 channels, 128 long, batch 64",
             {Normal({64, 64, 128}), Normal({64, 64, 3}, 2), Normal({64}, 3)},
             ConvAttrs{.padding = 1}, 2.0 * 64 * 64 * 64 * 3 * 128, 4.2e6);
  s.AddError("rank", {Normal({1, 2, 5, 5}), Normal({3, 2, 3}, 2), none}, ConvAttrs{},
             "x must have 3 dimensions");
  s.AddError("kernel too large", {Normal({1, 3, 2}), Normal({4, 3, 3}, 2), none}, ConvAttrs{},
             "the kernel covers 3 in width, x with padding has 2");
  s.AddError("two strides", {Normal({1, 3, 8}), Normal({4, 3, 3}, 2), none},
             ConvAttrs{.stride = {1, 1}}, "stride (1, 1) has 2 numbers (want 1)");
  s.AddError("padding", {Normal({1, 3, 8}), Normal({4, 3, 3}, 2), none}, ConvAttrs{.padding = -1},
             "padding -1 (want 0 to 16777216)");
}

FIRN_REGISTER_SAMPLES(conv3d) {
  s.Function(CallConv<Conv3d>);
  s.Reference(Forward);
  WithTolerances(s);
  const Tensor none;
  s.Add("a kernel of 2", {Normal({2, 2, 3, 4, 3}), Normal({3, 2, 2, 2, 2}, 2), Normal({3}, 3)},
        ConvAttrs{});
  s.Add("blocked channels",
        {Normal({1, 16, 3, 4, 5}), Normal({16, 16, 3, 3, 3}, 2), Normal({16}, 3)},
        ConvAttrs{.padding = 1})
      .check_gradient = false;
  s.Add("strides, dilations and unequal sides",
        {Normal({1, 2, 5, 6, 7}), Normal({2, 2, 2, 1, 3}, 2), none},
        ConvAttrs{.stride = {2, 1, 3}, .padding = {1, 0, 2}, .dilation = {3, 1, 2}});
  s.Add("groups", {Normal({1, 4, 3, 3, 4}), Normal({2, 2, 2, 3, 2}, 2), Normal({2}, 3)},
        ConvAttrs{.padding = 1, .groups = 2});
  s.Add("depthwise", {Normal({1, 16, 3, 3, 3}), Normal({16, 1, 2, 2, 2}, 2), none},
        ConvAttrs{.groups = 16})
      .check_gradient = false;
  s.Add("no volumes", {Normal({0, 2, 3, 3, 3}), Normal({3, 2, 2, 2, 2}, 2), none}, ConvAttrs{});
  s.AddLarge("32 channels, 16x16x16, batch 4",
             {Normal({4, 32, 16, 16, 16}), Normal({32, 32, 3, 3, 3}, 2), Normal({32}, 3)},
             ConvAttrs{.padding = 1}, 2.0 * 4 * 32 * 32 * 27 * 4096, 4.2e6);
  s.AddError("rank", {Normal({2, 3, 4, 3}), Normal({3, 2, 2, 2, 2}, 2), none}, ConvAttrs{},
             "x must have 5 dimensions");
  s.AddError("channels", {Normal({1, 4, 3, 3, 3}), Normal({3, 2, 2, 2, 2}, 2), none}, ConvAttrs{},
             "weight [3, 2, 2, 2, 2] wants 2 input channels, x is [1, 4, 3, 3, 3]");
  s.AddError("kernel too large", {Normal({1, 2, 1, 3, 3}), Normal({3, 2, 2, 2, 2}, 2), none},
             ConvAttrs{}, "the kernel covers 2 in depth, x with padding has 1");
  s.AddError("two dilations", {Normal({1, 2, 3, 3, 3}), Normal({3, 2, 2, 2, 2}, 2), none},
             ConvAttrs{.dilation = {1, 1}}, "dilation (1, 1) has 2 numbers (want 1 or 3)");
}

FIRN_REGISTER_SAMPLES(conv2d) {
  s.Function(CallConv<Conv2d>);
  s.Reference(Forward);
  WithTolerances(s);
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
  s.Internal("conv2d and an activation, which graphs join");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<ConvActAttrs>();
    RefTensor y = Convolve(in[0], in[1], in[2].defined() ? &in[2] : nullptr, a.conv);
    for (double& v : y.values) {
      v = a.activation == FusedActivation::kRelu ? std::max(v, 0.0) : std::tanh(v);
    }
    return std::vector<RefTensor>{y};
  });
  WithTolerances(s);
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

FIRN_REGISTER_SAMPLES(conv_transpose1d) {
  s.Function(CallTransposed<ConvTranspose1d>);
  s.Reference(Transposed);
  WithTolerances(s);
  s.Add("a kernel of 3", {Normal({2, 3, 5}), Normal({3, 2, 3}, 2)},
        ConvAttrs{.padding = 1, .result = 5});
  s.Add("blocked channels", {Normal({2, 32, 7}), Normal({32, 16, 3}, 2)},
        ConvAttrs{.padding = 1, .result = 7})
      .check_gradient = false;
  s.Add("strides and groups", {Normal({1, 4, 3}), Normal({4, 2, 3}, 2)},
        ConvAttrs{.stride = 3, .groups = 2, .result = 10});
  s.Add("no sequences", {Normal({0, 2, 3}), Normal({2, 3, 2}, 2)}, ConvAttrs{.result = 4});
  s.AddLarge("64 channels, 128 long, batch 64", {Normal({64, 64, 128}), Normal({64, 64, 3}, 2)},
             ConvAttrs{.padding = 1, .result = 128}, 2.0 * 64 * 64 * 64 * 3 * 128, 4.2e6);
  s.AddError("result size", {Normal({1, 3, 5}), Normal({3, 2, 3}, 2)}, ConvAttrs{.result = 9},
             "a convolution of 9 gives 7");
}

FIRN_REGISTER_SAMPLES(conv_transpose3d) {
  s.Function(CallTransposed<ConvTranspose3d>);
  s.Reference(Transposed);
  WithTolerances(s);
  s.Add("a kernel of 2", {Normal({2, 3, 2, 3, 2}), Normal({3, 2, 2, 2, 2}, 2)},
        ConvAttrs{.result = {3, 4, 3}});
  s.Add("blocked channels", {Normal({1, 16, 3, 3, 4}), Normal({16, 16, 2, 2, 2}, 2)},
        ConvAttrs{.result = {4, 4, 5}})
      .check_gradient = false;
  s.Add("strides, dilations and groups", {Normal({1, 4, 2, 2, 3}), Normal({4, 1, 1, 2, 3}, 2)},
        ConvAttrs{.stride = {2, 1, 2},
                  .padding = {0, 1, 0},
                  .dilation = {1, 2, 1},
                  .groups = 2,
                  .result = {4, 2, 7}});
  s.AddLarge("32 channels, 16x16x16, batch 4",
             {Normal({4, 32, 16, 16, 16}), Normal({32, 32, 3, 3, 3}, 2)},
             ConvAttrs{.padding = 1, .result = 16}, 2.0 * 4 * 32 * 32 * 27 * 4096, 4.2e6);
  s.AddError("two sizes", {Normal({1, 3, 2, 2, 2}), Normal({3, 2, 2, 2, 2}, 2)},
             ConvAttrs{.result = {3, 3}}, "result (3, 3) has 2 numbers (want 1 or 3)");
}

FIRN_REGISTER_SAMPLES(conv_transpose2d) {
  s.Function(CallTransposed<ConvTranspose2d>);
  s.Reference(Transposed);
  WithTolerances(s);
  s.Add("3x3", {Normal({2, 3, 4, 5}), Normal({3, 2, 3, 3}, 2)},
        ConvAttrs{.padding = 1, .result = {4, 5}});
  s.Add("3x3 of blocked channels", {Normal({2, 32, 7, 8}), Normal({32, 16, 3, 3}, 2)},
        ConvAttrs{.padding = 1, .result = {7, 8}})
      .check_gradient = false;
  // An element has as many products as in conv2d's samples: Winograd's error is about 2^-21 of
  // their absolute sum, while the tolerance is fixed.
  s.Add("5x5 of blocked channels", {Normal({2, 16, 8, 9}), Normal({16, 32, 5, 5}, 2)},
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

FIRN_REGISTER_SAMPLES(conv1d_weight_grad) {
  s.Internal("conv1d's gradient by its weight");
  s.Reference(WeightGrad);
  WithTolerances(s);
  s.Add("a kernel of 3", {Normal({2, 2, 6}), Normal({2, 3, 6}, 2)},
        ConvAttrs{.padding = 1, .result = 3});
  s.Add("blocked channels", {Normal({5, 16, 20}), Normal({5, 32, 20}, 2)},
        ConvAttrs{.padding = 1, .result = 3})
      .check_gradient = false;
  s.Add("first layer", {Normal({3, 1, 9}), Normal({3, 16, 4}, 2)},
        ConvAttrs{.stride = 2, .padding = 1, .result = 5});
  s.Add("groups and dilation", {Normal({2, 4, 7}), Normal({2, 2, 3}, 2)},
        ConvAttrs{.dilation = 2, .groups = 2, .result = 3});
  s.AddLarge("64 channels, 128 long, batch 16", {Normal({16, 64, 128}), Normal({16, 64, 128}, 2)},
             ConvAttrs{.padding = 1, .result = 3}, 2.0 * 16 * 64 * 64 * 3 * 128, 1.1e6);
  s.AddError("image", {Normal({2, 2, 4}), Normal({2, 3, 5})}, ConvAttrs{.result = 1},
             "x [2, 2, 4] gives images 4, grad is [2, 3, 5]");
}

FIRN_REGISTER_SAMPLES(conv3d_weight_grad) {
  s.Internal("conv3d's gradient by its weight");
  s.Reference(WeightGrad);
  WithTolerances(s);
  s.Add("a kernel of 2", {Normal({2, 2, 3, 4, 3}), Normal({2, 3, 2, 3, 2}, 2)},
        ConvAttrs{.result = 2});
  s.Add("blocked channels", {Normal({1, 16, 3, 3, 4}), Normal({1, 16, 3, 3, 4}, 2)},
        ConvAttrs{.padding = 1, .result = 3})
      .check_gradient = false;
  s.Add("strides, dilations and groups", {Normal({1, 4, 4, 2, 7}), Normal({1, 2, 2, 2, 3}, 2)},
        ConvAttrs{.stride = {2, 1, 2},
                  .padding = {0, 1, 0},
                  .dilation = {1, 2, 1},
                  .groups = 2,
                  .result = {1, 2, 3}});
  s.AddLarge("64 channels, 8x8x8, batch 4", {Normal({4, 64, 8, 8, 8}), Normal({4, 64, 8, 8, 8}, 2)},
             ConvAttrs{.padding = 1, .result = 3}, 2.0 * 4 * 64 * 64 * 27 * 512, 1e6);
  s.AddError("batches", {Normal({2, 2, 3, 3, 3}), Normal({3, 2, 2, 2, 2})}, ConvAttrs{.result = 2},
             "have different batches");
}

FIRN_REGISTER_SAMPLES(conv2d_weight_grad) {
  s.Internal("conv2d's gradient by its weight");
  s.Reference(WeightGrad);
  WithTolerances(s);
  s.Add("3x3", {Normal({2, 2, 4, 5}), Normal({2, 3, 4, 5}, 2)},
        ConvAttrs{.padding = 1, .result = 3});
  s.Add("3x3 of blocked channels", {Normal({2, 16, 7, 8}), Normal({2, 32, 7, 8}, 2)},
        ConvAttrs{.padding = 1, .result = 3})
      .check_gradient = false;
  // Twelve tiles: Winograd's error grows with the number of tiles that are added up for a tap,
  // while the tolerance is fixed. With 40 tiles, the last tap's error sometimes exceeds it, with
  // any compiler.
  s.Add("5x5 of blocked channels", {Normal({2, 16, 4, 5}), Normal({2, 32, 4, 5}, 2)},
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
