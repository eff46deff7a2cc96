#ifndef FIRN_TENSOR_OPS_RECURRENT_RECURRENT_H_
#define FIRN_TENSOR_OPS_RECURRENT_RECURRENT_H_

// What recurrent layers of every kind take.

#include <cstdint>
#include <vector>

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

namespace inner {
// Of the operations of one layer in one direction. Their inputs begin with x, h0, w_ih, w_hh, b_ih
// and b_hh, their results with y and h_n.
struct RecurrentLayerAttrs {
  bool reverse = false;  // begins at the last step
  // How many sequences have each step, never more than have the one before it, and as many as h0
  // has the first: x is [all rows, in] then. Empty: all of them have every step, and x is
  // [steps, batch, in].
  std::vector<int64_t> batch_sizes;
  template <class V>
  void Visit(V& v) {
    v.Field("reverse", reverse);
    v.Field("batch_sizes", batch_sizes);
  }
};
struct RecurrentIn {
  enum : int { kX, kH0, kWih, kWhh, kBih, kBhh, kC0, kWhr };
};
struct RecurrentOut {
  enum : int { kY, kHn };
};
// Of the operations of a layer's gradients, whose inputs and results begin with these.
struct RecurrentGradAttrs {
  RecurrentLayerAttrs layer = {};
  bool wants_dx = true;  // otherwise dx has no rows
  template <class V>
  void Visit(V& v) {
    layer.Visit(v);
    v.Field("wants_dx", wants_dx);
  }
};
struct RecurrentGradIn {
  enum : int { kX, kH0, kWih, kWhh, kY, kDy, kDhn, kRest };
};
struct RecurrentGradOut {
  enum : int { kDx, kDh0, kDwih, kDwhh, kDb, kRest };
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_RECURRENT_H_
