// ONNX's forms of the operations in tensor/ops/loss.
#include <algorithm>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

// Mean or sum of losses; "batchmean" divides by the first dimension.
void Reduced(OnnxExportCall& n, const V& losses) {
  const std::string& how = n.Word("reduction");
  if (how == "none") return n.Out(0, losses);
  if (n.rank(0) == 0) return n.Out(0, losses);
  const bool mean = how == "mean";
  const V all = n.Reduce(mean ? "ReduceMean" : "ReduceSum", losses, {}, false);
  n.Out(0, how == "batchmean" ? all / static_cast<double>(n.size(0, 0)) : all);
}

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
  const V log_p = Log(n.Where(some, p, n.Number(1, p.dtype)));
  Reduced(n, n.Where(some, p * log_p, none) - p * log_q);
}
FIRN_ONNX_EXPORT(binary_cross_entropy) {
  const V p = n.in(0), t = n.in(1), low = n.Number(-100, p.dtype);
  const V yes = n.Node("Max", {Log(p), low}), no = n.Node("Max", {Log(1 - p), low});
  Reduced(n, -(t * yes + (1 - t) * no));
}
FIRN_ONNX_EXPORT(binary_cross_entropy_with_logits) {
  const V x = n.in(0);
  Reduced(n, n.Node("Softplus", {x}) - x * n.in(1));
}

// The target classes, each for a line along dimension 1.
struct Targets {
  static constexpr int64_t kAxis = 1;
  int64_t classes = 0;
  V ignored, hot;  // of each line; 1 at its class
  V weight;        // of each line, 0 where it is ignored
  V of_classes;    // in a shape that broadcasts with lines; absent: 1 each
};
// `label` is the input with the classes, and the next input has the classes' weights. The lines'
// tensor has `rank` dimensions; a single line without a batch becomes [1, classes].
Targets TargetsOf(OnnxExportCall& n, size_t label, int rank, int64_t classes, DType dtype) {
  Targets t;
  t.classes = classes;
  V index = n.in(label, DType::kI64);
  if (rank == 1) index = n.Reshape(index, {1});
  t.ignored = Equal(index, static_cast<double>(n.Int("ignore_index")));
  index = Where(t.ignored, n.Integer(0), index);
  t.weight = AsNumber(!t.ignored, dtype);
  t.of_classes = n.Absent();
  if (n.has(label + 1)) {
    const V weights = n.in(label + 1, dtype);
    t.weight = ZeroUnless(!t.ignored, n.Node("Gather", {weights, index}, {{"axis", 0}}));
    t.of_classes = PerChannel(weights, std::max(rank, 2));
  }
  t.hot = n.Node("OneHot", {index, n.Ints({classes}), n.Cast(n.Ints({0, 1}), dtype)},
                 {{"axis", Targets::kAxis}}, dtype);
  return t;
}
// The gradient for each line: `dy`, divided by the mean's divisor.
V FlowOf(OnnxExportCall& n, const Targets& t, const V& dy) {
  if (n.Word("reduction") != "mean") return dy;
  return dy / n.Reduce("ReduceSum", t.weight, {}, false);
}
V OverClasses(OnnxExportCall& n, const V& each) { return n.Unsqueeze(each, {Targets::kAxis}); }
V WithBatch(OnnxExportCall& n, size_t i) {
  return n.rank(i) == 1 ? n.Unsqueeze(n.in(i), {0}) : n.in(i);
}
void OutAsIs(OnnxExportCall& n, const V& y) { n.Out(0, n.ReshapeTo(y, n.out_sizes(0))); }

FIRN_ONNX_EXPORT(nll_loss) {
  if (n.rank(0) < 2) {
    const Targets t = TargetsOf(n, 1, 1, n.size(0, 0), n.dtype(0));
    const V picked = ZeroUnless(Above(t.hot, 0), WithBatch(n, 0));
    const V loss = -SumOver(picked, {Targets::kAxis}, false) * t.weight;
    return OutAsIs(n, n.Word("reduction") == "mean" ? loss / t.weight : loss);
  }
  n.Out(0, n.Node("NegativeLogLikelihoodLoss", {n.in(0), n.in(1, DType::kI64), n.in(2)},
                  {{"ignore_index", n.Int("ignore_index")}, {"reduction", n.Word("reduction")}}));
}
FIRN_ONNX_EXPORT(nll_loss_grad) {
  const Targets t = TargetsOf(n, 1, n.out_rank(0), n.Int("classes"), n.dtype(0));
  const V flow = ZeroUnless(!t.ignored, FlowOf(n, t, n.in(0)) * t.weight);
  OutAsIs(n, -(t.hot * OverClasses(n, flow)));
}

