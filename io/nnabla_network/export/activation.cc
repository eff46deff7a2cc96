// NNabla's forms of the operations in tensor/ops/activation.
#include <cmath>
#include <numbers>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;

V Select(NnablaExportCall& n, const char* type, const V& x, double y, const V& yes, const V& no) {
  return n.Where(n.Binary(type, x, y), yes, no);
}
V Clip(NnablaExportCall& n, const V& x, double low, double high) {
  return n.Binary("Minimum2", n.Binary("Maximum2", x, low), high);
}
V Softplus(NnablaExportCall& n, const V& x, double beta) {
  return n.Node("SoftPlus", {x}, {{"beta", beta}});
}

FIRN_NNABLA_SAME(sigmoid, Sigmoid);
FIRN_NNABLA_SAME(tanh, Tanh);
FIRN_NNABLA_SAME(softsign, SoftSign);
FIRN_NNABLA_SAME(relu, ReLU);
FIRN_NNABLA_SAME(silu, Swish);
FIRN_NNABLA_SAME(mish, Mish);
FIRN_NNABLA_SAME(log_sigmoid, LogSigmoid);
FIRN_NNABLA_SAME(binary_sigmoid, BinarySigmoid);
FIRN_NNABLA_SAME(binary_tanh, BinaryTanh);

FIRN_NNABLA_EXPORT(leaky_relu) {
  n.Out(0, n.Node("LeakyReLU", {n.in(0)}, {{"alpha", n.Real("alpha")}}));
}
FIRN_NNABLA_EXPORT(prelu) {
  const V x = n.in(0), slope = n.in(1);
  if (n.spec(1).shape.num_elements() == 1) {
    return n.Out(
        0, n.Node("PReLU", {x, n.Reshape(slope, NnablaNodes::Numbers{1})}, {{"base_axis", 0}}));
  }
  n.Out(0, Select(n, "Greater", x, 0, x, x * slope));
}
FIRN_NNABLA_EXPORT(threshold) {
  n.Out(0,
        Select(n, "LessEqual", n.in(0), n.Real("threshold"), n.Number(n.Real("value")), n.in(0)));
}
FIRN_NNABLA_EXPORT(hardtanh) {
  const double low = n.Real("min"), high = n.Real("max");
  if (low == 0 && high == 6) return n.Out(0, n.Node("ReLU6", {n.in(0)}));
  if (low == -1 && high == 1) return n.Out(0, n.Node("HardTanh", {n.in(0)}));
  n.Out(0, Clip(n, n.in(0), low, high));
}
FIRN_NNABLA_EXPORT(hardsigmoid) {
  const double alpha = n.Real("alpha"), beta = n.Real("beta");
  if (alpha == 0.2 && beta == 0.5) return n.Out(0, n.Node("HardSigmoid", {n.in(0)}));
  n.Out(0, Clip(n, n.in(0) * alpha + beta, 0, 1));
}
FIRN_NNABLA_EXPORT(hardswish) { n.Out(0, n.in(0) * (n.Node("ReLU6", {n.in(0) + 3}) * (1.0 / 6))); }
FIRN_NNABLA_EXPORT(elu) {
  const double alpha = n.Real("alpha"), scale = n.Real("scale"), input = n.Real("input_scale");
  const V x = n.in(0);
  if (input == 1 && scale == 1) return n.Out(0, n.Node("ELU", {x}, {{"alpha", alpha}}));
  if (input == 1) {
    return n.Out(0, n.Node("SELU", {x}, {{"scale", scale}, {"alpha", alpha}}));
  }
  const V below = (n.Node("Exp", {n.Binary("Minimum2", x, 0) * input}) - 1) * (alpha * scale);
  n.Out(0, Select(n, "Greater", x, 0, x * scale, below));
}
FIRN_NNABLA_EXPORT(hardshrink) {
  const V x = n.in(0);
  n.Out(0, Select(n, "LessEqual", n.Node("Abs", {x}), n.Real("lambda"), n.Number(0), x));
}
FIRN_NNABLA_EXPORT(softshrink) {
  const V x = n.in(0), moved = x - n.Node("Sign", {x}) * n.Real("lambda");
  n.Out(0, Select(n, "LessEqual", n.Node("Abs", {x}), n.Real("lambda"), n.Number(0), moved));
}
// NNabla's Gelu is the approximation by tanh.
FIRN_NNABLA_EXPORT(gelu) {
  const V x = n.in(0);
  if (n.Word("approximate") == "tanh") return n.Out(0, n.Node("GELU", {x}));
  n.Out(0, x * ((n.Node("Erf", {x * (1 / std::numbers::sqrt2)}) + 1) * 0.5));
}
FIRN_NNABLA_EXPORT(softplus) {
  const double beta = n.Real("beta"), threshold = n.Real("threshold");
  const V y = Softplus(n, n.in(0), beta);
  n.Out(0, threshold >= 20 ? y : Select(n, "Greater", n.in(0) * beta, threshold, n.in(0), y));
}
FIRN_NNABLA_EXPORT(softmax) {
  if (n.rank(0) == 0) return n.Out(0, n.Node("Exp", {n.in(0) - n.in(0)}));
  n.Out(0, n.Node("Softmax", {n.in(0)}, {{"axis", n.Dim("dim", n.rank(0))}}));
}
FIRN_NNABLA_EXPORT(log_softmax) {
  if (n.rank(0) == 0) return n.Out(0, n.in(0) - n.in(0));
  n.Out(0, n.Node("LogSoftmax", {n.in(0)}, {{"axis", n.Dim("dim", n.rank(0))}}));
}
FIRN_NNABLA_EXPORT(logit) {
  const double eps = n.Real("eps");
  const V x = eps >= 0 ? Clip(n, n.in(0), eps, 1 - eps) : n.in(0);
  n.Out(0, n.Node("Log", {x / (1 - x)}));
}
FIRN_NNABLA_EXPORT(straight_through) { n.Out(0, n.Broadcast(n.in(0), n.out_sizes(0))); }

}  // namespace
}  // namespace firn::io::internal
