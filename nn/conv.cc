// Convolution layers: options for the operations, whose parameters ConvBase holds. Padding other
// than zeros is an operation of its own before the convolution.

#include "nn/conv.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "nn/describe.h"
#include "nn/sizes.h"
#include "tensor/ops/conv/conv.h"
#include "tensor/ops/conv/conv_transpose.h"

namespace firn::nn {
namespace {

void DescribeEnd(Describer& d, int64_t groups, bool bias, PadMode mode) {
  d.Field("groups", groups, int64_t{1}).Field("bias", bias, true);
  if (mode == PadMode::kConstant) return;
  constexpr const char* kModes[] = {"zeros", "reflect", "replicate", "circular", "symmetric"};
  d.Text(absl::StrCat("padding_mode=", kModes[static_cast<int>(mode)]));
}

int64_t Smaller(Size2 s) { return std::min(s.h, s.w); }

}  // namespace

// --- Conv2d -------------------------------------------------------------------------------------

Conv2d::Conv2d(const Options& o)
    : ConvBase({.layer = "nn::Conv2d",
                .in = o.in,
                .out = o.out,
                .kernel = {o.kernel.h, o.kernel.w},
                .groups = o.groups,
                .bias = o.bias,
                .weight_init = o.weight_init,
                .bias_init = o.bias_init}),
      options_(o) {
  CheckSizes("nn::Conv2d", {{"stride", Smaller(o.stride)}, {"dilation", Smaller(o.dilation)}});
}

// As Pad wants them: left, right, top, bottom.
static std::vector<int64_t> PaddedSides(const Conv2dOptions& o) {
  const Size2 once = o.padding.size;
  if (!o.padding.same) return {once.w, once.w, once.h, once.h};
  const int64_t h = o.dilation.h * (o.kernel.h - 1), w = o.dilation.w * (o.kernel.w - 1);
  return {w / 2, w - w / 2, h / 2, h - h / 2};
}

Tensor Conv2d::Forward(const Tensor& x) {
  BuildFor(x);
  const Options& o = options_;
  firn::Conv2dOptions call = {
      .stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
  if (o.padding_mode == PadMode::kConstant) return firn::Conv2d(x, weight(), bias(), call);
  call.padding = 0;
  return firn::Conv2d(firn::Pad(x, PaddedSides(o), {.mode = o.padding_mode}), weight(), bias(),
                      call);
}

std::string Conv2d::Describe() const {
  const Options& o = options_;
  Describer d;
  d.FromTo(in(), o.out).Field("kernel", o.kernel).Field("stride", o.stride, Size2(1));
  if (o.padding.same) {
    d.Text("padding=same");
  } else {
    d.Field("padding", o.padding.size, Size2(0));
  }
  d.Field("dilation", o.dilation, Size2(1));
  DescribeEnd(d, o.groups, o.bias, o.padding_mode);
  return d.text();
}

// --- Conv1d -------------------------------------------------------------------------------------

Conv1d::Conv1d(const Options& o)
    : ConvBase({.layer = "nn::Conv1d",
                .in = o.in,
                .out = o.out,
                .kernel = {o.kernel},
                .groups = o.groups,
                .bias = o.bias,
                .weight_init = o.weight_init,
                .bias_init = o.bias_init}),
      options_(o) {
  CheckSizes("nn::Conv1d", {{"stride", o.stride}, {"dilation", o.dilation}});
}

Tensor Conv1d::Forward(const Tensor& x) {
  BuildFor(x);
  const Options& o = options_;
  firn::Conv1dOptions call = {
      .stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
  if (o.padding_mode == PadMode::kConstant) return firn::Conv1d(x, weight(), bias(), call);
  call.padding = 0;
  const Tensor padded = firn::Pad(x, {o.padding, o.padding}, {.mode = o.padding_mode});
  return firn::Conv1d(padded, weight(), bias(), call);
}

std::string Conv1d::Describe() const {
  const Options& o = options_;
  Describer d;
  d.FromTo(in(), o.out).Field("kernel", o.kernel).Field("stride", o.stride, int64_t{1});
  d.Field("padding", o.padding, int64_t{0}).Field("dilation", o.dilation, int64_t{1});
  DescribeEnd(d, o.groups, o.bias, o.padding_mode);
  return d.text();
}

// --- ConvTranspose2d ----------------------------------------------------------------------------

ConvTranspose2d::ConvTranspose2d(const Options& o)
    : ConvBase({.layer = "nn::ConvTranspose2d",
                .in = o.in,
                .out = o.out,
                .kernel = {o.kernel.h, o.kernel.w},
                .groups = o.groups,
                .bias = o.bias,
                .transposed = true,
                .weight_init = o.weight_init,
                .bias_init = o.bias_init}),
      options_(o) {
  CheckSizes("nn::ConvTranspose2d",
             {{"stride", Smaller(o.stride)}, {"dilation", Smaller(o.dilation)}});
}

Tensor ConvTranspose2d::Forward(const Tensor& x) {
  BuildFor(x);
  const Options& o = options_;
  return firn::ConvTranspose2d(x, weight(), bias(),
                               {.stride = o.stride,
                                .padding = o.padding,
                                .output_padding = o.output_padding,
                                .groups = o.groups,
                                .dilation = o.dilation});
}

std::string ConvTranspose2d::Describe() const {
  const Options& o = options_;
  Describer d;
  d.FromTo(in(), o.out).Field("kernel", o.kernel).Field("stride", o.stride, Size2(1));
  d.Field("padding", o.padding, Size2(0)).Field("output_padding", o.output_padding, Size2(0));
  d.Field("dilation", o.dilation, Size2(1));
  DescribeEnd(d, o.groups, o.bias, PadMode::kConstant);
  return d.text();
}

}  // namespace firn::nn
