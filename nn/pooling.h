#ifndef FIRN_NN_POOLING_H_
#define FIRN_NN_POOLING_H_

// Pooling as layers; options, formulas and shapes are those of the operations.

#include "nn/function_layer.h"
#include "tensor/ops/pool/avg_pool.h"
#include "tensor/ops/pool/max_pool.h"

namespace firn::nn {

struct MaxPool2dFunction {
  static constexpr const char* kName = "MaxPool2d";
  using Options = MaxPool2dOptions;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::MaxPool2d(x, o); }
  static void Describe(const Options& o, Describer& d) {
    d.Field("kernel", o.kernel).Field("stride", o.stride.value_or(o.kernel), o.kernel);
    d.Field("padding", o.padding, 0).Field("dilation", o.dilation, 1);
    d.Field("ceil_mode", o.ceil_mode, false);
  }
};
using MaxPool2d = FunctionLayer<MaxPool2dFunction>;

struct AvgPool2dFunction {
  static constexpr const char* kName = "AvgPool2d";
  using Options = AvgPool2dOptions;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::AvgPool2d(x, o); }
  static void Describe(const Options& o, Describer& d) {
    d.Field("kernel", o.kernel).Field("stride", o.stride.value_or(o.kernel), o.kernel);
    d.Field("padding", o.padding, 0).Field("ceil_mode", o.ceil_mode, false);
    d.Field("count_include_pad", o.count_include_pad, true);
    d.Field("divisor_override", o.divisor_override, int64_t{0});
  }
};
using AvgPool2d = FunctionLayer<AvgPool2dFunction>;

struct AdaptiveAvgPool2dFunction {
  static constexpr const char* kName = "AdaptiveAvgPool2d";
  struct Options {
    Sizes output_size = 1;
  };
  static Tensor Call(const Tensor& x, const Options& o) {
    return firn::AdaptiveAvgPool2d(x, o.output_size);
  }
  static void Describe(const Options& o, Describer& d) { d.Field("output_size", o.output_size); }
};
using AdaptiveAvgPool2d = FunctionLayer<AdaptiveAvgPool2dFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_POOLING_H_
