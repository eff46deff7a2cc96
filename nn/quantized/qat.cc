// The operations of nn::Linear and nn::Conv2d, on inputs and weights that FakeQuantize has rounded.

#include "firn/nn/quantized/qat.h"

#include "firn/nn/quantized/weights.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/quantize/weights.h"

namespace firn::nn::quantized {
namespace {

constexpr char kLinear[] = "nn::quantized::QatLinear", kConv[] = "nn::quantized::QatConv2d";

ConvBase::Plan PlanOf(const Conv2dOptions& o) {
  internal::CheckInputDType(o.dtype, kConv);
  CheckSizes(kConv, {{"stride", Smallest(SpatialSizes(kConv, "stride", o.stride, 2))},
                     {"dilation", Smallest(SpatialSizes(kConv, "dilation", o.dilation, 2))}});
  SpatialSizes(kConv, "padding", o.padding.size, 2);
  return {.layer = kConv,
          .in = o.in,
          .out = o.out,
          .kernel = SpatialSizes(kConv, "kernel", o.kernel, 2),
          .groups = o.groups,
          .bias = o.bias,
          .weight_init = {},
          .bias_init = {}};
}

}  // namespace

QatLinear::QatLinear(const Options& options)
    : LayerWithOptions(options),
      weight_(AddPendingParameter("weight", {options.out, options.in})),
      bias_(options.bias ? AddPendingParameter("bias", {options.out}) : AddParameter("bias", {})),
      input_(Add<FakeQuantize>("input", {.dtype = options.dtype})) {
  CheckSizes(kLinear, {{"in", options.in, true}, {"out", options.out}});
  if (options.in != kDeferred) Build(options.in);
}

void QatLinear::Build(int64_t in) {
  InitPending(weight_, {options().out, in}, FanInUniform(in));
  InitPending(bias_, {options().out}, FanInUniform(in));
}

Tensor QatLinear::Forward(const Tensor& x) {
  if (Pends(weight_, bias_)) [[unlikely]]
    Build(SizeOfInput(kLinear, x, -1));
  return firn::Linear(input_(x), FakeQuantizeWeights(weight_), bias_);
}

void QatLinear::AddKnown(Options& options) const { options.in = KnownSize(weight_, 1, options.in); }

QatConv2d::QatConv2d(const Options& options)
    : LayerWithOptions(options, PlanOf(options)),
      input_(Add<FakeQuantize>("input", {.dtype = options.dtype})) {}

Tensor QatConv2d::Forward(const Tensor& x) {
  BuildFor(x);
  const Options& o = options();
  return firn::Conv2d(
      input_(x), FakeQuantizeWeights(weight()), bias(),
      {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups});
}

}  // namespace firn::nn::quantized
