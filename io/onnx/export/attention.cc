// ONNX's forms of the operations in tensor/ops/attention.
#include <cmath>
#include <utility>

#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

// Scores with -infinity where the mask says that a query does not see a key.
V Masked(OnnxExportCall& n, V scores) {
  const V none = n.Number(-INFINITY, scores.dtype);
  if (n.has(3)) {
    const bool bools = n.dtype(3) == DType::kBool;
    scores = bools ? n.Where(n.in(3), scores, none) : scores + n.in(3);
  }
  if (!n.Flag("causal")) return scores;
  const int64_t length = n.size(0, 2), source = n.size(1, 2);
  std::vector<bool> seen(static_cast<size_t>(length * source));
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < source; ++j) seen[static_cast<size_t>(i * source + j)] = j <= i;
  }
  return n.Where(n.Constant(FromVector(seen, Shape({length, source}))), scores, none);
}
// x [batch, heads, ...] with the heads as [those of k and v, those of q for each].
V Grouped(OnnxExportCall& n, const V& x, const OnnxSizes& sizes, int64_t groups) {
  OnnxSizes grouped = {sizes[0], {groups, groups}, sizes[1], sizes[2], sizes[3]};
  grouped[2].now /= groups;
  grouped[2].other /= groups;
  return n.ReshapeTo(x, grouped);
}
// The values from which both the operation and its gradient are made. If k has fewer heads than q,
// the heads of q are split into two dimensions: [batch, heads of k, group, length, ...].
struct Attention {
  V q, k, v, scores;
  bool grouped = false;
  int64_t groups = 0;
  OnnxSizes scored;

  V ByGroups(OnnxExportCall& n, const V& x, const OnnxSizes& sizes) const {
    return grouped ? Grouped(n, x, sizes, groups) : x;
  }
};
Attention ScoresOf(OnnxExportCall& n) {
  Attention a;
  a.groups = n.size(1, 1);
  a.grouped = n.size(0, 1) != a.groups;
  a.scored = n.sizes(0);
  a.scored[3] = n.sizes(1)[2];
  a.q = a.ByGroups(n, n.in(0), n.sizes(0));
  a.k = a.grouped ? n.Unsqueeze(n.in(1), {2}) : n.in(1);
  a.v = a.grouped ? n.Unsqueeze(n.in(2), {2}) : n.in(2);
  V scores = MatMul(a.q * n.Real("scale"), LastTwoTurned(a.k, a.grouped ? 5 : 4));
  if (a.grouped) scores = n.ReshapeTo(scores, a.scored);
  a.scores = Masked(n, scores);
  return a;
}
// Sets weights to 0 where the mask hides a key, so that a query which sees no key has no weights.
V SeenOnly(OnnxExportCall& n, const Attention& a, const V& weights) {
  return n.has(3) ? ZeroUnless(!Equal(a.scores, -INFINITY), weights) : weights;
}
V WeightsOf(OnnxExportCall& n, const Attention& a) {
  V scores = a.scores;
  if (n.has(3)) {
    const V least = n.Number(scores.dtype == DType::kF16 ? -60000 : -1e30, scores.dtype);
    scores = Where(Equal(scores, -INFINITY), least, scores);
  }
  return a.ByGroups(n, SeenOnly(n, a, n.Node("Softmax", {scores}, {{"axis", -1}})), a.scored);
}
// [batch, heads, length, width] each; the result [batch, length, heads, width].
FIRN_ONNX_EXPORT(scaled_dot_product_attention) {
  if (n.Real("dropout") != 0) return n.Refuse("with dropout");
  const List turn = {0, 2, 1, 3};
  // A query from which the mask hides all keys gets 0 here, but NaN from the operator.
  const bool some = n.spec(1).shape.num_elements() > 0;  // runtimes refuse 0 keys
  if (n.opset() >= 23 && !n.has(3) && some && !n.wants(1)) {
    const V y = n.Node("Attention", {n.in(0), n.in(1), n.in(2)},
                       {{"scale", n.Real("scale")}, {"is_causal", n.Flag("causal")}});
    return n.Out(0, n.Transpose(y, turn));
  }
  const Attention a = ScoresOf(n);
  if (n.wants(1)) {
    const V wide = n.Cast(a.scores, n.out_dtype(1));
    n.Out(1, n.Reduce("ReduceLogSumExp", wide, {-1}, false));
  }
  V y = MatMul(WeightsOf(n, a), a.v);
  if (a.grouped) {
    const OnnxSizes out = n.out_sizes(0);
    y = n.ReshapeTo(y, {out[0], out[2], out[1], out[3]});
  }
  n.Out(0, n.Transpose(y, turn));
}
// With weights W = exp(scores - their logsumexp) and dW = dy v^T: dS = W (dW - sum(dy y)),
// dq = scale dS k, dk = scale dS^T q and dv = W^T dy, all of the weights at once.
FIRN_ONNX_EXPORT(scaled_dot_product_attention_grad) {
  if (n.Real("dropout") != 0) return n.Refuse("with dropout");
  const Attention a = ScoresOf(n);
  const List turn = {0, 2, 1, 3};
  const int rank = a.grouped ? 5 : 4;
  OnnxSizes flowed = n.sizes(5);
  std::swap(flowed[1], flowed[2]);
  const V rows = n.Transpose(n.in(5), turn), dy = a.ByGroups(n, rows, flowed);
  const V dots = SumOver(rows * n.Transpose(n.in(6), turn), {-1});
  OnnxSizes each = flowed;
  each[3] = {1, 1};
  const V shifted = a.scores - n.Unsqueeze(n.in(7, a.scores.dtype), {-1});
  const V weights = a.ByGroups(n, SeenOnly(n, a, Exp(shifted)), a.scored);
  const V dweights = MatMul(dy, LastTwoTurned(a.v, rank));
  const V dscores = weights * (dweights - a.ByGroups(n, dots, each));
  const auto out = [&](size_t i, V d, bool of_keys) {
    if (a.grouped && of_keys) d = SumOver(d, {2}, false);
    if (a.grouped && !of_keys) d = n.ReshapeTo(d, n.sizes(0));
    n.Out(i, n.Transpose(d, turn));
  };
  out(0, MatMul(dscores, a.k) * n.Real("scale"), false);
  out(1, MatMul(LastTwoTurned(dscores, rank), a.q) * n.Real("scale"), true);
  out(2, MatMul(LastTwoTurned(weights, rank), dy), true);
}

}  // namespace
}  // namespace firn::io::internal
