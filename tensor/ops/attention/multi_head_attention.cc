// multi_head_attention: one product for all projections of the same tensor, heads as views,
// attention, and a product of the heads side by side. PyTorch's masks, which mark hidden keys,
// become one mask of scaled_dot_product_attention.

#include "firn/tensor/ops/attention/multi_head_attention.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/attention/attention_weights.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr char kName[] = "multi_head_attention";

template <class... Parts>
[[noreturn]] void Refuse(const Parts&... parts) {
  RaiseStatus(InvalidArgument(parts...), kName);
}

using Parameters = MultiHeadAttentionParameters;
using Options = MultiHeadAttentionOptions;

struct Extents {
  int batch_dim = 0, length_dim = 1;
  int64_t n = 0, length = 0, source = 0, heads = 0, width = 0;
};

Extents ExtentsOf(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                  const Options& o) {
  Extents s;
  s.batch_dim = o.batch_first ? 0 : 1;
  s.length_dim = 1 - s.batch_dim;
  const bool fit = k.rank() == 3 && v.rank() == 3 && k.size(s.batch_dim) == q.size(s.batch_dim) &&
                   k.size(0) == v.size(0) && k.size(1) == v.size(1);
  if (!fit) {
    Refuse("q ", q.shape().ToString(), ", k ", k.shape().ToString(), " and v ",
           v.shape().ToString(), " do not fit: want ",
           o.batch_first ? "[n, length, embed] and [n, source, size]"
                         : "[length, n, embed] and [source, n, size]");
  }
  const int64_t embed = q.size(2);
  if (heads < 1 || embed % heads != 0) {
    Refuse("num_heads ", heads, " must divide the ", embed, " features of q ",
           q.shape().ToString());
  }
  s.n = q.size(s.batch_dim);
  s.length = q.size(s.length_dim);
  s.source = k.size(s.length_dim);
  s.heads = heads;
  s.width = embed / heads;
  return s;
}

Tensor Rows(const Tensor& x, int64_t begin, int64_t end) {
  return x.defined() ? Slice(x, 0, begin, end) : x;
}

// q, k and v projected; if some are the same tensor, one product projects them.
std::array<Tensor, 3> Projected(const Tensor& q, const Tensor& k, const Tensor& v, int64_t embed,
                                const Parameters& p) {
  const Tensor& bias = p.in_proj_bias;
  if (bias.defined() && bias.shape() != Shape({3 * embed})) {
    Refuse("in_proj_bias ", bias.shape().ToString(), ", want [", 3 * embed, "]");
  }
  if (!p.in_proj_weight.defined()) {
    CheckDefined(p.q_proj_weight, kName, "q_proj_weight");
    CheckDefined(p.k_proj_weight, kName, "k_proj_weight");
    CheckDefined(p.v_proj_weight, kName, "v_proj_weight");
    return {Linear(q, p.q_proj_weight, Rows(bias, 0, embed)),
            Linear(k, p.k_proj_weight, Rows(bias, embed, 2 * embed)),
            Linear(v, p.v_proj_weight, Rows(bias, 2 * embed, 3 * embed))};
  }
  const Tensor& w = p.in_proj_weight;
  if (w.shape() != Shape({3 * embed, embed})) {
    Refuse("in_proj_weight ", w.shape().ToString(), ", want [", 3 * embed, ", ", embed, "]");
  }
  const auto some = [&](const Tensor& x, int64_t first, int64_t count) {
    const int64_t begin = first * embed, end = begin + count * embed;
    return Linear(x, Rows(w, begin, end), Rows(bias, begin, end));
  };
  if (k.impl() != v.impl()) return {some(q, 0, 1), some(k, 1, 1), some(v, 2, 1)};
  if (q.impl() == k.impl()) {
    const std::vector<Tensor> all = Split(Linear(q, w, bias), embed, -1);
    return {all[0], all[1], all[2]};
  }
  const std::vector<Tensor> both = Split(some(k, 1, 2), embed, -1);
  return {some(q, 0, 1), both[0], both[1]};
}

