#ifndef FIRN_TENSOR_OPS_RECURRENT_GRU_H_
#define FIRN_TENSOR_OPS_RECURRENT_GRU_H_

#include <vector>

#include "firn/tensor/ops/recurrent/recurrent.h"
#include "firn/tensor/ops/recurrent/sequence.h"

namespace firn {

// Layers of gated recurrent units (Cho et al., 2014; PyTorch's gru, where r multiplies the product
// with w_hn). In each step, with gates r, z, n side by side in w_ih and w_hh,
//   r, z = sigmoid(w_ih x + b_ih + w_hh h + b_hh)
//   n = tanh(w_in x + b_in + r (w_hn h + b_hn))      h = (1 - z) n + z h
// x: [steps, batch, in], or [batch, steps, in] with batch_first; for one sequence [steps, in]
// h0: [layers * directions, batch, hidden], without batch for one sequence; undefined for zeros
// weights: for every layer and, within it, each direction; none has a w_hr
// y: [steps, batch, directions * hidden] in x's order; h_n: h after the last step, like h0
// Otherwise like Lstm.
RecurrentResult Gru(const Tensor& x, const Tensor& h0, const std::vector<RecurrentWeights>& weights,
                    const RecurrentOptions& options = {});
// The same of packed sequences.
PackedRecurrentResult Gru(const PackedSequence& x, const Tensor& h0,
                          const std::vector<RecurrentWeights>& weights,
                          const RecurrentOptions& options = {});

// One step (PyTorch's gru_cell): h after it.
// x: [batch, in]      h: [batch, hidden], undefined for zeros; both may lack the batch
// w_ih: [3 hidden, in]   w_hh: [3 hidden, hidden]   b_ih, b_hh: [3 hidden], or undefined for none
Tensor GruCell(const Tensor& x, const Tensor& h, const Tensor& w_ih, const Tensor& w_hh,
               const Tensor& b_ih = {}, const Tensor& b_hh = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_GRU_H_
