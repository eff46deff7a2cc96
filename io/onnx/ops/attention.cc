// Attention and what goes with it. Firn's own attention, which keeps no weights, computes what it
// can; scores that are bounded, asked for or seen by a window are computed.
#include <cmath>
#include <limits>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [batch, length, heads * width] -> [batch, heads, length, width]
Tensor Heads(const Tensor& x, int64_t heads) {
  if (x.rank() == 4) return x;
  return Transpose(Reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
Tensor Joined(const Tensor& x) {
  return Reshape(Transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

// Each head as many times as heads of a query share it.
Tensor Shared(const Tensor& x, int64_t times) {
  if (times == 1) return x;
  const Tensor all = Expand(Unsqueeze(x, 2), {x.size(0), x.size(1), times, x.size(2), x.size(3)});
  return Reshape(all, {x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

struct Attention {
  int64_t q_heads = 0, kv_heads = 0;  // of inputs of 3 dimensions
  double scale = 0;                   // 0: by the width
  double softcap = 0;                 // 0: none
  bool causal = false;
  int64_t mode = 0;               // of the scores that are an output
  int64_t left = -1, right = -1;  // how far a query sees; -1: all
  bool scores = false;            // are an output
};

// Inputs: Q, K, V, mask, past key, past value, lengths of the keys.
struct Queries {
  Tensor q, k, v, mask, lengths;
  int64_t past = 0;
};

// Keys that queries may see, as a mask of bool: [length, keys], or [batch, 1, length, keys] where
// lengths differ. Undefined: all.
Tensor Visible(const Attention& a, const Queries& in) {
  const Device device = in.q.device();
  const ArangeOptions integers = {.dtype = DType::kI64, .device = device};
  const int64_t rows = in.q.size(2);
  const Tensor keys = Arange(int64_t{0}, in.k.size(2), int64_t{1}, integers);
  Tensor places = Reshape(Arange(int64_t{0}, rows, int64_t{1}, integers), {rows, 1});
  Tensor lengths, visible;
  if (in.lengths.defined()) {
    lengths = Reshape(in.lengths.To(DType::kI64), {in.lengths.num_elements(), 1, 1, 1});
    places = places + (lengths - rows);
    visible = Lt(keys, lengths);
  } else {
    places = places + in.past;
  }
  const auto both = [&](const Tensor& more) {
    visible = visible.defined() ? LogicalAnd(visible, more) : more;
  };
  if (a.causal) both(Le(keys, places));
  if (a.left >= 0) both(Le(places - keys, a.left));
  if (a.right >= 0) both(Le(keys - places, a.right));
  return visible;
}

// A mask of fewer keys hides the others.
Tensor FullMask(const Tensor& mask, int64_t keys) {
  const int64_t more = keys - mask.size(-1);
  if (more <= 0) return mask;
  if (mask.dtype() == DType::kBool) return Pad(mask, {0, more});
  return Pad(mask, {0, more}, {.value = -kInfinity});
}

// The scores' part that masks make: f32, -inf where nothing is seen.
Tensor Bias(const Tensor& mask, const Tensor& visible, DType dtype) {
  const auto added = [&](const Tensor& seen) {
    return Where(seen, Zeros(Shape(), dtype, seen.device()),
                 Full(Shape(), -kInfinity, dtype, seen.device()));
  };
  Tensor bias;
  if (mask.defined()) bias = mask.dtype() == DType::kBool ? added(mask) : mask.To(dtype);
  if (!visible.defined()) return bias;
  return bias.defined() ? bias + added(visible) : added(visible);
}

// Y, and the scores as `mode` says.
TensorList ByScores(const Attention& a, const Queries& in, double scale) {
  const DType dtype = in.q.dtype(), wide = dtype == DType::kF64 ? dtype : DType::kF32;
  const int64_t times = in.q.size(1) / in.k.size(1);
  const Tensor k = Shared(in.k, times).To(wide), v = Shared(in.v, times).To(wide);
  Tensor scores = Matmul(in.q.To(wide) * std::sqrt(scale), Transpose(k, -2, -1) * std::sqrt(scale));
  Tensor out = scores;
  if (a.softcap > 0) scores = Tanh(scores / a.softcap) * a.softcap;
  if (a.mode == 1 || a.softcap > 0) out = scores;
  const Tensor mask = in.mask.defined() ? FullMask(in.mask, in.k.size(2)) : in.mask;
  const Tensor bias = Bias(mask, Visible(a, in), wide);
  if (bias.defined()) scores = scores + bias;
  if (a.mode == 2) out = scores;
  Tensor weights = Softmax(scores, -1);
  if (bias.defined()) {
    const Tensor blind = Eq(Amax(bias, {-1}, true), -kInfinity);
    weights = Where(blind, Zeros(Shape(), wide, blind.device()), weights);
  }
  if (a.mode == 3) out = weights;
  return {Matmul(weights, v).To(dtype), out.To(dtype)};
}

TensorList Attend(const Attention& a, const Queries& in) {
  const double scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(in.q.size(3)));
  const bool plain =
      !a.scores && a.softcap == 0 && a.left < 0 && a.right < 0 && !in.lengths.defined() &&
      (!a.causal || in.past == 0) && (!in.mask.defined() || in.mask.size(-1) == in.k.size(2)) &&
      (!in.mask.defined() || in.mask.dtype() == DType::kBool || in.mask.dtype() == in.q.dtype());
  if (!plain) return ByScores(a, in, scale);
  return {ScaledDotProductAttention(in.q, in.k, in.v,
                                    {.mask = in.mask,
                                     .is_causal = a.causal,
                                     .scale = scale,
                                     .enable_gqa = in.q.size(1) != in.k.size(1)})};
}

const OnnxOps kAttention("Attention", 23, [](OnnxCall& call) -> Step {
  Attention a = {.q_heads = call.Int("q_num_heads", 0),
                 .kv_heads = call.Int("kv_num_heads", 0),
                 .scale = call.Float("scale", 0),
                 .softcap = call.Float("softcap", 0),
                 .causal = call.Flag("is_causal", false),
                 .mode = call.Int("qk_matmul_output_mode", 0),
                 .left = call.Int("left_window_size", -1),
                 .right = call.Int("right_window_size", -1),
                 .scores = call.node.Wants(3)};
  const bool joined = call.node.Rank(0) == 3;
  if (joined && (a.q_heads < 1 || a.kv_heads < 1)) {
    RefuseNode("q_num_heads and kv_num_heads are expected for inputs of 3 dimensions");
  }
  return [=](In in) {
    Queries q = {Heads(in[0], a.q_heads), Heads(in[1], a.kv_heads), Heads(in[2], a.kv_heads),
                 At(in, 3), At(in, 6)};
    if (At(in, 4).defined()) {
      q.past = in[4].size(2);
      q.k = Concat({in[4], q.k}, 2);
      q.v = Concat({in[5], q.v}, 2);
    }
    TensorList all = Attend(a, q);
    const Tensor scores = all.size() > 1 ? all[1] : Tensor();
    const Tensor y = joined ? Joined(all[0]) : all[0];
    return TensorList{y, q.k, q.v, scores};
  };
});

// --- RotaryEmbedding: X, cos, sin, positions ----------------------------------------------------

struct Rotary {
  int64_t heads = 0, dims = 0;
  bool interleaved = false;
};

Tensor Rotate(const Rotary& r, In in) {
  const bool joined = in[0].rank() == 3;
  const Tensor x = joined ? Heads(in[0], r.heads) : in[0];  // [batch, heads, length, width]
  const int64_t width = x.size(3), dims = r.dims > 0 ? r.dims : width;
  const auto angle = [&](const Tensor& cache) {  // [batch, 1, length, dims / 2]
    const Tensor all = At(in, 3).defined() ? IndexSelect(cache, 0, in[3]) : cache;
    return Unsqueeze(Narrow(all, -1, 0, dims / 2), 1);
  };
  const Tensor c = angle(in[1]), s = angle(in[2]), turned = Narrow(x, 3, 0, dims);
  Tensor y;
  if (r.interleaved) {
    const Tensor a = Slice(turned, 3, 0, kEnd, 2), b = Slice(turned, 3, 1, kEnd, 2);
    y = Reshape(Stack({c * a - s * b, s * a + c * b}, -1), turned.shape());
  } else {
    const std::vector<Tensor> half = Chunk(turned, 2, 3);
    y = Concat({c * half[0] - s * half[1], s * half[0] + c * half[1]}, 3);
  }
  if (dims < width) y = Concat({y, Narrow(x, 3, dims, width - dims)}, 3);
  return joined ? Joined(y) : y;
}

const OnnxOps kRotary("RotaryEmbedding", 23, [](OnnxCall& call) -> Step {
  const Rotary r = {.heads = call.Int("num_heads", 0),
                    .dims = call.Int("rotary_embedding_dim", 0),
                    .interleaved = call.Flag("interleaved", false)};
  if (call.node.Rank(0) == 3 && r.heads < 1) {
    RefuseNode("num_heads is expected for an input of 3 dimensions");
  }
  return One([=](In in) { return Rotate(r, in); });
});

// --- Recurrent attention: query, key, value, state, decay, beta ---------------------------------

struct LinearRule {
  int64_t q_heads = 0, kv_heads = 0;
  double scale = 0;
  bool gated = false, delta = false;
};

// A gate of [batch, length, heads * n], or [batch, length, n] of all heads, as
// [batch, heads, length, n].
Tensor Gate(const Tensor& g, int64_t heads) {
  const int64_t some = g.size(2) % heads == 0 ? heads : 1;
  return Heads(g.To(DType::kF32), some);
}

TensorList Recur(const LinearRule& r, In in) {
  const Tensor q = Heads(in[0], r.q_heads).To(DType::kF32);
  const Tensor k = Heads(in[1], r.kv_heads).To(DType::kF32);
  const Tensor v = Heads(in[2], r.kv_heads).To(DType::kF32);
  const int64_t times = r.q_heads / r.kv_heads;
  const double scale = r.scale != 0 ? r.scale : 1 / std::sqrt(static_cast<double>(q.size(3)));
  const DType kept = At(in, 3).defined() ? in[3].dtype() : in[0].dtype();
  Tensor state = At(in, 3).defined() ? in[3].To(DType::kF32)
                                     : Zeros({q.size(0), r.kv_heads, k.size(3), v.size(3)},
                                             DType::kF32, q.device());
  const Tensor decay = r.gated ? Exp(Gate(in[4], r.kv_heads)) : Tensor();
  const Tensor beta = r.delta ? Gate(in[5], r.kv_heads) : Tensor();
  std::vector<Tensor> y;
  for (int64_t t = 0; t < q.size(2); ++t) {
    const Tensor k_t = Unsqueeze(Select(k, 2, t), 3);  // [batch, heads, width, 1]
    Tensor v_t = Unsqueeze(Select(v, 2, t), 2);        // [batch, heads, 1, value width]
    if (r.gated) state = state * Unsqueeze(Select(decay, 2, t), 3);
    if (r.delta) {
      v_t = (v_t - Matmul(Transpose(k_t, -2, -1), state)) * Unsqueeze(Select(beta, 2, t), 2);
    }
    state = state + k_t * v_t;
    y.push_back(Matmul(Unsqueeze(Select(q, 2, t), 2), Shared(state, times)) * scale);
  }
  return {Joined(Concat(y, 2)).To(in[0].dtype()), state.To(kept)};
}

const OnnxOps kLinearAttention("LinearAttention", 27, [](OnnxCall& call) -> Step {
  const std::string rule =
      call.OneOf("update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
  const LinearRule r = {.q_heads = call.Int("q_num_heads"),
                        .kv_heads = call.Int("kv_num_heads"),
                        .scale = call.Float("scale", 0),
                        .gated = rule.starts_with("gated"),
                        .delta = rule.ends_with("delta")};
  if (r.kv_heads < 1 || r.q_heads < 1 || r.q_heads % r.kv_heads != 0) {
    RefuseNode("q_num_heads is expected to be a multiple of kv_num_heads");
  }
  if (r.gated) call.node.Spec(4);
  if (r.delta) call.node.Spec(5);
  return [=](In in) { return Recur(r, in); };
});

// A convolution of each channel with what came before it: input, weight, bias, state.
const OnnxOps kCausalConv("CausalConvWithState", 27, [](OnnxCall& call) -> Step {
  const std::string activation = call.OneOf("activation", "none", {"none", "silu", "swish"});
  if (call.node.Rank(0) != 3 || call.node.Rank(1) != 3) {
    RefuseNode("input and weight are expected to have 3 dimensions");
  }
  return [=](In in) {
    const int64_t kept = in[1].size(2) - 1, channels = in[0].size(1);
    Tensor x;
    if (At(in, 3).defined()) {
      x = Concat({in[3], in[0]}, 2);
    } else {
      x = Pad(in[0], {kept, 0});
    }
    const Tensor y = Conv1d(x, in[1], At(in, 2), {.groups = channels});
    return TensorList{activation == "none" ? y : Silu(y), Narrow(x, 2, x.size(2) - kept, kept)};
  };
});

}  // namespace
}  // namespace firn::io::internal
