// Once the output stride is reached, strides become dilations of the units that follow. Norms of
// the backbone have the authors' eps of 0.001.
#include "firn/nn/zoo/xception65.h"

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"

namespace firn::zoo {
namespace {

constexpr double kEps = 1e-3;

ConvNormOptions Stem(int64_t in, int64_t out, int64_t stride) {
  return {.in = in, .out = out, .kernel = 3, .stride = stride, .eps = kEps};
}

// Units with the strides and rates for an output stride.
class Plan {
 public:
  explicit Plan(int64_t output_stride) : output_stride_(output_stride) {}

  Xception65UnitOptions Unit(int64_t in, const std::array<int64_t, 3>& out, int64_t stride,
                             Xception65Shortcut shortcut) {
    const bool reached = stride_ == output_stride_;
    Xception65UnitOptions unit = {.in = in,
                                  .out = out,
                                  .stride = reached ? 1 : stride,
                                  .rate = rate_,
                                  .shortcut = shortcut,
                                  .relu_behind = shortcut == Xception65Shortcut::kNone};
    (reached ? rate_ : stride_) *= stride;
    return unit;
  }

 private:
  int64_t output_stride_;
  int64_t stride_ = 2, rate_ = 1;  // of what there is; the first convolution has halved the image
};

}  // namespace

std::vector<nn::LayerSpec> NormedSeparable(const NormedSeparableOptions& o) {
  const auto norm = [&](int64_t channels) {
    return nn::New<nn::BatchNorm2d>(
        {.channels = channels,
         .eps = o.eps,
         .activation = o.relu ? FusedActivation::kRelu : FusedActivation::kNone});
  };
  return {nn::New<nn::Conv2d>({.in = o.in,
                               .out = o.in,
                               .kernel = 3,
                               .stride = o.stride,
                               .padding = o.rate,
                               .dilation = o.rate,
                               .groups = o.in,
                               .bias = false}),
          norm(o.in), nn::New<nn::Conv2d>({.in = o.in, .out = o.out, .bias = false}), norm(o.out)};
}

Xception65Unit::Xception65Unit(const Options& options)
    : LayerWithOptions(options), convs_(Add<nn::ModuleList<nn::Sequential>>("convs")) {
  int64_t in = options.in;
  for (size_t i = 0; i < options.out.size(); ++i) {
    convs_.Append(NormedSeparable({.in = in,
                                   .out = options.out[i],
                                   .stride = i == 2 ? options.stride : 1,
                                   .rate = options.rate,
                                   .relu = options.relu_behind,
                                   .eps = kEps}));
    in = options.out[i];
  }
  if (options.shortcut != Xception65Shortcut::kConv) return;
  shortcut_ = &Add<ConvNorm>("shortcut", {.in = options.in,
                                          .out = in,
                                          .kernel = 1,
                                          .stride = options.stride,
                                          .activation = nullptr,
                                          .eps = kEps});
}

Tensor Xception65Unit::Run(const Tensor& x, Tensor* second) {
  return CallAs([&](const Tensor& in) { return Compute(in, second); }, x);
}

Tensor Xception65Unit::Compute(const Tensor& x, Tensor* second) {
  Tensor h = x;
  for (size_t i = 0; i < options().out.size(); ++i) {
    h = convs_[i](options().relu_behind ? h : Relu(h));
    if (i == 1 && second != nullptr) *second = h;
  }
  if (shortcut_ != nullptr) return h + (*shortcut_)(x);
  return options().shortcut == Xception65Shortcut::kIdentity ? h + x : h;
}

Xception65::Xception65(const Options& options)
    : LayerWithOptions(options),
      conv1_(Add<ConvNorm>("conv1", Stem(3, 32, 2))),
      conv2_(Add<ConvNorm>("conv2", Stem(32, 64, 1))),
      units_(Add<nn::ModuleList<Xception65Unit>>("units")) {
  if (options.middle < 0) {
    RaiseStatus(InvalidArgument("expected a number of units, got ", options.middle),
                "zoo::Xception65");
  }
  Plan plan(options.output_stride);
  const auto conv = Xception65Shortcut::kConv;
  units_.Append(plan.Unit(64, {128, 128, 128}, 2, conv));
  units_.Append(plan.Unit(128, {256, 256, 256}, 2, conv));
  units_.Append(plan.Unit(256, {728, 728, 728}, 2, conv));
  for (int64_t i = 0; i < options.middle; ++i) {
    units_.Append(plan.Unit(728, {728, 728, 728}, 1, Xception65Shortcut::kIdentity));
  }
  units_.Append(plan.Unit(728, {728, 1024, 1024}, 2, conv));
  units_.Append(plan.Unit(1024, {1536, 1536, 2048}, 1, Xception65Shortcut::kNone));
}

std::array<Tensor, 2> Xception65::Stages(const Tensor& x) {
  Tensor h = conv2_(conv1_(x)), fine;
  for (size_t i = 0; i < units_.size(); ++i) h = units_[i].Run(h, i == 1 ? &fine : nullptr);
  return {fine, h};
}

}  // namespace firn::zoo
