// NNabla's forms of the operations in tensor/ops/loss. NNabla reduces none of its losses.
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

// Mean or sum of losses; "batchmean" divides by the first dimension.
void Reduced(NnablaExportCall& n, const V& losses) {
  const std::string& how = n.Word("reduction");
  if (how == "none") return n.Out(0, losses);
  const Numbers all = NnablaNodes::OrderOf(losses.rank());
  const V y = n.Reduce(how == "mean" ? "Mean" : "Sum", losses, all, false);
  n.Out(0, how == "batchmean" ? y / static_cast<double>(n.size(0, 0)) : y);
}
V Log(NnablaExportCall& n, const V& x) { return n.Node("Log", {x}); }
V Pair(NnablaExportCall& n, const char* type, NnablaNodes::Arguments arguments = {}) {
  return n.Node(type, {n.in(0), n.in(1)}, std::move(arguments));
}

FIRN_NNABLA_EXPORT(mse_loss) { Reduced(n, Pair(n, "SquaredError")); }
FIRN_NNABLA_EXPORT(l1_loss) { Reduced(n, Pair(n, "AbsoluteError")); }
// NNabla's Huber loss is twice the paper's, d^2 within delta; this one is that divided by beta.
FIRN_NNABLA_EXPORT(smooth_l1_loss) {
  const double beta = n.Real("beta");
  if (beta == 0) return Reduced(n, Pair(n, "AbsoluteError"));
  Reduced(n, Pair(n, "HuberLoss", {{"delta", beta}}) * (0.5 / beta));
}
FIRN_NNABLA_EXPORT(kl_div) {
  const V log_q = n.in(0), p = n.in(1);
  if (n.Flag("log_target")) return Reduced(n, n.Node("Exp", {p}) * (p - log_q));
  const V some = n.Binary("Greater", p, 0);
  Reduced(n, n.Where(some, p * Log(n, n.Where(some, p, n.Number(1))), n.Number(0)) - p * log_q);
}
FIRN_NNABLA_EXPORT(binary_cross_entropy) {
  const V p = n.in(0), t = n.in(1);
  const V yes = n.Binary("Maximum2", Log(n, p), -100),
          no = n.Binary("Maximum2", Log(n, 1 - p), -100);
  Reduced(n, -(t * yes + (1 - t) * no));
}
// NNabla's SigmoidCrossEntropy takes targets for 0 or 1.
FIRN_NNABLA_EXPORT(binary_cross_entropy_with_logits) {
  const V x = n.in(0);
  Reduced(n, n.Node("SoftPlus", {x}, {{"beta", 1.0}}) - x * n.in(1));
}

// Reduces losses of classes [n, ...]. Losses for labels below 0 are 0 and do not count.
void OfClasses(NnablaExportCall& n, const V& losses, const V& labels) {
  if (n.Word("reduction") != "mean") return Reduced(n, losses);
  const Numbers all = NnablaNodes::OrderOf(losses.rank());
  const V counted = n.Reduce("Sum", n.Binary("GreaterEqual", labels, 0), all, false);
  n.Out(0, n.Reduce("Sum", losses, all, false) / counted);
}
V Labels(NnablaExportCall& n) {
  const int64_t ignored = n.Int("ignore_index");
  if (ignored < 0) return n.in(1);
  return n.Where(n.Binary("Equal", n.in(1), static_cast<double>(ignored)), n.Number(-1), n.in(1));
}
FIRN_NNABLA_EXPORT(nll_loss) {
  if (n.rank(0) < 2) return n.Refuse("of one example without a batch");
  if (n.has(2)) return n.Refuse("with weights of classes");
  const V labels = Labels(n), known = n.Binary("GreaterEqual", labels, 0);
  CapturedSizes sizes = n.sizes(1);
  const int64_t classes = n.size(0, 1);
  sizes.push_back({classes, classes});
  const V hot = n.Node("OneHot", {n.Unsqueeze(n.Binary("Maximum2", labels, 0), {n.rank(1)})},
                       {{"shape", Numbers{classes}}}, sizes);
  Numbers order = NnablaNodes::OrderOf(n.rank(0));
  order.erase(order.begin() + 1);
  order.push_back(1);
  // Chosen by Where, since the logarithm of 0 times 0 would be NaN.
  const V taken = n.Reduce("Sum", n.Where(hot, n.Transpose(n.in(0), order), n.Number(0)),
                           {n.rank(0) - 1}, false);
  OfClasses(n, -n.Where(known, taken, n.Number(0)), labels);
}
FIRN_NNABLA_EXPORT(cross_entropy) {
  if (n.rank(0) < 2) return n.Refuse("of one example without a batch");
  if (n.Real("label_smoothing") != 0) return n.Refuse("with smoothed labels");
  if (n.has(2)) return n.Refuse("with weights of classes");
  if (n.wants(1)) return n.Refuse("whose gradient is wanted");
  if (IsFloating(n.dtype(1))) {
    const V logs = n.Node("LogSoftmax", {n.in(0)}, {{"axis", 1}});
    return Reduced(n, -n.Reduce("Sum", n.in(1) * logs, {1}, false));
  }
  const V labels = Labels(n);
  CapturedSizes sizes = n.sizes(0);
  sizes[1] = {1, 1};
  const V losses =
      n.Node("SoftmaxCrossEntropy", {n.in(0), n.Unsqueeze(labels, {1})}, {{"axis", 1}}, sizes);
  OfClasses(n, n.Squeeze(losses, {1}), labels);
}
// Labels of a row count up to the first one below 0. For each of them it is 1 - its score + that of
// every class that is no label.
FIRN_NNABLA_EXPORT(multilabel_margin_loss) {
  const V x = n.in(0), none = n.Binary("Less", n.in(1), 0);
  const int64_t classes = n.size(0, 1);
  const V ended = n.Node("CumSum", {none}, {{"axis", 1}, {"exclusive", false}, {"reverse", false}});
  const V listed = n.Unsqueeze(n.Binary("Equal", ended, 0), {2});
  NnablaNodes::Numbers counted;
  for (int64_t i = 0; i < classes; ++i) counted.push_back(i);
  const V all = n.Reshape(n.Ints(counted), NnablaNodes::Numbers{1, 1, classes});
  const V hot = n.Binary("LogicalAnd", n.Binary("Equal", n.Unsqueeze(n.in(1), {2}), all), listed);
  const V scores = n.Unsqueeze(x, {1});
  const V right =
      n.Reduce("Sum", n.Where(hot, n.Broadcast(scores, hot.sizes), n.Number(0)), {2}, true);
  const V hinge = scores - right + 1;
  const V others = n.Binary("Equal", n.Reduce("Max", hot, {1}, true), 0);
  const V counts = n.Node("LogicalNot", {n.Binary("LessEqual", hinge, 0)});  // NaN too
  const V meets = n.Binary("LogicalAnd", n.Binary("LogicalAnd", others, listed), counts);
  n.Out(0, n.Reduce("Sum", n.Where(meets, hinge, n.Number(0)), {1, 2}, false) /
               static_cast<double>(classes));
}
FIRN_NNABLA_NO_EXPORT(ctc_loss, "NNabla has no connectionist temporal classification");

}  // namespace
}  // namespace firn::io::internal
