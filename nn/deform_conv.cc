// DeformConv2d: options for the operation, whose parameters ConvBaseOf holds.

#include "firn/nn/deform_conv.h"

#include "firn/nn/sizes.h"
#include "firn/tensor/ops/vision/deform_conv.h"

namespace firn::nn {
namespace {

constexpr const char* kDeformConv = "nn::DeformConv2d";

DeformConvBase::Plan PlanOf(const DeformConv2dOptions& o) {
  return {.layer = kDeformConv,
          .in = o.in,
          .out = o.out,
          .kernel = SpatialSizes(kDeformConv, "kernel", o.kernel, 2),
          .groups = o.groups,
          .bias = o.bias,
          .weight_init = o.weight_init,
          .bias_init = o.bias_init};
}

}  // namespace

DeformConv2d::DeformConv2d(const Options& o) : LayerWithOptions(o, PlanOf(o)) {
  CheckSizes(kDeformConv,
             {{"stride", Smallest(SpatialSizes(kDeformConv, "stride", o.stride, 2))},
              {"dilation", Smallest(SpatialSizes(kDeformConv, "dilation", o.dilation, 2))}});
  SpatialSizes(kDeformConv, "padding", o.padding, 2);
}

Tensor DeformConv2d::Forward(const Tensor& x, const Tensor& offset, const Tensor& mask) {
  BuildFor(x);
  const Options& o = options();
  return firn::DeformConv2d(
      x, offset, weight(), bias(), mask,
      {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups});
}

}  // namespace firn::nn
