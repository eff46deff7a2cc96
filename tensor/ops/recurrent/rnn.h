#ifndef FIRN_TENSOR_OPS_RECURRENT_RNN_H_
#define FIRN_TENSOR_OPS_RECURRENT_RNN_H_

#include <cstdint>
#include <vector>

#include "firn/tensor/ops/recurrent/recurrent.h"
#include "firn/tensor/ops/recurrent/sequence.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn {

// Layers of plain recurrent units (Elman, 1990; PyTorch's rnn_tanh and rnn_relu): at each step
//   h = nonlinearity(w_ih x + b_ih + w_hh h + b_hh)
// x: [steps, batch, in], or [batch, steps, in] with batch_first; for one sequence [steps, in]
// h0: [layers * directions, batch, hidden], without batch for one sequence; undefined for zeros
// weights: for every layer and, within it, each direction; none has a w_hr
// y: [steps, batch, directions * hidden] in x's order; h_n: h after the last step, like h0
// Otherwise like Lstm.
RecurrentResult Rnn(const Tensor& x, const Tensor& h0, const std::vector<RecurrentWeights>& weights,
                    const RecurrentOptions& options = {},
                    RnnNonlinearity nonlinearity = RnnNonlinearity::kTanh);
// The same of packed sequences.
PackedRecurrentResult Rnn(const PackedSequence& x, const Tensor& h0,
                          const std::vector<RecurrentWeights>& weights,
                          const RecurrentOptions& options = {},
                          RnnNonlinearity nonlinearity = RnnNonlinearity::kTanh);

struct RnnCellOptions {
  RnnNonlinearity nonlinearity = RnnNonlinearity::kTanh;
};

// One step (PyTorch's rnn_tanh_cell and rnn_relu_cell): h after it.
// x: [batch, in]      h: [batch, hidden], undefined for zeros; both may lack the batch
// w_ih: [hidden, in]   w_hh: [hidden, hidden]   b_ih, b_hh: [hidden], or undefined for none
Tensor RnnCell(const Tensor& x, const Tensor& h, const Tensor& w_ih, const Tensor& w_hh,
               const Tensor& b_ih = {}, const Tensor& b_hh = {},
               const RnnCellOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_RNN_H_
