#ifndef FIRN_TESTS_DEVICE_FAKE_CUDNN_RNN_H_
#define FIRN_TESTS_DEVICE_FAKE_CUDNN_RNN_H_

// What the parts of the stand-in for cuDNN's recurrent layers share. Needs CUDA.

#include <cstdint>

#include "firn/tensor/kernels/cuda/rnn_api.h"

namespace firn::fake {

// A layer, as its descriptors say it. Lengths are never freed: work that is queued reads them.
struct RnnLayer {
  cudnnRNNMode_t mode;
  cudnnRNNBiasMode_t bias;
  cudnnDataType_t type;
  int64_t in, hidden, state;
  int64_t steps, batch, rows;
  const int* lengths;

  int64_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  bool projected() const { return state != hidden; }
  int64_t count() const { return 2 * gates() + (projected() ? 1 : 0); }
  // Elements of weight `id`, and its place in the weight space, in elements: matrices one behind
  // the other but for a gap behind the first recurrent one, and then biases.
  int64_t Size(int64_t id) const {
    return id == 2 * gates() ? state * hidden : hidden * (id < gates() ? in : state);
  }
  int64_t Place(int64_t id) const {
    int64_t at = 0;
    for (int64_t i = 0; i < id; ++i) at += Size(i) + (i == gates() ? kGap : 0);
    return at;
  }
  int64_t BiasPlace(int64_t id) const { return Place(count()) + id * hidden; }
  int64_t weights() const {
    return BiasPlace(0) + (bias == CUDNN_RNN_NO_BIAS ? 0 : 2 * gates() * hidden);
  }
  // The size of the reserve space, in f64 numbers.
  int64_t reserve() const { return 1 + rows * (6 * hidden + 2 * gates() * hidden + 2 * state); }

  static constexpr int64_t kGap = 8;
};

// The arguments of one call of any of the functions.
struct RnnWork {
  RnnLayer layer;
  const void *x, *hx, *cx, *weights;
  void *y, *hy, *cy;
  const void *dy, *dhy, *dcy;
  void *dx, *dhx, *dcx, *dweights;
  void *work, *reserve;
  int64_t work_bytes;
  bool training;
};

void RunRnnForward(const RnnWork& w);
void RunRnnBackwardData(const RnnWork& w);
void RunRnnBackwardWeights(const RnnWork& w);

}  // namespace firn::fake

#endif  // FIRN_TESTS_DEVICE_FAKE_CUDNN_RNN_H_