// Keys or values with the additional ones at the end.
Tensor WithMore(const Tensor& x, const Tensor& more, bool zeros, int dim) {
  std::vector<Tensor> all = {x};
  inner::Dims one = x.shape().dims();
  one[dim] = 1;
  const Shape shape(one.span());
  if (more.defined()) {
    if (more.shape() != Shape({1, 1, x.size(2)})) {
      Refuse("bias_k or bias_v ", more.shape().ToString(), ", want [1, 1, ", x.size(2), "]");
    }
    all.push_back(Expand(more, shape));
  }
  if (zeros) all.push_back(Zeros(shape, x.dtype(), x.device()));
  return all.size() == 1 ? x : Concat(all, dim);
}

// [n, heads, length, width], as a view.
Tensor ByHeads(const Tensor& x, const Extents& s) {
  const Tensor parts = Reshape(x, {x.size(0), x.size(1), s.heads, s.width});
  return s.batch_dim == 0 ? Permute(parts, {0, 2, 1, 3}) : Permute(parts, {1, 2, 0, 3});
}
Tensor Joined(const Tensor& y, const Extents& s) {
  const Tensor parts = s.batch_dim == 0 ? Permute(y, {0, 2, 1, 3}) : Permute(y, {2, 0, 1, 3});
  return Reshape(parts, {parts.size(0), parts.size(1), s.heads * s.width});
}

// Masks in the four dimensions of the weights, with keys at the end that are never hidden.
struct Masks {
  const Extents& s;
  int64_t more;  // such keys
  DType dtype;
  Device device;

  Tensor KeyPadding(const Tensor& mask) const {
    if (!mask.defined()) return mask;
    if (mask.shape() != Shape({s.n, s.source})) {
      Refuse("key_padding_mask ", mask.shape().ToString(), ", want [", s.n, ", ", s.source, "]");
    }
    return Reshape(mask, {s.n, 1, 1, s.source});
  }
  Tensor Attention(const Tensor& mask) const {
    if (!mask.defined() || mask.shape() == Shape({s.length, s.source})) return mask;
    if (mask.shape() != Shape({s.n * s.heads, s.length, s.source})) {
      Refuse("attn_mask ", mask.shape().ToString(), ", want [", s.length, ", ", s.source, "] or [",
             s.n * s.heads, ", ", s.length, ", ", s.source, "]");
    }
    return Reshape(mask, {s.n, s.heads, s.length, s.source});
  }
  // Adds `value` for the keys at the end.
  Tensor Longer(const Tensor& mask, inner::Element value) const {
    if (more == 0) return mask;
    inner::Dims end = mask.shape().dims();
    end[end.rank - 1] = more;
    return Concat({mask, Full(Shape(end.span()), value, mask.dtype(), device)}, -1);
  }
  Tensor Added(const Tensor& mask) const {
    if (mask.dtype() != DType::kBool) return Cast(mask, dtype);
    const Tensor zero = Zeros({}, dtype, device);
    return Where(mask, FullLike(zero, -std::numeric_limits<double>::infinity()), zero);
  }
  // The mask that attention takes: true where a key is seen, or numbers to add; undefined for no
  // mask.
  Tensor Both(const Tensor& one, const Tensor& other, bool causal) const {
    Tensor seen;
    if (causal && more > 0) {
      const auto count = [&](int64_t n) {
        return Arange(int64_t{0}, n, int64_t{1}, {.device = device});
      };
      seen = Longer(Ge(Unsqueeze(count(s.length), 1), count(s.source)), true);
    }
    if (!one.defined() && !other.defined()) return seen;
    const bool flags = (!one.defined() || one.dtype() == DType::kBool) &&
                       (!other.defined() || other.dtype() == DType::kBool);
    if (flags) {
      const Tensor hidden = !one.defined() ? other : !other.defined() ? one : LogicalOr(one, other);
      const Tensor given = Longer(LogicalNot(hidden), true);
      return seen.defined() ? LogicalAnd(given, seen) : given;
    }
    const Tensor added = !one.defined()     ? Added(other)
                         : !other.defined() ? Added(one)
                                            : Add(Added(one), Added(other));
    const Tensor longer = Longer(added, 0);
    return seen.defined() ? Add(longer, Added(LogicalNot(seen))) : longer;
  }
};

