#ifndef FIRN_TENSOR_OPS_ATTENTION_ATTENTION_H_
#define FIRN_TENSOR_OPS_ATTENTION_ATTENTION_H_

#include <optional>

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct AttentionAttrs {
  double scale = 1, dropout = 0;
  bool causal = false;
  template <class V>
  void Visit(V& v) {
    v.Field("scale", scale);
    v.Field("dropout", dropout);
    v.Field("causal", causal);
  }
};
}  // namespace inner

struct AttentionOptions {
  // Broadcasts to [..., heads, length, source]. bool: true where a query sees a key (in
  // MultiHeadAttention it is the other way round, as in PyTorch). Otherwise it has the dtype of q
  // and is added to the scores.
  Tensor mask = {};
  // The probability with which a weight is dropped; the others grow by 1 / (1 - dropout). It
  // applies in evaluation mode, too.
  double dropout = 0;
  // Query i sees keys up to i, counted from the first of each; a mask applies as well.
  bool is_causal = false;
  std::optional<double> scale = {};  // without: 1 / sqrt(width of q)
  // k and v may have fewer heads than q; each then serves the same number of consecutive heads of
  // q.
  bool enable_gqa = false;
  RandomGenerator* generator = nullptr;  // for the dropout; null: the device's default
};

// Attention, softmax(scale q k^T + mask) v, like torch.nn.functional.scaled_dot_product_attention.
//   q: [..., heads, length, width]      k: [..., heads, source, width]
//   v: [..., heads, source, value width]      result: [..., heads, length, value width]
// All of one floating dtype; the dimensions before the last two broadcast, and those before the
// heads, or both, may be missing. Half types are computed in float; on CUDA an infinite value may
// give NaN in them. An infinite or NaN value of a key that a query does not see may give NaN,
// 0 times infinity, as in PyTorch, or nothing: that depends on how the tiles lie.
//
// The weights are never in memory: queries go along the keys by tiles, and the gradient computes
// them again (T. Dao et al., "FlashAttention", 2022), so memory grows with the length and not with
// its square. The gradient of a mask that is added, and gradients of gradients, are computed with
// the weights. A query that sees no key gets 0 and gives no gradient, as in PyTorch from 2.5 on.
// A dropout drops the weights that Dropout of [batch, heads, length, source] would drop.
//
// The result has the memory layout of [..., length, heads, value width], so that joining the heads
// costs nothing.
//
// Both devices compute by tiles. On CUDA there is a block of threads for each tile of queries (in
// the gradient also of keys), and half types use tensor cores except for gradients of f16. On the
// CPU threads share batches, heads and queries (in the gradient batches and heads of k). On CUDA
// cuDNN (from 9.16 on) takes half types with 16 queries or more and widths that are multiples of 8
// up to 128, without a mask tensor and without a dropout. It compiles a kernel for each of the
// first 32 sizes, which takes seconds. Its gradients of f16 are not finite where one of a score,
// times the scale, is beyond 65504. FIRN_CUDNN_ATTENTION=0 (device/environment.h) switches it off.
//
// Throws on sizes that do not fit and a dropout outside [0, 1].
Tensor ScaledDotProductAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& options = {});

namespace inner {
// Inputs of scaled_dot_product_attention, by position. `position`: i64 [2], the place in a random
// stream of the words that decide which weights are dropped; only with a dropout.
struct AttentionIn {
  enum : int { kQ, kK, kV, kMask, kPosition };
};
// Inputs of its gradient, which has those first.
struct AttentionGradIn {
  enum : int { kDy = 5, kY, kLogsumexp };
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ATTENTION_ATTENTION_H_
