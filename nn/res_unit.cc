// ResUnit: whether the shortcut needs a convolution is known when the unit is made, so that an
// optimizer and a state dict that come before the first input see all parameters.

#include "firn/nn/res_unit.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn::nn {

ResUnit::ResUnit(const Options& o)
    : LayerWithOptions(o),
      conv1_(Add<Conv2d>("conv1", {.in = o.in,
                                   .out = o.out,
                                   .kernel = 3,
                                   .stride = o.stride,
                                   .padding = 1,
                                   .bias = false})),
      bn1_(Add<BatchNorm2d>("bn1", {.channels = o.out, .activation = FusedActivation::kRelu})),
      conv2_(Add<Conv2d>("conv2",
                         {.in = o.out, .out = o.out, .kernel = 3, .padding = 1, .bias = false})),
      bn2_(Add<BatchNorm2d>("bn2", {.channels = o.out})) {
  if (o.stride == 1 && o.in == kDeferred) {
    RaiseStatus(
        InvalidArgument("in is 0 (want the number of input channels where the stride is 1, ",
                        "for it tells whether the shortcut has a convolution)"),
        "nn::ResUnit");
  }
  if (o.stride == 1 && o.in == o.out) return;
  shortcut_conv_ = &Add<Conv2d>(
      "shortcut_conv", {.in = o.in, .out = o.out, .kernel = 1, .stride = o.stride, .bias = false});
  shortcut_bn_ = &Add<BatchNorm2d>("shortcut_bn", {.channels = o.out});
}

Tensor ResUnit::Forward(const Tensor& x) {
  const Tensor y = bn2_(conv2_(bn1_(conv1_(x))));
  return Relu(firn::Add(y, Shortcut(x)));
}

Tensor ResUnit::Shortcut(const Tensor& x) {
  return shortcut_conv_ == nullptr ? x : (*shortcut_bn_)((*shortcut_conv_)(x));
}

}  // namespace firn::nn
