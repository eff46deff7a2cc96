// ONNX's forms of the operations in tensor/ops/norm.
#include <algorithm>
#include <cmath>

#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

V Ones(OnnxExportCall& n, DType dtype, int64_t size) {
  return n.Constant(FromVector(std::vector<double>(static_cast<size_t>(size), 1)).To(dtype));
}

// ONNX's operators have statistics of f32.
bool HasOperator(OnnxExportCall& n, int since) {
  return n.opset() >= since && n.dtype(0) != DType::kF64;
}

// For a matrix.
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
  const V mean = MeanOver(x, {1}), centred = x - mean;
  const V inverse = InverseSqrt(MeanOver(centred * centred, {1}) + n.Real("eps"));
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
  const V inverse = InverseSqrt(MeanOver(x * x, {1}) + n.Real("eps"));
  n.Out(0, n.has(1) ? x * inverse * n.in(1, x.dtype) : x * inverse);
  n.Out(1, n.ReshapeTo(inverse, n.out_sizes(1)));
}
// dx = (flow - mean(flow) - x^ mean(flow x^)) / std, where flow is dy w.
V NormGrad(const V& flow, const V& unit, const V& inverse, const List& dims, bool centred) {
  const V dx = flow - unit * MeanOver(flow * unit, dims);
  return (centred ? dx - MeanOver(flow, dims) : dx) * inverse;
}
void RowsGrad(OnnxExportCall& n, bool centred) {
  const V dy = n.in(0), x = n.in(1);
  const size_t at = centred ? 4 : 3;
  const V inverse = n.Unsqueeze(n.in(at, x.dtype), {1});
  const V unit = (centred ? x - n.Unsqueeze(n.in(3, x.dtype), {1}) : x) * inverse;
  n.Out(0, NormGrad(n.has(2) ? dy * n.in(2, x.dtype) : dy, unit, inverse, {1}, centred));
  n.Out(1, SumOver(dy * unit, {0}, false));
  if (centred) n.Out(2, SumOver(dy, {0}, false));
}
FIRN_ONNX_EXPORT(layer_norm_grad) { RowsGrad(n, true); }
FIRN_ONNX_EXPORT(rms_norm_grad) { RowsGrad(n, false); }

// [n, c, length] as [n, groups, all elements of a group].
OnnxSizes GroupsOf(OnnxExportCall& n, size_t i) {
  OnnxSizes groups = n.sizes(i);
  const int64_t count = n.Int("num_groups");
  for (int64_t* size : {&groups[2].now, &groups[2].other}) *size *= n.size(i, 1) / count;
  groups[1] = {count, count};
  return groups;
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
  const V g = n.ReshapeTo(x, GroupsOf(n, 0)), mean = MeanOver(g, {2}), centred = g - mean;
  const V inverse = InverseSqrt(MeanOver(centred * centred, {2}) + n.Real("eps"));
  V y = n.ReshapeTo(centred * inverse, n.sizes(0));
  if (n.has(1)) y = y * PerChannel(n.in(1, x.dtype), n.rank(0));
  n.Out(0, n.has(2) ? y + PerChannel(n.in(2, x.dtype), n.rank(0)) : y);
  n.Out(1, n.ReshapeTo(mean, n.out_sizes(1)));
  n.Out(2, n.ReshapeTo(inverse, n.out_sizes(2)));
}
FIRN_ONNX_EXPORT(affine_group_norm_grad) {
  const V dy = n.in(0), x = n.in(1);
  const OnnxSizes groups = GroupsOf(n, 1), each = {groups[0], groups[1], {1, 1}};
  const V mean = n.ReshapeTo(n.in(3, x.dtype), each), inverse = n.ReshapeTo(n.in(4, x.dtype), each);
  const V unit = (n.ReshapeTo(x, groups) - mean) * inverse;
  const V flow = n.has(2) ? dy * PerChannel(n.in(2, x.dtype), 3) : dy;
  const V dx = NormGrad(n.ReshapeTo(flow, groups), unit, inverse, {2}, true);
  n.Out(0, n.ReshapeTo(dx, n.sizes(1)));
  n.Out(1, SumOver(dy * n.ReshapeTo(unit, n.sizes(1)), {0, 2}, false));
  n.Out(2, SumOver(dy, {0, 2}, false));
}

V Activated(OnnxExportCall& n, const V& y) {
  const std::string& activation = n.Word("activation");
  if (activation == "none") return y;
  return n.Node(activation == "relu" ? "Relu" : "Tanh", {y});
}
// Statistics of the batch; running ones move by momentum, with the unbiased variance.
void BatchNormTrain(OnnxExportCall& n) {
  const List dims = CountedBut(n.rank(0), 1);
  const V x = n.in(0), mean = MeanOver(x, dims), centred = x - mean;
  const V variance = MeanOver(centred * centred, dims);
  const V inverse = InverseSqrt(variance + n.Real("eps"));
  V y = centred * inverse;
  if (n.has(1)) y = y * PerChannel(n.in(1, x.dtype), n.rank(0));
  if (n.has(2)) y = y + PerChannel(n.in(2, x.dtype), n.rank(0));
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
  const List dims = CountedBut(n.rank(1), 1);
  const V x = n.in(1);
  V dy = n.in(0);
  const std::string& activation = n.Word("activation");
  if (activation == "relu") {
    dy = n.Where(n.Compare("Greater", n.in(2), 0), dy, n.Number(0, dy.dtype));
  } else if (activation == "tanh") {
    dy = dy * (1 - n.in(2) * n.in(2));
  }
  const V inverse = PerChannel(n.in(5, x.dtype), n.rank(1));
  const V unit = (x - PerChannel(n.in(4, x.dtype), n.rank(1))) * inverse;
  V dx = NormGrad(dy, unit, inverse, dims, true);
  if (n.has(3)) dx = dx * PerChannel(n.in(3, x.dtype), n.rank(1));
  n.Out(0, dx);
  n.Out(1, SumOver(dy * unit, dims, false));
  n.Out(2, SumOver(dy, dims, false));
}

// Rows over their lengths: y = x s / max(sqrt(sum x^2 + eps), least). In f64, which holds all
// squares of f32.
FIRN_ONNX_EXPORT(unit_rows) {
  const V x = n.in(0, DType::kF64);
  const double least = n.Real("least");
  V inverse = InverseSqrt(SumOver(x * x, {1}) + n.Real("eps"));
  if (least > 0) inverse = Min(inverse, 1 / least);
  const V factor = n.has(1) ? inverse * n.Unsqueeze(n.in(1, DType::kF64), {1}) : inverse;
  n.Out(0, x * factor);
  n.Out(1, n.ReshapeTo(inverse, n.out_sizes(1)));
}
// With x^ = x / length: dx = s / length (dy - x^ (dy . x^)), ds = dy . x^; a length that was
// replaced by `least` has no gradient.
FIRN_ONNX_EXPORT(unit_rows_grad) {
  const V dy = n.in(0, DType::kF64), inverse = n.Unsqueeze(n.in(3, DType::kF64), {1});
  const V unit = n.in(1, DType::kF64) * inverse, dot = SumOver(dy * unit, {1});
  const double least = n.Real("least");
  const V moved = least > 0 ? ZeroUnless(Below(inverse, 1 / least), dot) : dot;
  const V factor = n.has(2) ? inverse * n.Unsqueeze(n.in(2, DType::kF64), {1}) : inverse;
  n.Out(0, (dy - unit * moved) * factor);
  n.Out(1, n.ReshapeTo(dot, n.out_sizes(1)));
}

}  // namespace
}  // namespace firn::io::internal
