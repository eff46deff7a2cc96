// MultiHeadAttention: parameters of firn::MultiHeadAttention, started as PyTorch does: projections
// by Glorot's uniform numbers, biases 0, learned keys by Glorot's normal numbers, the output as any
// Linear with a bias of 0.

#include "firn/nn/multi_head_attention.h"

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::nn {
namespace {

constexpr char kLayer[] = "nn::MultiHeadAttention";

int64_t SizeOr(int64_t size, int64_t standard) { return size == 0 ? standard : size; }

// Before the members, which are made from them.
const MultiHeadAttentionOptions& Checked(const MultiHeadAttentionOptions& o) {
  CheckSizes(
      kLayer,
      {{"embed", o.embed}, {"heads", o.heads}, {"kdim", o.kdim, true}, {"vdim", o.vdim, true}});
  if (o.embed % o.heads != 0) {
    RaiseStatus(InvalidArgument("heads is ", o.heads, ", which does not divide embed ", o.embed),
                kLayer);
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    RaiseStatus(InvalidArgument("dropout ", o.dropout, " is outside [0, 1]"), kLayer);
  }
  return o;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Options& options)
    : LayerWithOptions(Checked(options)),
      joint_(SizeOr(options.kdim, options.embed) == options.embed &&
             SizeOr(options.vdim, options.embed) == options.embed),
      in_proj_weight_(AddWeight("in_proj_weight", 3 * options.embed, options.embed, joint_)),
      q_proj_weight_(AddWeight("q_proj_weight", options.embed, options.embed, !joint_)),
      k_proj_weight_(
          AddWeight("k_proj_weight", options.embed, SizeOr(options.kdim, options.embed), !joint_)),
      v_proj_weight_(
          AddWeight("v_proj_weight", options.embed, SizeOr(options.vdim, options.embed), !joint_)),
      in_proj_bias_(
          AddParameter("in_proj_bias", options.bias ? Zeros({3 * options.embed}) : Tensor())),
      bias_k_(AddKey("bias_k")),
      bias_v_(AddKey("bias_v")),
      out_proj_(Add<Linear>("out_proj", {.in = options.embed,
                                         .out = options.embed,
                                         .bias = options.bias,
                                         .bias_init = init::Constant(0)})) {}

Tensor& MultiHeadAttention::AddWeight(const char* name, int64_t rows, int64_t columns,
                                      bool wanted) {
  if (!wanted) return AddParameter(name, {});
  Tensor weight = Empty({rows, columns});
  init::XavierUniform()(weight);
  return AddParameter(name, weight);
}

Tensor& MultiHeadAttention::AddKey(const char* name) {
  if (!options().add_bias_kv) return AddParameter(name, {});
  Tensor key = Empty({1, 1, options().embed});
  init::XavierNormal()(key);
  return AddParameter(name, key);
}

MultiHeadAttentionResult MultiHeadAttention::Compute(const Tensor& q, const Tensor& k,
                                                     const Tensor& v, const AttentionMasks& masks,
                                                     bool need_weights, bool average) {
  const ComputedScope values = ValuesOf(out_proj_);
  return firn::MultiHeadAttention(
      q, k, v, options().heads,
      {in_proj_weight_, q_proj_weight_, k_proj_weight_, v_proj_weight_, in_proj_bias_, bias_k_,
       bias_v_, out_proj_.weight(), out_proj_.bias()},
      {.batch_first = options().batch_first,
       .key_padding_mask = masks.key_padding_mask,
       .attn_mask = masks.attn_mask,
       .is_causal = masks.is_causal,
       .add_zero_attn = options().add_zero_attn,
       .dropout = options().dropout,
       .training = training(),
       .need_weights = need_weights,
       .average_weights = average});
}

Tensor MultiHeadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionMasks& masks) {
  const auto compute = [&](const Tensor& queries, const Tensor& keys, const Tensor& values) {
    return Compute(queries, keys, values, masks, false, true).output;
  };
  return CallAs(compute, q, k, v);
}

MultiHeadAttentionResult MultiHeadAttention::Attend(const Tensor& q, const Tensor& k,
                                                    const Tensor& v, const AttentionMasks& masks,
                                                    inner::Flag average_weights) {
  MultiHeadAttentionResult result;
  const auto compute = [&](const Tensor& queries, const Tensor& keys, const Tensor& values) {
    result = Compute(queries, keys, values, masks, true, average_weights);
    return result.output;
  };
  result.output = CallAs(compute, q, k, v);
  return result;
}

Tensor MultiHeadAttention::Forward(const Tensor& q, const Tensor& k, const Tensor& v) {
  return Compute(q, k, v, {}, false, true).output;
}

}  // namespace firn::nn
