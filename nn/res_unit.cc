// ResUnit: whether the shortcut needs a convolution depends on the number of input channels. Left
// open, the layers for it are made tentatively, so that an optimizer gets their parameters, and
// dropped by the first input that can be added as it is.

#include "firn/nn/res_unit.h"

#include "firn/nn/describe.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn::nn {

ResUnit::ResUnit(const Options& o)
    : options_(o),
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
  if (o.stride == 1 && o.in == o.out) return;
  shortcut_conv_ = &Add<Conv2d>(
      "shortcut_conv", {.in = o.in, .out = o.out, .kernel = 1, .stride = o.stride, .bias = false});
  shortcut_bn_ = &Add<BatchNorm2d>("shortcut_bn", {.channels = kDeferred});
  if (o.stride == 1 && o.in == kDeferred) {
    SetTentative(*shortcut_conv_);
    SetTentative(*shortcut_bn_);
  }
}

Tensor ResUnit::Forward(const Tensor& x) {
  const bool undecided = shortcut_conv_ != nullptr && IsPending(shortcut_conv_->weight());
  if (undecided && options_.stride == 1 && SizeOfInput("nn::ResUnit", x, 1) == options_.out) {
    Drop(*shortcut_conv_);
    Drop(*shortcut_bn_);
    shortcut_conv_ = nullptr;
    shortcut_bn_ = nullptr;
    options_.in = options_.out;  // clones are made without
  }
  const Tensor y = bn2_(conv2_(bn1_(conv1_(x))));
  return Relu(firn::Add(y, Shortcut(x)));
}

Tensor ResUnit::Shortcut(const Tensor& x) {
  return shortcut_conv_ == nullptr ? x : (*shortcut_bn_)((*shortcut_conv_)(x));
}

std::string ResUnit::Describe() const {
  Describer d;
  d.FromTo(options_.in, options_.out).Field("stride", options_.stride, int64_t{1});
  return d.text();
}

}  // namespace firn::nn
