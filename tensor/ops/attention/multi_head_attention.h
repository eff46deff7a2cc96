#ifndef FIRN_TENSOR_OPS_ATTENTION_MULTI_HEAD_ATTENTION_H_
#define FIRN_TENSOR_OPS_ATTENTION_MULTI_HEAD_ATTENTION_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Under PyTorch's names, sizes and order.
struct MultiHeadAttentionParameters {
  Tensor in_proj_weight = {};  // [3 embed, embed]: of q, k and v; or the next three
  Tensor q_proj_weight = {}, k_proj_weight = {}, v_proj_weight = {};  // [embed, size of q, k or v]
  Tensor in_proj_bias = {};                                           // [3 embed], or undefined
  Tensor bias_k = {}, bias_v = {};  // [1, 1, embed]: an additional key and its value; or undefined
  Tensor out_proj_weight = {};      // [embed, embed]
  Tensor out_proj_bias = {};        // [embed], or undefined
};

struct MultiHeadAttentionOptions {
  bool batch_first = false;
  // True where a key is NOT seen, as in PyTorch and the opposite of ScaledDotProductAttention; or
  // numbers that are added to the scores.
  Tensor key_padding_mask = {};  // [n, source]; [source] without a batch
  Tensor attn_mask = {};         // [length, source] or [n heads, length, source]
  bool is_causal = false;        // query i sees keys up to i; the masks apply as well
  bool add_zero_attn = false;    // an additional key and value of zeros, which every query sees
  double dropout = 0;            // of weights, while training
  bool training = true;
  // Whether the weights are wanted too, which takes memory that grows with length times source.
  bool need_weights = true;
  bool average_weights = true;  // over the heads
  RandomGenerator* generator = nullptr;
};

struct MultiHeadAttentionResult {
  Tensor output;
  // The weights that were applied, after dropout: [n, length, source], or [n, heads, length,
  // source] where they are not averaged; undefined where they are not wanted.
  Tensor weights;
};

// Attention between projections of q, k and v, each in `num_heads` parts of its last dimension (A.
// Vaswani et al., "Attention is all you need", 2017), like
// torch.nn.functional.multi_head_attention_forward.
//   q: [length, n, embed]      k, v: [source, n, size]      output: [length, n, embed]
// with `batch_first` [n, length, embed] and so on; without a batch there is no n. Bias keys and
// zero keys come last, and no mask hides them. A query that sees no key gets 0 from the heads.
// Throws on sizes that do not fit.
MultiHeadAttentionResult MultiHeadAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                                            inner::Integer num_heads,
                                            const MultiHeadAttentionParameters& parameters,
                                            const MultiHeadAttentionOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_MULTI_HEAD_ATTENTION_H_