// The target distribution q: (1 - e) w_t at the target, and e / C w_j at all classes. Gives q and
// its sum for each line.
struct Distribution {
  V q, sum;
};
Distribution DistributionOf(OnnxExportCall& n, const Targets& t) {
  const double e = n.Real("label_smoothing");
  const V weight = OverClasses(n, t.weight);
  Distribution d = {t.hot * weight, weight};
  if (e == 0) return d;
  const double share = e / static_cast<double>(t.classes);
  const bool weighted = !t.of_classes.name.empty();
  const V all = weighted ? t.of_classes * share : n.Number(share, d.q.dtype);
  d.q = d.q * (1 - e) + all;
  d.sum =
      d.sum * (1 - e) + (weighted ? n.Reduce("ReduceSum", all, {}, false) : n.Number(e, d.q.dtype));
  return d;
}
void SmoothCrossEntropy(OnnxExportCall& n) {
  const V x = WithBatch(n, 0);
  const Targets t = TargetsOf(n, 1, n.rank(0), n.size(0, n.rank(0) == 1 ? 0 : 1), x.dtype);
  const V log_p = n.Node("LogSoftmax", {x}, {{"axis", Targets::kAxis}});
  // Where q is 0 the loss is 0, even if log p is infinite.
  const V q = DistributionOf(n, t).q, terms = Where(Equal(q, 0), Zero(q), q * log_p);
  const V losses = ZeroUnless(!t.ignored, -SumOver(terms, {Targets::kAxis}, false));
  if (n.Word("reduction") == "none") return OutAsIs(n, losses);
  const V sum = n.Reduce("ReduceSum", losses, {}, false);
  n.Out(0, n.Word("reduction") == "sum" ? sum : sum / n.Reduce("ReduceSum", t.weight, {}, false));
}
FIRN_ONNX_EXPORT(cross_entropy) {
  const bool probabilities = IsFloating(n.dtype(1));
  if (n.wants(1)) {
    n.Out(1, n.Reduce("ReduceLogSumExp", n.in(0, n.out_dtype(1)), {n.rank(0) == 1 ? 0 : 1}, false));
  }
  if (probabilities) {
    if (n.has(2) || n.Real("label_smoothing") != 0) return n.Refuse("of weighted probabilities");
    const V log_p = n.Node("LogSoftmax", {n.in(0)}, {{"axis", 1}});
    return Reduced(n, -SumOver(n.in(1) * log_p, {1}, false));
  }
  if (n.rank(0) < 2 || n.Real("label_smoothing") != 0) return SmoothCrossEntropy(n);
  n.Out(0, n.Node("SoftmaxCrossEntropyLoss", {n.in(0), n.in(1, DType::kI64), n.in(2)},
                  {{"ignore_index", n.Int("ignore_index")}, {"reduction", n.Word("reduction")}}));
}
// (softmax sum(q) - q) times the gradient of the line.
FIRN_ONNX_EXPORT(cross_entropy_grad) {
  if (IsFloating(n.dtype(2))) return n.Refuse("of probabilities");
  const V x = WithBatch(n, 1);
  const Targets t = TargetsOf(n, 2, n.rank(1), n.size(1, n.rank(1) == 1 ? 0 : 1), x.dtype);
  const V log_sum = n.in(4, x.dtype);
  const V p = Exp(x - OverClasses(n, n.rank(4) == 0 ? n.Reshape(log_sum, {1}) : log_sum));
  const Distribution d = DistributionOf(n, t);
  const V flow = FlowOf(n, t, n.in(0)), dx = p * d.sum - d.q;
  const V each = n.rank(0) == 0 ? flow : OverClasses(n, flow);
  OutAsIs(n, ZeroUnless(!OverClasses(n, t.ignored), dx * each));
}
V Bounded(OnnxExportCall& n, const V& p) {  // p (1 - p), not 0
  return n.Node("Max", {p * (1 - p), n.Number(1e-12, p.dtype)});
}
FIRN_ONNX_EXPORT(binary_cross_entropy_grad) {
  n.Out(0, n.in(2) * (n.in(0) - n.in(1)) / Bounded(n, n.in(0)));
}
FIRN_ONNX_EXPORT(binary_cross_entropy_target_grad) {
  const V p = n.in(0);
  n.Out(0, n.in(1) * (Max(Log(1 - p), -100) - Max(Log(p), -100)));
}

// Each listed label j meets each class c without one, in a tensor [n, j, c]: 1 where the hinge
// 1 - x_j + x_c is above 0. Labels end at the first -1.
struct Violations {
  V hinge, counts, hot;
};
Violations ViolationsOf(OnnxExportCall& n) {
  const V x = n.in(0), label = n.in(1, DType::kI64), none = Below(label, 0);
  const V ended = n.Node("CumSum", {AsNumber(none, DType::kI64), n.Integer(1)});
  const V listed = n.Unsqueeze(AsNumber(Equal(ended, 0), x.dtype), {2});
  const V safe = Where(none, n.Integer(0), label);
  Violations v;
  v.hot = n.Node("OneHot", {safe, n.Ints({n.size(0, 1)}), n.Cast(n.Ints({0, 1}), x.dtype)},
                 {{"axis", -1}}, x.dtype) *
          listed;
  const V right = n.Unsqueeze(n.Node("GatherElements", {x, safe}, {{"axis", 1}}), {2});
  v.hinge = 1 - right + n.Unsqueeze(x, {1});
  const V meets = Equal(n.Reduce("ReduceMax", v.hot, {1}, true), 0) & Above(listed, 0);
  v.counts = AsNumber(meets & !n.Compare("LessOrEqual", v.hinge, 0), x.dtype);
  return v;
}
FIRN_ONNX_EXPORT(multilabel_margin_loss) {
  const Violations v = ViolationsOf(n);
  const V sum = SumOver(ZeroUnless(Above(v.counts, 0), v.hinge), {1, 2}, false);
  n.Out(0, sum / static_cast<double>(n.size(0, 1)));
}
FIRN_ONNX_EXPORT(multilabel_margin_slopes) {
  const Violations v = ViolationsOf(n);
  const V of_labels = SumOver(v.hot * SumOver(v.counts, {2}), {1}, false);
  n.Out(0, (SumOver(v.counts, {1}, false) - of_labels) / static_cast<double>(n.size(0, 1)));
}
FIRN_ONNX_NO_EXPORT(ctc_loss, "ONNX has no connectionist temporal classification");
FIRN_ONNX_NO_EXPORT(ctc_loss_grad, "ONNX has no connectionist temporal classification");

}  // namespace
}  // namespace firn::io::internal