MultiHeadAttentionResult Batched(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                                 const Parameters& p, const Options& o) {
  const Extents s = ExtentsOf(q, k, v, heads, o);
  if (p.bias_k.defined() != p.bias_v.defined()) Refuse("bias_k and bias_v go together");
  const int64_t embed = q.size(2);  // checked before a dropout draws
  if (p.out_proj_weight.shape() != Shape({embed, embed}) ||
      (p.out_proj_bias.defined() && p.out_proj_bias.shape() != Shape({embed}))) {
    Refuse("out_proj_weight ", p.out_proj_weight.shape().ToString(), " or out_proj_bias, want [",
           embed, ", ", embed, "] and [", embed, "]");
  }
  const std::array<Tensor, 3> in = Projected(q, k, v, embed, p);
  const Tensor queries = ByHeads(in[0], s);
  const Tensor keys = ByHeads(WithMore(in[1], p.bias_k, o.add_zero_attn, s.length_dim), s);
  const Tensor values = ByHeads(WithMore(in[2], p.bias_v, o.add_zero_attn, s.length_dim), s);
  const Masks masks{s, keys.size(2) - s.source, queries.dtype(), q.device()};
  const Tensor mask =
      masks.Both(masks.KeyPadding(o.key_padding_mask), masks.Attention(o.attn_mask), o.is_causal);
  const bool causal = o.is_causal && masks.more == 0;
  MultiHeadAttentionResult result;
  Tensor y;
  if (o.need_weights) {
    const double scale = s.width == 0 ? 1 : 1 / std::sqrt(static_cast<double>(s.width));
    const Tensor scores = Matmul(Mul(queries, scale), keys, false, true);
    const Tensor weights =
        Dropout(WeightsOfScores(scores, mask, causal), o.dropout, o.training, o.generator);
    y = Matmul(weights, values);
    result.weights = o.average_weights ? Mean(weights, 1) : weights;
  } else {
    y = ScaledDotProductAttention(queries, keys, values,
                                  {.mask = mask,
                                   .dropout = o.training ? o.dropout : 0,
                                   .is_causal = causal,
                                   .generator = o.generator});
  }
  result.output = Linear(Joined(y, s), p.out_proj_weight, p.out_proj_bias);
  return result;
}

}  // namespace

MultiHeadAttentionResult MultiHeadAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                                            Integer num_heads, const Parameters& parameters,
                                            const Options& options) {
  CheckDefined(q, kName, "q");
  CheckDefined(k, kName, "k");
  CheckDefined(v, kName, "v");
  CheckDefined(parameters.out_proj_weight, kName, "out_proj_weight");
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    Refuse("dropout ", options.dropout, " is outside [0, 1]");
  }
  if (q.rank() == 3) return Batched(q, k, v, num_heads, parameters, options);
  if (q.rank() != 2 || k.rank() != 2 || v.rank() != 2) {
    Refuse("q, k and v must have 2 dimensions, or 3 with a batch, got ", q.shape().ToString(), ", ",
           k.shape().ToString(), " and ", v.shape().ToString());
  }
  // Equal tensors stay one tensor.
  const Tensor one_q = Unsqueeze(q, 0), one_k = k.impl() == q.impl() ? one_q : Unsqueeze(k, 0);
  const Tensor one_v = v.impl() == k.impl() ? one_k : Unsqueeze(v, 0);
  Options o = options;
  o.batch_first = true;
  if (o.key_padding_mask.defined()) o.key_padding_mask = Unsqueeze(o.key_padding_mask, 0);
  MultiHeadAttentionResult r = Batched(one_q, one_k, one_v, num_heads, parameters, o);
  r.output = Squeeze(r.output, 0);
  if (r.weights.defined()) r.weights = Squeeze(r.weights, 0);
  return r;
}

}  // namespace firn
