// What the operations of tensor/ops/norm and attention are in ONNX.
#include <algorithm>
#include <cmath>

#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

V Ones(OnnxExportCall& n, DType dtype, int64_t size) {
  return n.Constant(FromVector(std::vector<double>(static_cast<size_t>(size), 1)).To(dtype));
}
V Mean(OnnxExportCall& n, const V& x, const List& dims) {
  return n.Reduce("ReduceMean", x, dims, true);
}
V InverseRoot(OnnxExportCall& n, const V& x) { return n.Node("Reciprocal", {n.Node("Sqrt", {x})}); }

// ONNX's operators have statistics of f32.
bool HasOperator(OnnxExportCall& n, int since) {
  return n.opset() >= since && n.dtype(0) != DType::kF64;
}

// Of a matrix.
FIRN_ONNX_EXPORT(layer_norm) {
  const V x = n.in(0);
  if (HasOperator(n, 17)) {
    const V scale = n.has(1) ? n.in(1, x.dtype) : Ones(n, x.dtype, n.size(0, 1));
    const DType wide = n.out_dtype(1);
    const auto y = n.NodeOf("LayerNormalization", {x, scale, n.in(2, x.dtype)},
                            {x.dtype, wide, wide}, {{"axis", 1}, {"epsilon", n.Real("eps")}});
    n.Out(0, y[0]);
    for (size_t i = 1; i < 3; ++i) n.Out(i, n.ReshapeTo(y[i], n.out_sizes(i)));
    return;
  }
  const V mean = Mean(n, x, {1}), centred = x - mean;
  const V inverse = InverseRoot(n, Mean(n, centred * centred, {1}) + n.Real("eps"));
  V y = centred * inverse;
  if (n.has(1)) y = y * n.in(1, x.dtype);
  n.Out(0, n.has(2) ? y + n.in(2, x.dtype) : y);
  n.Out(1, n.ReshapeTo(mean, n.out_sizes(1)));
  n.Out(2, n.ReshapeTo(inverse, n.out_sizes(2)));
}
FIRN_ONNX_EXPORT(rms_norm) {
  const V x = n.in(0);
  if (HasOperator(n, 23) && !n.wants(1)) {
    const V scale = n.has(1) ? n.in(1, x.dtype) : Ones(n, x.dtype, n.size(0, 1));
    return n.Out(0,
                 n.Node("RMSNormalization", {x, scale}, {{"axis", 1}, {"epsilon", n.Real("eps")}}));
  }
  const V inverse = InverseRoot(n, Mean(n, x * x, {1}) + n.Real("eps"));
  n.Out(0, n.has(1) ? x * inverse * n.in(1, x.dtype) : x * inverse);
  n.Out(1, n.ReshapeTo(inverse, n.out_sizes(1)));
}
// dx = (dy w - mean(dy w) - x^ mean(dy w x^)) / std, of rows.
void RowsGrad(OnnxExportCall& n, bool centred) {
  const V dy = n.in(0), x = n.in(1);
  const size_t at = centred ? 4 : 3;
  const V inverse = n.Unsqueeze(n.in(at, x.dtype), {1});
  const V unit = (centred ? x - n.Unsqueeze(n.in(3, x.dtype), {1}) : x) * inverse;
  const V flow = n.has(2) ? dy * n.in(2, x.dtype) : dy;
  V dx = flow - unit * Mean(n, flow * unit, {1});
  if (centred) dx = dx - Mean(n, flow, {1});
  n.Out(0, dx * inverse);
  n.Out(1, n.Reduce("ReduceSum", dy * unit, {0}, false));
  if (centred) n.Out(2, n.Reduce("ReduceSum", dy, {0}, false));
}
FIRN_ONNX_EXPORT(layer_norm_grad) { RowsGrad(n, true); }
FIRN_ONNX_EXPORT(rms_norm_grad) { RowsGrad(n, false); }

V PerChannel(OnnxExportCall& n, const V& each, int rank) {
  List sizes(static_cast<size_t>(std::max(rank - 1, 1)), 1);
  sizes[0] = -1;
  return n.Reshape(each, sizes);
}
FIRN_ONNX_EXPORT(affine_group_norm) {
  const V x = n.in(0);
  if (HasOperator(n, 21) && !n.wants(1) && !n.wants(2)) {
    const int64_t channels = n.size(0, 1);
    const V scale = n.has(1) ? n.in(1, x.dtype) : Ones(n, x.dtype, channels);
    const V none =
        n.Constant(FromVector(std::vector<double>(static_cast<size_t>(channels), 0)).To(x.dtype));
    return n.Out(0, n.Node("GroupNormalization", {x, scale, n.has(2) ? n.in(2, x.dtype) : none},
                           {{"num_groups", n.Int("num_groups")}, {"epsilon", n.Real("eps")}}));
  }
  OnnxSizes groups = n.sizes(0);
  const int64_t count = n.Int("num_groups");
  for (int64_t* size : {&groups[2].now, &groups[2].other}) *size *= n.size(0, 1) / count;
  groups[1] = {count, count};
  const V g = n.ReshapeTo(x, groups), mean = Mean(n, g, {2}), centred = g - mean;
  const V inverse = InverseRoot(n, Mean(n, centred * centred, {2}) + n.Real("eps"));
  V y = n.ReshapeTo(centred * inverse, n.sizes(0));
  if (n.has(1)) y = y * PerChannel(n, n.in(1, x.dtype), n.rank(0));
  n.Out(0, n.has(2) ? y + PerChannel(n, n.in(2, x.dtype), n.rank(0)) : y);
  n.Out(1, n.ReshapeTo(mean, n.out_sizes(1)));
  n.Out(2, n.ReshapeTo(inverse, n.out_sizes(2)));
}

