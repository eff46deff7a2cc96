#ifndef FIRN_TENSOR_KERNELS_CPU_ATTENTION_H_
#define FIRN_TENSOR_KERNELS_CPU_ATTENTION_H_

// softmax(scale q k^T + mask) v and its gradients, without ever holding the weights: T. Dao et al.,
// "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022. Half types
// are computed in float.

#include <cstddef>
#include <cstdint>

#include "firn/device/philox_state.h"
#include "firn/tensor/kernels/attention_problem.h"
#include "firn/tensor/kernels/cpu/rows.h"

namespace firn::cpu {

// What is added to the scores: numbers, or true where a key is seen.
template <class Acc>
struct AttentionMask {
  RowsIn<Acc> added;
  const bool* seen = nullptr;
  bool given() const { return added.given() || seen != nullptr; }
};

// What both directions read. Elements of tensors lie where AttentionProblem says; `words` is where
// in a random stream the choice of dropped weights begins.
template <class Acc>
struct AttentionInputs {
  RowsIn<Acc> q, k, v;
  AttentionMask<Acc> mask;
  PhiloxState words;
  bool bfloats = false;  // q, k and v are of bfloat16
};

// Work that slots do side by side, each with scratch memory of its own: as many as there are
// threads, or fewer if there is too little work. Both members must not change until the work is
// done.
struct AttentionSlots {
  int64_t count = 1;
  size_t bytes = 0;  // of each slot, a multiple of 64
  size_t workspace() const { return static_cast<size_t>(count) * bytes; }
};
template <class Acc>
AttentionSlots SlotsOfAttention(const AttentionProblem& p);
template <class Acc>
AttentionSlots SlotsOfAttentionGrad(const AttentionProblem& p);

// y: [batch, queries, heads, value_width]; logsumexp: [batch, heads, queries], of the scores. Where
// a query sees no key, y is 0 and logsumexp is -inf.
template <class Acc>
void Attention(const AttentionProblem& p, const AttentionInputs<Acc>& in,
               const AttentionSlots& slots, void* workspace, const RowsOut<Acc>& y, Acc* logsumexp);

// The further inputs of the gradients, each with its strides.
template <class Acc>
struct AttentionResults {
  RowsIn<Acc> dy, y;
  const Acc* logsumexp;
  AttentionStrides dy_at, y_at, logsumexp_at;
};
// In the layout of y, by rows.
template <class Acc>
struct AttentionGradients {
  RowsOut<Acc> q, k, v;
};
template <class Acc>
void AttentionGrad(const AttentionProblem& p, const AttentionInputs<Acc>& in,
                   const AttentionResults<Acc>& results, const AttentionSlots& slots,
                   void* workspace, const AttentionGradients<Acc>& gradients);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ATTENTION_H_
