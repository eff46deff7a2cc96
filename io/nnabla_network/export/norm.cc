// NNabla's forms of the operations in tensor/ops/norm and attention.
#include <cmath>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

V InverseRoot(NnablaExportCall& n, const V& x) { return n.Binary("Pow2", x, -0.5); }
V Mean(NnablaExportCall& n, const V& x, const Numbers& dims) {
  return n.Reduce("Mean", x, dims, true);
}

// Bias and weight, as far as they exist, and whether either is missing.
struct Affines {
  NnablaNodes::Inputs inputs;
  bool no_bias, no_scale;
};
Affines AffinesOf(NnablaExportCall& n, const V& x, size_t weight, size_t bias,
                  const Numbers& sizes) {
  Affines a{{x}, !n.has(bias), !n.has(weight)};
  if (!a.no_bias) a.inputs.push_back(n.Reshape(n.in(bias), sizes));
  if (!a.no_scale) a.inputs.push_back(n.Reshape(n.in(weight), sizes));
  return a;
}

// For a matrix.
FIRN_NNABLA_EXPORT(layer_norm) {
  const V x = n.in(0);
  const Affines a = AffinesOf(n, x, 1, 2, {1, n.size(0, 1)});
  n.Out(0, n.Node("LayerNormalization", a.inputs,
                  {{"batch_axis", Numbers{0}},
                   {"eps", n.Real("eps")},
                   {"no_scale", a.no_scale},
                   {"no_bias", a.no_bias}}));
  const V mean = Mean(n, x, {1}), centred = x - mean;  // dropped if nothing reads them
  n.Out(1, mean);
  n.Out(2, InverseRoot(n, Mean(n, centred * centred, {1}) + n.Real("eps")));
}
FIRN_NNABLA_EXPORT(rms_norm) {
  const V x = n.in(0), inverse = InverseRoot(n, Mean(n, x * x, {1}) + n.Real("eps"));
  n.Out(0, n.has(1) ? x * inverse * n.in(1) : x * inverse);
  n.Out(1, inverse);
}
FIRN_NNABLA_EXPORT(affine_group_norm) {
  if (n.wants(1) || n.wants(2)) return n.Refuse("whose statistics are wanted");
  Numbers sizes(static_cast<size_t>(n.rank(0)), 1);
  sizes[1] = n.size(0, 1);
  const Affines a = AffinesOf(n, n.in(0), 1, 2, sizes);
  n.Out(0, n.Node("GroupNormalization", a.inputs,
                  {{"num_groups", n.Int("num_groups")},
                   {"channel_axis", 1},
                   {"batch_axis", Numbers{0}},
                   {"eps", n.Real("eps")},
                   {"no_scale", a.no_scale},
                   {"no_bias", a.no_bias}}));
}

V Activated(NnablaExportCall& n, const V& y) {
  const std::string& activation = n.Word("activation");
  if (activation == "none") return y;
  return n.Node(activation == "relu" ? "ReLU" : "Tanh", {y});
}
// Statistics of the batch; running ones move by momentum, with the unbiased variance.
void BatchNormTrain(NnablaExportCall& n) {
  Numbers dims = NnablaNodes::OrderOf(n.rank(0)), sizes(dims.size(), 1);
  std::erase(dims, 1);
  sizes[1] = n.size(0, 1);
  double count = 1;
  for (const int64_t dim : dims) count *= static_cast<double>(n.size(0, dim));
  const V x = n.in(0), mean = Mean(n, x, dims), centred = x - mean;
  const V variance = Mean(n, centred * centred, dims);
  const V inverse = InverseRoot(n, variance + n.Real("eps"));
  V y = centred * inverse;
  if (n.has(1)) y = y * n.Reshape(n.in(1), sizes);
  if (n.has(2)) y = y + n.Reshape(n.in(2), sizes);
  n.Out(0, Activated(n, y));
  const V flat = n.Reshape(mean, Numbers{sizes[1]});
  n.Out(1, flat);
  n.Out(2, inverse);
  const double momentum = n.Real("momentum");
  if (n.has(3)) n.Write(3, n.in(3) * (1 - momentum) + flat * momentum);
  if (!n.has(4)) return;
  const V unbiased = n.Reshape(variance, Numbers{sizes[1]}) * (momentum * count / (count - 1));
  n.Write(4, n.in(4) * (1 - momentum) + unbiased);
}
FIRN_NNABLA_EXPORT(batch_norm_train) { BatchNormTrain(n); }
FIRN_NNABLA_EXPORT(batch_norm_act_train) { BatchNormTrain(n); }

