#ifndef FIRN_NN_MULTI_HEAD_ATTENTION_H_
#define FIRN_NN_MULTI_HEAD_ATTENTION_H_

#include <cstdint>

#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/tensor/ops/attention/multi_head_attention.h"

namespace firn::nn {

struct MultiHeadAttentionOptions {
  int64_t embed = 0;
  int64_t heads = 1;   // must divide embed
  double dropout = 0;  // of weights, in training
  bool bias = true;
  bool add_bias_kv = false;    // one more key and value, which are learned
  bool add_zero_attn = false;  // one more key and value of zeros
  int64_t kdim = 0, vdim = 0;  // sizes of keys and values before they are projected; 0: embed
  bool batch_first = false;
  template <class V>
  void Visit(V& v) {
    v.Always("embed", embed);
    v.Always("heads", heads);
    v.Field("dropout", dropout);
    v.Field("bias", bias);
    v.Field("add_bias_kv", add_bias_kv);
    v.Field("add_zero_attn", add_zero_attn);
    v.Field("kdim", kdim);
    v.Field("vdim", vdim);
    v.Field("batch_first", batch_first);
  }
};

// Which keys a call sees; see firn::MultiHeadAttention.
struct AttentionMasks {
  Tensor key_padding_mask = {};  // [n, source]: true is hidden, or numbers to add
  Tensor attn_mask = {};         // [length, source] or [n heads, length, source]: the same
  bool is_causal = false;
};

using AttentionBase = LayerOf<Tensor, Tensor, Tensor>;

// Multi-head attention; see tensor/ops/attention/multi_head_attention.h.
// q: [length, n, embed]      k, v: [source, n, kdim or vdim]      output: [length, n, embed]
// with batch_first [n, length, embed]; without a batch there is no n.
//
//   Tensor y = attention(x, x, x);
//   auto [output, weights] = attention.Attend(x, x, x, {.is_causal = true});
//
// Parameters: in_proj_weight [3 embed, embed], or q_proj_weight, k_proj_weight and v_proj_weight
// where kdim or vdim is another; in_proj_bias [3 embed]; bias_k, bias_v [1, 1, embed]; and those of
// out_proj, a Linear.
class MultiHeadAttention final : public LayerWithOptions<MultiHeadAttentionOptions, AttentionBase> {
 public:
  // Throws when a size is not positive and when heads does not divide embed.
  explicit MultiHeadAttention(const Options& options);

  using AttentionBase::operator();
  // The output alone, without the memory that weights take.
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMasks& masks);
  // With the weights, averaged over the heads or each head's.
  MultiHeadAttentionResult Attend(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const AttentionMasks& masks = {},
                                  inner::Flag average_weights = true);

 protected:
  Tensor Forward(const Tensor& q, const Tensor& k, const Tensor& v) override;

 private:
  Tensor& AddWeight(const char* name, int64_t rows, int64_t columns, bool wanted);
  Tensor& AddKey(const char* name);
  MultiHeadAttentionResult Compute(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const AttentionMasks& masks, bool need_weights, bool average);

  const bool joint_;  // one weight for all projections
  Tensor &in_proj_weight_, &q_proj_weight_, &k_proj_weight_, &v_proj_weight_;
  Tensor &in_proj_bias_, &bias_k_, &bias_v_;
  Linear& out_proj_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_MULTI_HEAD_ATTENTION_H_
