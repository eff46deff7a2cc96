#ifndef FIRN_NN_RECURRENT_H_
#define FIRN_NN_RECURRENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/stateful_layer.h"
#include "firn/tensor/ops/recurrent/gru.h"
#include "firn/tensor/ops/recurrent/lstm.h"
#include "firn/tensor/ops/recurrent/rnn.h"

namespace firn::nn {

struct LstmOptions {
  int64_t in = kDeferred;
  int64_t hidden = 0;
  int64_t layers = 1;
  bool bias = true;
  bool batch_first = false;  // x and y are [batch, steps, ...]
  double dropout = 0;        // in training, between layers
  bool bidirectional = false;
  int64_t proj_size = 0;               // of h; 0: as many as hidden, without a projection
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(hidden), biases too
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "hidden", hidden);
    v.Field("layers", layers);
    v.Field("bias", bias);
    v.Field("batch_first", batch_first);
    v.Field("dropout", dropout);
    v.Field("bidirectional", bidirectional);
    v.Field("proj_size", proj_size);
  }
};

struct GruOptions {
  int64_t in = kDeferred;
  int64_t hidden = 0;
  int64_t layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  init::Initializer weight_init = {};
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "hidden", hidden);
    v.Field("layers", layers);
    v.Field("bias", bias);
    v.Field("batch_first", batch_first);
    v.Field("dropout", dropout);
    v.Field("bidirectional", bidirectional);
  }
};

struct RnnOptions {
  int64_t in = kDeferred;
  int64_t hidden = 0;
  int64_t layers = 1;
  RnnNonlinearity nonlinearity = RnnNonlinearity::kTanh;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  init::Initializer weight_init = {};
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "hidden", hidden);
    v.Field("layers", layers);
    v.Field("nonlinearity", nonlinearity);
    v.Field("bias", bias);
    v.Field("batch_first", batch_first);
    v.Field("dropout", dropout);
    v.Field("bidirectional", bidirectional);
  }
};

// The parameters of recurrent layers, under PyTorch's names: of each layer and then direction
// weight_ih_l0 [gates * hidden, in], weight_hh_l0 [gates * hidden, state], bias_ih_l0, bias_hh_l0
// [gates * hidden] and, with a projection, weight_hr_l0 [proj_size, hidden]; of the second
// direction with _reverse behind the name. A deferred `in` is that of the first x.
class RecurrentParameters {
 public:
  // The functions' weights, by layer and then direction.
  std::vector<RecurrentWeights> weights() const;

 protected:
  RecurrentParameters() = default;
  ~RecurrentParameters() = default;
  std::vector<Tensor*> w_ih_, w_hh_, b_ih_, b_hh_, w_hr_;
};

// The base of all recurrent layers; Options has the fields of GruOptions.
template <class Options_, class State, class Result, class PackedResult>
class RecurrentLayer : public LayerWithOptions<Options_, StatefulLayer<State, Result>>,
                       public RecurrentParameters {
 public:
  using Options = Options_;
  using StatefulLayer<State, Result>::operator();
  // Sequences of different lengths. Hooks do not see these calls.
  PackedResult operator()(const PackedSequence& x, const State& state = {});

 protected:
  RecurrentLayer(const char* name, int64_t gates, const Options& options);
  void AddKnown(Options& options) const final;
  Result Run(const Tensor& x, const State& state) final;
  virtual Result Call(const Tensor& x, const State& state, const RecurrentOptions& o) const = 0;
  virtual PackedResult Call(const PackedSequence& x, const State& state,
                            const RecurrentOptions& o) const = 0;

 private:
  void Build(int64_t in);
  void BuildFor(const Tensor& x);
  RecurrentOptions CallOptions() const;

  const char* const name_;
  const int64_t gates_;
};

using LstmBase = RecurrentLayer<LstmOptions, LstmState, LstmResult, PackedLstmResult>;
using GruBase = RecurrentLayer<GruOptions, Tensor, RecurrentResult, PackedRecurrentResult>;
using RnnBase = RecurrentLayer<RnnOptions, Tensor, RecurrentResult, PackedRecurrentResult>;

// Layers of long short-term memory: firn::Lstm.
//   Tensor y = lstm(x);                        x: [steps, batch, in]   y: [steps, batch, state]
//   auto [y, state] = lstm(x, {});             with the state after the last step
//   auto [packed, state] = lstm(PackPaddedSequence(x, lengths));
class Lstm final : public LstmBase {
 public:
  // Throws when a size is not positive, a proj_size not below hidden or dropout outside [0, 1].
  explicit Lstm(const Options& options);

 protected:
  LstmResult Call(const Tensor& x, const LstmState& state, const RecurrentOptions& o) const final;
  PackedLstmResult Call(const PackedSequence& x, const LstmState& state,
                        const RecurrentOptions& o) const final;
};

// Layers of gated recurrent units: firn::Gru. Called as Lstm; the state is a tensor.
class Gru final : public GruBase {
 public:
  explicit Gru(const Options& options);

 protected:
  RecurrentResult Call(const Tensor& x, const Tensor& h0, const RecurrentOptions& o) const final;
  PackedRecurrentResult Call(const PackedSequence& x, const Tensor& h0,
                             const RecurrentOptions& o) const final;
};

// Layers of plain recurrent units: firn::Rnn. Called as Gru.
class Rnn final : public RnnBase {
 public:
  explicit Rnn(const Options& options);

 protected:
  RecurrentResult Call(const Tensor& x, const Tensor& h0, const RecurrentOptions& o) const final;
  PackedRecurrentResult Call(const PackedSequence& x, const Tensor& h0,
                             const RecurrentOptions& o) const final;
};

}  // namespace firn::nn

#endif  // FIRN_NN_RECURRENT_H_
