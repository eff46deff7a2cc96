#include "firn/nn/zoo/inception_parts.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/nn/init.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"

namespace firn::zoo {

BasicConv::BasicConv(const Options& options)
    : LayerWithOptions(options),
      conv_(Add<nn::Conv2d>(
          "conv", {.in = options.in,
                   .out = options.out,
                   .kernel = options.kernel,
                   .stride = options.stride,
                   .padding = ConvPadding(options.padding),
                   .bias = false,
                   .weight_init = nn::init::TruncatedNormal(0, options.deviation, -2, 2)})),
      bn_(Add<nn::BatchNorm2d>(
          "bn", {.channels = options.out, .eps = 1e-3, .activation = FusedActivation::kRelu})) {}

Tensor BasicConv::Forward(const Tensor& x) { return bn_(conv_(x)); }

Sizes HalfOf(const Sizes& kernel) {
  Sizes half = kernel;
  for (int i = 0; i < kernel.count(); ++i) half.set(i, kernel[i] / 2);
  return half;
}

// (deviation * x + mean - 0.5) / 0.5, with ImageNet's mean and deviation in f64.
HalfColours::HalfColours()
    : scale_(FromVector(std::vector<double>{0.229 / 0.5, 0.224 / 0.5, 0.225 / 0.5}, {3, 1, 1})),
      shift_(FromVector(
          std::vector<double>{(0.485 - 0.5) / 0.5, (0.456 - 0.5) / 0.5, (0.406 - 0.5) / 0.5},
          {3, 1, 1})) {}

// Not ChannelAffine, which rounds once; files of graphs have a product and a sum.
Tensor HalfColours::operator()(const Tensor& x) const {
  const auto as_x = [&](const Tensor& t) { return t.To(x.dtype()).To(x.device()); };
  return x * as_x(scale_) + as_x(shift_);
}

void RaiseNoAuxiliary(const char* network) {
  RaiseStatus(FailedPrecondition("there are no auxiliary classifiers: make the network with "
                                 "auxiliary = true"),
              network);
}

}  // namespace firn::zoo
