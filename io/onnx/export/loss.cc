// What the operations of tensor/ops/loss are in ONNX.
#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

// Mean or sum of losses; "batchmean" divides by the first dimension.
void Reduced(OnnxExportCall& n, const V& losses) {
  const std::string& how = n.Word("reduction");
  if (how == "none") return n.Out(0, losses);
  if (n.rank(0) == 0) return n.Out(0, losses);
  const bool mean = how == "mean";
  const V all = n.Reduce(mean ? "ReduceMean" : "ReduceSum", losses, {}, false);
  n.Out(0, how == "batchmean" ? all / static_cast<double>(n.size(0, 0)) : all);
}
V Log(OnnxExportCall& n, const V& x) { return n.Node("Log", {x}); }

FIRN_ONNX_EXPORT(mse_loss) {
  const V d = n.in(0) - n.in(1);
  Reduced(n, d * d);
}
FIRN_ONNX_EXPORT(l1_loss) { Reduced(n, n.Node("Abs", {n.in(0) - n.in(1)})); }
FIRN_ONNX_EXPORT(smooth_l1_loss) {
  const double beta = n.Real("beta");
  const V d = n.Node("Abs", {n.in(0) - n.in(1)});
  if (beta == 0) return Reduced(n, d);
  Reduced(n, n.Where(n.Compare("Less", d, beta), d * d * (0.5 / beta), d - 0.5 * beta));
}
FIRN_ONNX_EXPORT(kl_div) {
  const V log_q = n.in(0), p = n.in(1);
  if (n.Flag("log_target")) return Reduced(n, n.Node("Exp", {p}) * (p - log_q));
  const V some = n.Compare("Greater", p, 0), none = n.Number(0, p.dtype);
  const V log_p = Log(n, n.Where(some, p, n.Number(1, p.dtype)));
  Reduced(n, n.Where(some, p * log_p, none) - p * log_q);
}
FIRN_ONNX_EXPORT(binary_cross_entropy) {
  const V p = n.in(0), t = n.in(1), low = n.Number(-100, p.dtype);
  const V yes = n.Node("Max", {Log(n, p), low}), no = n.Node("Max", {Log(n, 1 - p), low});
  Reduced(n, -(t * yes + (1 - t) * no));
}
FIRN_ONNX_EXPORT(binary_cross_entropy_with_logits) {
  const V x = n.in(0);
  Reduced(n, n.Node("Softplus", {x}) - x * n.in(1));
}
FIRN_ONNX_EXPORT(nll_loss) {
  if (n.rank(0) < 2) return n.Refuse("of one example without a batch");
  n.Out(0, n.Node("NegativeLogLikelihoodLoss", {n.in(0), n.in(1, DType::kI64), n.in(2)},
                  {{"ignore_index", n.Int("ignore_index")}, {"reduction", n.Word("reduction")}}));
}
FIRN_ONNX_EXPORT(cross_entropy) {
  if (n.rank(0) < 2) return n.Refuse("of one example without a batch");
  const bool probabilities = IsFloating(n.dtype(1));
  if (n.Real("label_smoothing") != 0 || (probabilities && n.has(2))) {
    return n.Refuse("with smoothed labels, or weighted probabilities");
  }
  if (n.wants(1)) n.Out(1, n.Reduce("ReduceLogSumExp", n.in(0), {1}, false));
  if (!probabilities) {
    return n.Out(
        0, n.Node("SoftmaxCrossEntropyLoss", {n.in(0), n.in(1, DType::kI64), n.in(2)},
                  {{"ignore_index", n.Int("ignore_index")}, {"reduction", n.Word("reduction")}}));
  }
  const V losses =
      -n.Reduce("ReduceSum", n.in(1) * n.Node("LogSoftmax", {n.in(0)}, {{"axis", 1}}), {1}, false);
  Reduced(n, losses);
}
// (softmax - one-hot label) times what flows back.
FIRN_ONNX_EXPORT(cross_entropy_grad) {
  if (n.rank(1) != 2 || IsFloating(n.dtype(2)) || n.has(3) || n.Real("label_smoothing") != 0) {
    return n.Refuse("of anything but classes of a matrix's rows");
  }
  const V label = n.in(2, DType::kI64), x = n.in(1);
  const V p = n.Node("Exp", {x - n.Unsqueeze(n.in(4, x.dtype), {1})});
  const V classes = n.Concat({n.Ints({0}), n.Ints({1})}, 0);
  const V ignored = n.Compare("Equal", label, static_cast<double>(n.Int("ignore_index")));
  const V safe = n.Where(ignored, n.Integer(0), label);
  const V hot = n.Node("OneHot", {safe, n.Ints({n.size(1, 1)}), n.Cast(classes, x.dtype)},
                       {{"axis", 1}}, x.dtype);
  const V counts = n.Cast(n.Node("Not", {ignored}, {}, DType::kBool), x.dtype);
  V flow = n.Word("reduction") == "none" ? n.in(0) * counts : counts * n.in(0);
  if (n.Word("reduction") == "mean") flow = flow / n.Reduce("ReduceSum", counts, {}, true);
  n.Out(0, (p - hot) * n.Unsqueeze(flow, {1}));
}
V Bounded(OnnxExportCall& n, const V& p) {  // p (1 - p), not 0
  return n.Node("Max", {p * (1 - p), n.Number(1e-12, p.dtype)});
}
FIRN_ONNX_EXPORT(binary_cross_entropy_grad) {
  n.Out(0, n.in(2) * (n.in(0) - n.in(1)) / Bounded(n, n.in(0)));
}
FIRN_ONNX_NO_EXPORT(ctc_loss, "ONNX has no connectionist temporal classification");
FIRN_ONNX_NO_EXPORT(ctc_loss_grad, "ONNX has no connectionist temporal classification");

}  // namespace
}  // namespace firn::io::internal