V Activated(OnnxExportCall& n, const V& y) {
  const std::string& activation = n.Word("activation");
  if (activation == "none") return y;
  return n.Node(activation == "relu" ? "Relu" : "Tanh", {y});
}
// Statistics of the batch; running ones move by momentum, with the unbiased variance.
void BatchNormTrain(OnnxExportCall& n) {
  List dims;
  for (int d = 0; d < n.rank(0); ++d) {
    if (d != 1) dims.push_back(d);
  }
  const V x = n.in(0), mean = Mean(n, x, dims), centred = x - mean;
  const V variance = Mean(n, centred * centred, dims);
  const V inverse = InverseRoot(n, variance + n.Real("eps"));
  V y = centred * inverse;
  if (n.has(1)) y = y * PerChannel(n, n.in(1, x.dtype), n.rank(0));
  if (n.has(2)) y = y + PerChannel(n, n.in(2, x.dtype), n.rank(0));
  n.Out(0, Activated(n, y));
  const V flat_mean = n.Reshape(mean, {-1});
  n.Out(1, flat_mean);
  n.Out(2, n.Reshape(inverse, {-1}));
  const double momentum = n.Real("momentum");
  if (n.has(3)) n.Write(3, n.in(3) * (1 - momentum) + n.Cast(flat_mean, n.dtype(3)) * momentum);
  if (!n.has(4)) return;
  double count = 1;
  for (const int64_t dim : dims) count *= static_cast<double>(n.size(0, dim));
  const V unbiased = n.Reshape(variance, {-1}) * (momentum * count / (count - 1));
  n.Write(4, n.in(4) * (1 - momentum) + n.Cast(unbiased, n.dtype(4)));
}
FIRN_ONNX_EXPORT(batch_norm_train) { BatchNormTrain(n); }
FIRN_ONNX_EXPORT(batch_norm_act_train) { BatchNormTrain(n); }
FIRN_ONNX_EXPORT(batch_norm_grad) {
  List dims;
  for (int d = 0; d < n.rank(1); ++d) {
    if (d != 1) dims.push_back(d);
  }
  const V x = n.in(1);
  V dy = n.in(0);
  const std::string& activation = n.Word("activation");
  if (activation == "relu") {
    dy = n.Where(n.Compare("Greater", n.in(2), 0), dy, n.Number(0, dy.dtype));
  } else if (activation == "tanh") {
    dy = dy * (1 - n.in(2) * n.in(2));
  }
  const V inverse = PerChannel(n, n.in(5, x.dtype), n.rank(1));
  const V unit = (x - PerChannel(n, n.in(4, x.dtype), n.rank(1))) * inverse;
  V dx = (dy - Mean(n, dy, dims) - unit * Mean(n, dy * unit, dims)) * inverse;
  if (n.has(3)) dx = dx * PerChannel(n, n.in(3, x.dtype), n.rank(1));
  n.Out(0, dx);
  n.Out(1, n.Reduce("ReduceSum", dy * unit, dims, false));
  n.Out(2, n.Reduce("ReduceSum", dy, dims, false));
}

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
// [batch, heads, length, width] each; the result [batch, length, heads, width].
FIRN_ONNX_EXPORT(scaled_dot_product_attention) {
  if (n.Real("dropout") != 0) return n.Refuse("with dropout");
  if (n.wants(1)) return n.Refuse("whose gradient is wanted");
  V q = n.in(0), k = n.in(1), v = n.in(2);
  const List turn = {0, 2, 1, 3};
  // A query that the mask hides all keys from gets 0 here, and NaN from the operator.
  const bool some = n.spec(1).shape.num_elements() > 0;  // runtimes refuse none
  if (n.opset() >= 23 && !n.has(3) && some) {
    const V y = n.Node("Attention", {q, k, v},
                       {{"scale", n.Real("scale")}, {"is_causal", n.Flag("causal")}});
    return n.Out(0, n.Transpose(y, turn));
  }
  const int64_t heads = n.size(0, 1), groups = n.size(1, 1);
  const bool grouped = heads != groups;
  OnnxSizes scored = n.sizes(0);
  scored[3] = n.sizes(1)[2];
  q = q * n.Real("scale");
  if (grouped) {
    q = Grouped(n, q, n.sizes(0), groups);
    k = n.Unsqueeze(k, {2});
    v = n.Unsqueeze(v, {2});
  }
  V scores =
      n.Node("MatMul", {q, n.Transpose(k, grouped ? List{0, 1, 2, 4, 3} : List{0, 1, 3, 2})});
  if (grouped) scores = n.ReshapeTo(scores, scored);
  scores = Masked(n, scores);
  V weights;
  if (n.has(3)) {
    const V hidden = n.Compare("Equal", scores, -INFINITY);
    const V least = n.Number(scores.dtype == DType::kF16 ? -60000 : -1e30, scores.dtype);
    weights = n.Node("Softmax", {n.Where(hidden, least, scores)}, {{"axis", -1}});
    weights = n.Where(hidden, n.Number(0, scores.dtype), weights);
  } else {
    weights = n.Node("Softmax", {scores}, {{"axis", -1}});
  }
  if (grouped) weights = Grouped(n, weights, scored, groups);
  V y = n.Node("MatMul", {weights, v});
  if (grouped) {
    const OnnxSizes out = n.out_sizes(0);
    y = n.ReshapeTo(y, {out[0], out[2], out[1], out[3]});
  }
  n.Out(0, n.Transpose(y, turn));
}

}  // namespace
}  // namespace firn::io::internal