// Rows of length 1: y = x scale / max(sqrt(sum x^2 + eps), least).
FIRN_NNABLA_EXPORT(unit_rows) {
  const V x = n.in(0);
  V length = n.Binary("Pow2", n.Reduce("Sum", x * x, {1}, true) + n.Real("eps"), 0.5);
  if (n.Real("least") != 0) length = n.Binary("Maximum2", length, n.Real("least"));
  const V inverse = n.Binary("Div2", n.Number(1), length), y = x * inverse;
  n.Out(0, n.has(1) ? y * n.Unsqueeze(n.in(1), {1}) : y);
  n.Out(1, inverse);
}

constexpr double kLeast = -1e30;  // which softmax turns into weight 0
// Scores with kLeast where a query does not see a key.
V Masked(NnablaExportCall& n, V scores) {
  if (n.has(3)) {
    const bool bools = n.dtype(3) == DType::kBool;
    scores = bools ? n.Where(n.in(3), scores, n.Number(kLeast))
                   : n.Binary("Maximum2", scores + n.in(3), kLeast);
  }
  if (!n.Flag("causal")) return scores;
  const int64_t length = n.size(0, 2), source = n.size(1, 2);
  std::vector<bool> seen(static_cast<size_t>(length * source));
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < source; ++j) seen[static_cast<size_t>(i * source + j)] = j <= i;
  }
  const V mask = n.Constant(FromVector(seen, Shape({length, source})));
  return scores * mask + (mask - 1) * -kLeast;
}
// [batch, heads, length, width] each; the result [batch, length, heads, width].
FIRN_NNABLA_EXPORT(scaled_dot_product_attention) {
  if (n.Real("dropout") != 0) return n.Refuse("with dropout");
  if (n.wants(1)) return n.Refuse("whose gradient is wanted");
  const int64_t heads = n.size(0, 1), groups = n.size(1, 1);
  V q = n.in(0) * n.Real("scale"), k = n.Swapped(n.in(1)), v = n.in(2);
  const bool grouped = heads != groups;
  // q as [those of k and v, those of q for each].
  const auto split = [&](const V& x) {
    CapturedSizes sizes = x.sizes;
    sizes[1] = {groups, groups};
    sizes.insert(sizes.begin() + 2, {heads / groups, heads / groups});
    return n.Reshape(x, sizes);
  };
  if (grouped) {
    q = split(q);
    k = n.Unsqueeze(k, {2});
    v = n.Unsqueeze(v, {2});
  }
  CapturedSizes sizes = n.sizes(0);
  sizes[3] = n.sizes(1)[2];
  const V scores = Masked(n, n.Reshape(n.Matmul(q, k), sizes));
  V weights = n.Node("Softmax", {scores}, {{"axis", 3}});
  // A query that sees no key gets 0.
  if (n.has(3)) weights = weights * n.Binary("Greater", scores, kLeast / 2);
  if (grouped) weights = split(weights);
  V y = n.Matmul(weights, v);
  const CapturedSizes out = n.out_sizes(0);
  n.Out(0, n.Transpose(n.Reshape(y, {out[0], out[2], out[1], out[3]}), {0, 2, 1, 3}));
}

}  // namespace
}  // namespace firn::io::internal
