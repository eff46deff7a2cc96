#ifndef FIRN_NN_ACTIVATION_H_
#define FIRN_NN_ACTIVATION_H_

// Activation functions as layers: each is the operation of its name with its options.

#include "nn/function_layer.h"
#include "tensor/ops/activation/rectifiers.h"
#include "tensor/ops/activation/sigmoids.h"
#include "tensor/ops/activation/softmax.h"
#include "tensor/ops/shape/dim_attrs.h"

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
  static void Describe(const Options& o, Describer& d) {
    if (o.approximate == GeluApproximate::kTanh) d.Text("approximate=tanh");
  }
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
