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

struct ReluFunction {
  static constexpr const char* kName = "Relu";
  static Tensor Call(const Tensor& x) { return firn::Relu(x); }
};
using Relu = FunctionLayer<ReluFunction>;

struct TanhFunction {
  static constexpr const char* kName = "Tanh";
  static Tensor Call(const Tensor& x) { return firn::Tanh(x); }
};
using Tanh = FunctionLayer<TanhFunction>;

struct SigmoidFunction {
  static constexpr const char* kName = "Sigmoid";
  static Tensor Call(const Tensor& x) { return firn::Sigmoid(x); }
};
using Sigmoid = FunctionLayer<SigmoidFunction>;

struct SiluFunction {
  static constexpr const char* kName = "Silu";
  static Tensor Call(const Tensor& x) { return firn::Silu(x); }
};
using Silu = FunctionLayer<SiluFunction>;

struct SeluFunction {
  static constexpr const char* kName = "Selu";
  static Tensor Call(const Tensor& x) { return firn::Selu(x); }
};
using Selu = FunctionLayer<SeluFunction>;

struct LogSigmoidFunction {
  static constexpr const char* kName = "LogSigmoid";
  static Tensor Call(const Tensor& x) { return firn::LogSigmoid(x); }
};
using LogSigmoid = FunctionLayer<LogSigmoidFunction>;

struct SoftsignFunction {
  static constexpr const char* kName = "Softsign";
  static Tensor Call(const Tensor& x) { return firn::Softsign(x); }
};
using Softsign = FunctionLayer<SoftsignFunction>;

struct MishFunction {
  static constexpr const char* kName = "Mish";
  static Tensor Call(const Tensor& x) { return firn::Mish(x); }
};
using Mish = FunctionLayer<MishFunction>;

struct HardswishFunction {
  static constexpr const char* kName = "Hardswish";
  static Tensor Call(const Tensor& x) { return firn::Hardswish(x); }
};
using Hardswish = FunctionLayer<HardswishFunction>;

struct Relu6Function {
  static constexpr const char* kName = "Relu6";
  static Tensor Call(const Tensor& x) { return firn::Relu6(x); }
};
using Relu6 = FunctionLayer<Relu6Function>;

struct TanhshrinkFunction {
  static constexpr const char* kName = "Tanhshrink";
  static Tensor Call(const Tensor& x) { return firn::Tanhshrink(x); }
};
using Tanhshrink = FunctionLayer<TanhshrinkFunction>;

struct LeakyReluFunction {
  static constexpr const char* kName = "LeakyRelu";
  using Options = inner::LeakyReluAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::LeakyRelu(x, o.alpha); }
};
using LeakyRelu = FunctionLayer<LeakyReluFunction>;

struct EluFunction {
  static constexpr const char* kName = "Elu";
  using Options = inner::EluAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::inner::ScaledElu(x, o); }
};
using Elu = FunctionLayer<EluFunction>;

struct GeluFunction {
  static constexpr const char* kName = "Gelu";
  using Options = inner::GeluAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Gelu(x, o.approximate); }
};
using Gelu = FunctionLayer<GeluFunction>;

struct SoftplusFunction {
  static constexpr const char* kName = "Softplus";
  using Options = inner::SoftplusAttrs;
  static Tensor Call(const Tensor& x, const Options& o) {
    return firn::Softplus(x, o.beta, o.threshold);
  }
};
using Softplus = FunctionLayer<SoftplusFunction>;

struct HardtanhFunction {
  static constexpr const char* kName = "Hardtanh";
  using Options = inner::HardtanhAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Hardtanh(x, o.min, o.max); }
};
using Hardtanh = FunctionLayer<HardtanhFunction>;

struct ThresholdFunction {
  static constexpr const char* kName = "Threshold";
  using Options = inner::ThresholdAttrs;
  static Tensor Call(const Tensor& x, const Options& o) {
    return firn::Threshold(x, o.threshold, o.value);
  }
};
using Threshold = FunctionLayer<ThresholdFunction>;

struct HardsigmoidFunction {
  static constexpr const char* kName = "Hardsigmoid";
  using Options = inner::HardsigmoidAttrs;
  static Tensor Call(const Tensor& x, const Options& o) {
    return firn::Hardsigmoid(x, o.alpha, o.beta);
  }
};
using Hardsigmoid = FunctionLayer<HardsigmoidFunction>;

struct HardshrinkFunction {
  static constexpr const char* kName = "Hardshrink";
  using Options = inner::ShrinkAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Hardshrink(x, o.lambda); }
};
using Hardshrink = FunctionLayer<HardshrinkFunction>;

struct SoftshrinkFunction {
  static constexpr const char* kName = "Softshrink";
  using Options = inner::ShrinkAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Softshrink(x, o.lambda); }
};
using Softshrink = FunctionLayer<SoftshrinkFunction>;

struct CeluFunction {
  static constexpr const char* kName = "Celu";
  struct Options {
    double alpha = 1;
    template <class V>
    void Visit(V& v) {
      v.Field("alpha", alpha);
    }
  };
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Celu(x, o.alpha); }
};
using Celu = FunctionLayer<CeluFunction>;

// Halves the last dimension unless `dim` says otherwise.
struct GluFunction {
  static constexpr const char* kName = "Glu";
  struct Options {
    int64_t dim = -1;
    template <class V>
    void Visit(V& v) {
      v.Field("dim", dim);
    }
  };
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Glu(x, o.dim); }
};
using Glu = FunctionLayer<GluFunction>;

// Along the last dimension unless `dim` says otherwise.
struct SoftmaxFunction {
  static constexpr const char* kName = "Softmax";
  using Options = inner::DimAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Softmax(x, o.dim); }
};
using Softmax = FunctionLayer<SoftmaxFunction>;

struct SoftminFunction {
  static constexpr const char* kName = "Softmin";
  using Options = inner::DimAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::Softmin(x, o.dim); }
};
using Softmin = FunctionLayer<SoftminFunction>;

struct LogSoftmaxFunction {
  static constexpr const char* kName = "LogSoftmax";
  using Options = inner::DimAttrs;
  static Tensor Call(const Tensor& x, const Options& o) { return firn::LogSoftmax(x, o.dim); }
};
using LogSoftmax = FunctionLayer<LogSoftmaxFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_ACTIVATION_H_
