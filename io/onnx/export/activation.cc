// ONNX's forms of the operations in tensor/ops/activation.
#include <cmath>
#include <numbers>

#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

V Sigmoid(OnnxExportCall& n, const V& x) { return n.Node("Sigmoid", {x}); }
V Tanh(OnnxExportCall& n, const V& x) { return n.Node("Tanh", {x}); }
V Softplus(OnnxExportCall& n, const V& x) { return n.Node("Softplus", {x}); }
V Zero(OnnxExportCall& n, const V& x) { return n.Number(0, x.dtype); }
V Select(OnnxExportCall& n, const char* op, const V& x, double y, const V& yes, const V& no) {
  return n.Where(n.Compare(op, x, y), yes, no);
}

FIRN_ONNX_SAME(sigmoid, Sigmoid);
FIRN_ONNX_SAME(tanh, Tanh);
FIRN_ONNX_SAME(softsign, Softsign);

FIRN_ONNX_EXPORT(relu) {
  if (IsFloating(n.dtype(0)) || n.opset() >= 14) return n.Out(0, n.Node("Relu", {n.in(0)}));
  n.Out(0, n.Node("Max", {n.in(0), n.Number(0, n.dtype(0))}));
}
FIRN_ONNX_EXPORT(leaky_relu) {
  n.Out(0, n.Node("LeakyRelu", {n.in(0)}, {{"alpha", n.Real("alpha")}}));
}
FIRN_ONNX_EXPORT(prelu) {  // ONNX's slope has no more elements than x
  const V x = n.in(0);
  if (n.out_spec(0).shape == n.spec(0).shape) return n.Out(0, n.Node("PRelu", {x, n.in(1)}));
  n.Out(0, Select(n, "Greater", x, 0, x, x * n.in(1)));
}
FIRN_ONNX_EXPORT(threshold) {
  n.Out(0, Select(n, "LessOrEqual", n.in(0), n.Real("threshold"),
                  n.Number(n.Real("value"), n.dtype(0)), n.in(0)));
}
FIRN_ONNX_EXPORT(hardtanh) {
  n.Out(0, n.Node("Clip", {n.in(0), n.Number(n.Real("min"), n.dtype(0)),
                           n.Number(n.Real("max"), n.dtype(0))}));
}
FIRN_ONNX_EXPORT(hardsigmoid) {
  n.Out(0,
        n.Node("HardSigmoid", {n.in(0)}, {{"alpha", n.Real("alpha")}, {"beta", n.Real("beta")}}));
}
FIRN_ONNX_EXPORT(hardswish) {
  if (n.opset() >= 14) return n.Out(0, n.Node("HardSwish", {n.in(0)}));
  n.Out(0, n.in(0) * n.Node("HardSigmoid", {n.in(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
}
FIRN_ONNX_EXPORT(elu) {
  const double alpha = n.Real("alpha"), scale = n.Real("scale"), input = n.Real("input_scale");
  const V x = n.in(0);
  if (input == 1 && scale == 1) return n.Out(0, n.Node("Elu", {x}, {{"alpha", alpha}}));
  if (input == 1) {
    return n.Out(0, n.Node("Selu", {x}, {{"alpha", alpha}, {"gamma", scale}}));
  }
  if (scale == 1 && x.dtype == DType::kF32 && std::abs(alpha * input - 1) < 1e-9) {
    return n.Out(0, n.Node("Celu", {x}, {{"alpha", alpha}}));
  }
  const V below = (n.Node("Exp", {x * input}) - 1) * (alpha * scale);
  n.Out(0, Select(n, "Greater", x, 0, x * scale, below));
}
FIRN_ONNX_EXPORT(hardshrink) {
  const V x = n.in(0);
  n.Out(0, Select(n, "LessOrEqual", n.Node("Abs", {x}), n.Real("lambda"), Zero(n, x), x));
}
FIRN_ONNX_EXPORT(softshrink) {
  const V x = n.in(0), moved = x - n.Node("Sign", {x}) * n.Real("lambda");
  n.Out(0, Select(n, "LessOrEqual", n.Node("Abs", {x}), n.Real("lambda"), Zero(n, x), moved));
}
FIRN_ONNX_EXPORT(log_sigmoid) { n.Out(0, -Softplus(n, -n.in(0))); }
FIRN_ONNX_EXPORT(silu) {
  n.Out(0, n.opset() >= 24 ? n.Node("Swish", {n.in(0)}) : n.in(0) * Sigmoid(n, n.in(0)));
}
constexpr double kTanhGelu = 0.7978845608028654;  // sqrt(2 / pi)
V GeluTanh(OnnxExportCall& n, const V& x) {
  return Tanh(n, (x + x * x * x * 0.044715) * kTanhGelu);
}
V NormalCdf(OnnxExportCall& n, const V& x) {
  return (n.Node("Erf", {x * (1 / std::numbers::sqrt2)}) + 1) * 0.5;
}
FIRN_ONNX_EXPORT(gelu) {
  const V x = n.in(0);
  const bool tanh = n.Word("approximate") == "tanh";
  if (n.opset() >= 20) {
    return n.Out(0, n.Node("Gelu", {x}, {{"approximate", tanh ? "tanh" : "none"}}));
  }
  n.Out(0, tanh ? x * 0.5 * (GeluTanh(n, x) + 1) : x * NormalCdf(n, x));
}
FIRN_ONNX_EXPORT(softplus) {
  const double beta = n.Real("beta"), threshold = n.Real("threshold");
  const V x = beta == 1 ? n.in(0) : n.in(0) * beta;
  const V y = beta == 1 ? Softplus(n, x) : Softplus(n, x) / beta;
  n.Out(0, threshold >= 20 ? y : Select(n, "Greater", x, threshold, n.in(0), y));
}
FIRN_ONNX_EXPORT(mish) {
  if (n.opset() >= 18) return n.Out(0, n.Node("Mish", {n.in(0)}));
  n.Out(0, n.in(0) * Tanh(n, Softplus(n, n.in(0))));
}
FIRN_ONNX_EXPORT(softmax) {
  if (n.rank(0) == 0) return n.Out(0, n.Node("Exp", {n.in(0) - n.in(0)}));
  n.Out(0, n.Node("Softmax", {n.in(0)}, {{"axis", n.Dim("dim", n.rank(0))}}));
}
FIRN_ONNX_EXPORT(log_softmax) {
  if (n.rank(0) == 0) return n.Out(0, n.in(0) - n.in(0));
  n.Out(0, n.Node("LogSoftmax", {n.in(0)}, {{"axis", n.Dim("dim", n.rank(0))}}));
}
FIRN_ONNX_EXPORT(logit) {
  const double eps = n.Real("eps");
  V x = n.in(0);
  if (eps >= 0) x = n.Node("Clip", {x, n.Number(eps, x.dtype), n.Number(1 - eps, x.dtype)});
  n.Out(0, n.Node("Log", {x / (1 - x)}));
}
FIRN_ONNX_EXPORT(straight_through) {
  const bool same = n.out_spec(0).shape == n.spec(0).shape;
  n.Out(0, same ? n.in(0) : n.ExpandTo(n.in(0), n.out_sizes(0)));
}

FIRN_ONNX_EXPORT(relu_grad) {
  n.Out(0, Select(n, "LessOrEqual", n.in(1), 0, Zero(n, n.in(0)), n.in(0)));
}
FIRN_ONNX_EXPORT(leaky_relu_grad) {
  n.Out(0, Select(n, "Greater", n.in(1), 0, n.in(0), n.in(0) * n.Real("alpha")));
}
FIRN_ONNX_EXPORT(threshold_grad) {
  n.Out(0, Select(n, "LessOrEqual", n.in(1), n.Real("threshold"), Zero(n, n.in(0)), n.in(0)));
}
FIRN_ONNX_EXPORT(shrink_grad) {
  const V size = n.Node("Abs", {n.in(1)});
  n.Out(0, Select(n, "LessOrEqual", size, n.Real("lambda"), Zero(n, n.in(0)), n.in(0)));
}
V Between(OnnxExportCall& n, const V& x, double low, double high, const V& yes) {
  const V none = Zero(n, yes);  // NaN is between
  return Select(n, "LessOrEqual", x, low, none, Select(n, "GreaterOrEqual", x, high, none, yes));
}
FIRN_ONNX_EXPORT(hardtanh_grad) {
  n.Out(0, Between(n, n.in(1), n.Real("min"), n.Real("max"), n.in(0)));
}
FIRN_ONNX_EXPORT(hardsigmoid_grad) {
  const V y = n.in(1) * n.Real("alpha") + n.Real("beta");
  n.Out(0, Between(n, y, 0, 1, n.in(0) * n.Real("alpha")));
}
FIRN_ONNX_EXPORT(hardswish_grad) {
  const V dy = n.in(0), x = n.in(1);
  n.Out(0, Select(n, "GreaterOrEqual", x, 3, dy,
                  Select(n, "LessOrEqual", x, -3, Zero(n, dy), dy * (x / 3 + 0.5))));
}
FIRN_ONNX_EXPORT(binary_grad) {
  n.Out(0, Select(n, "Less", n.Node("Abs", {n.in(1)}), 1, n.in(0), Zero(n, n.in(0))));
}
FIRN_ONNX_EXPORT(elu_grad) {
  const double alpha = n.Real("alpha"), scale = n.Real("scale"), input = n.Real("input_scale");
  const V below = n.Node("Exp", {n.in(1) * input}) * (alpha * scale * input);
  n.Out(0, n.in(0) * Select(n, "Greater", n.in(1), 0, n.Number(scale, below.dtype), below));
}
FIRN_ONNX_EXPORT(sigmoid_grad) { n.Out(0, n.in(0) * n.in(1) * (1 - n.in(1))); }
FIRN_ONNX_EXPORT(tanh_grad) { n.Out(0, n.in(0) * (1 - n.in(1) * n.in(1))); }
FIRN_ONNX_EXPORT(log_sigmoid_grad) { n.Out(0, n.in(0) * Sigmoid(n, -n.in(1))); }
FIRN_ONNX_EXPORT(silu_grad) {
  const V x = n.in(1), s = Sigmoid(n, x);
  n.Out(0, n.in(0) * s * (x * (1 - s) + 1));
}
FIRN_ONNX_EXPORT(gelu_grad) {
  const V x = n.in(1);
  if (n.Word("approximate") == "tanh") {
    const V t = GeluTanh(n, x), inner = (x * x * (3 * 0.044715) + 1) * kTanhGelu;
    return n.Out(0, n.in(0) * ((t + 1) * 0.5 + x * 0.5 * (1 - t * t) * inner));
  }
  const V density = n.Node("Exp", {x * x * -0.5}) * (0.5 * kTanhGelu);
  n.Out(0, n.in(0) * (NormalCdf(n, x) + x * density));
}
FIRN_ONNX_EXPORT(softplus_grad) {
  const V x = n.in(1) * n.Real("beta");
  n.Out(0, Select(n, "Greater", x, n.Real("threshold"), n.in(0), n.in(0) * Sigmoid(n, x)));
}
FIRN_ONNX_EXPORT(mish_grad) {
  const V x = n.in(1), t = Tanh(n, Softplus(n, x));
  n.Out(0, n.in(0) * (t + x * Sigmoid(n, x) * (1 - t * t)));
}
FIRN_ONNX_EXPORT(softmax_grad) {
  if (n.rank(0) == 0) return n.Out(0, n.in(0) - n.in(0));
  const V flow = n.in(0) * n.in(1);
  const V sum = n.Reduce("ReduceSum", flow, {n.Dim("dim", n.rank(0))}, true);
  n.Out(0, n.in(1) * (n.in(0) - sum));
}
FIRN_ONNX_EXPORT(log_softmax_grad) {
  if (n.rank(0) == 0) return n.Out(0, n.in(0) - n.in(0));
  const V sum = n.Reduce("ReduceSum", n.in(0), {n.Dim("dim", n.rank(0))}, true);
  n.Out(0, n.in(0) - n.Node("Exp", {n.in(1)}) * sum);
}

}  // namespace
}  // namespace firn::io::internal
