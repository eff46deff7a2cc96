#ifndef FIRN_NN_ACTIVATION_H_
#define FIRN_NN_ACTIVATION_H_

// Activation functions as layers: each is the operation of its name with its options. Prelu, which
// has a parameter, is in nn/prelu.h.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/shrink.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::nn {

// Options of Celu, whose operation has the options of all operations like Elu.
struct CeluOptions {
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
  void Check(const char* where) const { inner::CheckCeluAlpha(alpha, where); }
};

// Negative slopes are drawn in training; eval mode has their mean.
struct RreluFunction {
  static constexpr const char* kName = "Rrelu";
  using Options = inner::RreluAttrs;
  static Tensor Call(const Tensor& x, const Options& o, bool training) {
    return firn::Rrelu(x, o.lower, o.upper, training);
  }
};

using Celu = Activation<"Celu", firn::Celu, CeluOptions>;
using Elu = Activation<"Elu", inner::ScaledElu>;
using Gelu = Activation<"Gelu", firn::Gelu, inner::GeluAttrs>;
using Glu = Activation<"Glu", firn::Glu, inner::DimAttrs>;  // halves a dimension, the last one
using Hardshrink = Activation<"Hardshrink", firn::Hardshrink, inner::ShrinkAttrs>;
using Hardsigmoid = Activation<"Hardsigmoid", firn::Hardsigmoid, inner::HardsigmoidAttrs>;
using Hardswish = Activation<"Hardswish", firn::Hardswish>;
using Hardtanh = Activation<"Hardtanh", firn::Hardtanh, inner::HardtanhAttrs>;
using LeakyRelu = Activation<"LeakyRelu", firn::LeakyRelu, inner::LeakyReluAttrs>;
using LogSigmoid = Activation<"LogSigmoid", firn::LogSigmoid>;
using Mish = Activation<"Mish", firn::Mish>;
using Relu = Activation<"Relu", firn::Relu>;
using Relu6 = Activation<"Relu6", firn::Relu6>;
using Rrelu = FunctionLayer<RreluFunction>;
using Selu = Activation<"Selu", firn::Selu>;
using Sigmoid = Activation<"Sigmoid", firn::Sigmoid>;
using Silu = Activation<"Silu", firn::Silu>;
using Softplus = Activation<"Softplus", firn::Softplus, inner::SoftplusAttrs>;
using Softshrink = Activation<"Softshrink", firn::Softshrink, inner::ShrinkAttrs>;
using Softsign = Activation<"Softsign", firn::Softsign>;
using Tanh = Activation<"Tanh", firn::Tanh>;
using Tanhshrink = Activation<"Tanhshrink", firn::Tanhshrink>;
using Threshold = Activation<"Threshold", firn::Threshold, inner::ThresholdAttrs>;

// Along the last dimension unless `dim` says otherwise.
using LogSoftmax = Activation<"LogSoftmax", firn::LogSoftmax, inner::DimAttrs>;
using Softmax = Activation<"Softmax", firn::Softmax, inner::DimAttrs>;
using Softmin = Activation<"Softmin", firn::Softmin, inner::DimAttrs>;

}  // namespace firn::nn

#endif  // FIRN_NN_ACTIVATION_H_
