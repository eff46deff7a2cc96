#ifndef FIRN_TENSOR_OPS_RECURRENT_RECURRENT_H_
#define FIRN_TENSOR_OPS_RECURRENT_RECURRENT_H_

// Weights and options of recurrent layers of every kind.

#include <cstdint>
#include <vector>

#include "firn/tensor/problems/recurrent_problem.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The weights of one layer in one direction, in the layout of PyTorch; `gates` is 1 for Rnn, 4 for
// Lstm and 3 for Gru.
struct RecurrentWeights {
  Tensor w_ih;       // [gates * hidden, in]
  Tensor w_hh;       // [gates * hidden, hidden]; with a projection [gates * hidden, projected]
  Tensor b_ih = {};  // [gates * hidden], or undefined for none
  Tensor b_hh = {};  // the same
  Tensor w_hr = {};  // [projected, hidden], of Lstm with a projection; undefined without
};

struct RecurrentOptions {
  // x and y are [batch, steps, ...] instead of [steps, batch, ...].
  bool batch_first = false;
  // Every layer has a second direction, which begins at the end of the sequences.
  bool bidirectional = false;
  // While `training`, the probability of dropping each element between layers.
  double dropout = 0;
  bool training = false;
  RandomGenerator* generator = nullptr;  // of dropout; null: the default one
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_RECURRENT_H_
