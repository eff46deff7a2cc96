#ifndef FIRN_TENSOR_OPS_RECURRENT_LSTM_H_
#define FIRN_TENSOR_OPS_RECURRENT_LSTM_H_

#include <vector>

#include "firn/tensor/ops/recurrent/recurrent.h"
#include "firn/tensor/ops/recurrent/sequence.h"

namespace firn {

// Hidden and cell state.
struct LstmState {
  Tensor h = {}, c = {};
};
struct LstmResult {
  Tensor y;
  LstmState state;
};
struct PackedLstmResult {
  PackedSequence y;
  LstmState state;
};

// Layers of long short-term memory (Hochreiter and Schmidhuber, 1997, with forget gates: Gers et
// al., 2000; PyTorch's lstm). In each step, with gates i, f, g, o side by side in w_ih and w_hh,
//   i, f, o = sigmoid(w_ih x + b_ih + w_hh h + b_hh)      g = tanh(the same)
//   c = f c + i g      h = o tanh(c), or w_hr times that with a projection (Sak et al., 2014)
// x: [steps, batch, in], or [batch, steps, in] with batch_first; of one sequence [steps, in]
// initial: h [layers * directions, batch, state], c [layers * directions, batch, hidden], both
//   without batch for one sequence; undefined for zeros. `state` is hidden, or the projection's.
// weights: for every layer and, within it, each direction
// y: [steps, batch, directions * state] in x's order; state: that after the last step, like initial
// All of one floating dtype; half types are computed in f32. A layer is one operation with a
// gradient of its own on the CPU, and on CUDA devices with cuDNN; gradients that are recorded, and
// other devices, compute step by step with other operations. Throws on empty sequences and on sizes
// that do not fit.
LstmResult Lstm(const Tensor& x, const LstmState& initial,
                const std::vector<RecurrentWeights>& weights, const RecurrentOptions& options = {});
// The same for packed sequences: sequences that have ended take no further steps, and the state is
// that after the last step of each. batch_first is ignored. While a graph is captured the sequences
// must be sorted.
PackedLstmResult Lstm(const PackedSequence& x, const LstmState& initial,
                      const std::vector<RecurrentWeights>& weights,
                      const RecurrentOptions& options = {});

// One step (PyTorch's lstm_cell): the state after it.
// x: [batch, in]      h, c: [batch, hidden], undefined for zeros; all may lack the batch
// w_ih: [4 hidden, in]   w_hh: [4 hidden, hidden]   b_ih, b_hh: [4 hidden], or undefined for none
LstmState LstmCell(const Tensor& x, const LstmState& state, const Tensor& w_ih, const Tensor& w_hh,
                   const Tensor& b_ih = {}, const Tensor& b_hh = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_LSTM_H_
