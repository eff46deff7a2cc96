#ifndef FIRN_NN_RECURRENT_CELLS_H_
#define FIRN_NN_RECURRENT_CELLS_H_

#include <cstdint>
#include <string>

#include "firn/nn/stateful_layer.h"
#include "firn/tensor/ops/recurrent/rnn.h"

namespace firn::nn {

struct LstmCellOptions {
  int64_t in = kDeferred;
  int64_t hidden = 0;
  bool bias = true;
  init::Initializer weight_init = {};  // empty: uniform within 1 / sqrt(hidden), biases too
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "hidden", hidden);
    v.Field("bias", bias);
  }
};
using GruCellOptions = LstmCellOptions;

struct RnnCellOptions {
  int64_t in = kDeferred;
  int64_t hidden = 0;
  bool bias = true;
  RnnNonlinearity nonlinearity = RnnNonlinearity::kTanh;
  init::Initializer weight_init = {};
  template <class V>
  void Visit(V& v) {
    v.FromTo("in", in, "hidden", hidden);
    v.Field("bias", bias);
    v.Field("nonlinearity", nonlinearity);
  }
};

// The base of cells of recurrent networks, which compute one step. Parameters, as PyTorch's:
// weight_ih [gates * hidden, in], weight_hh [gates * hidden, hidden], bias_ih and bias_hh [gates *
// hidden].
template <class Options_, class State>
class RecurrentCell : public LayerWithOptions<Options_, StatefulLayer<State, State>> {
 public:
  using Options = Options_;
  const Tensor& weight_ih() const { return w_ih_; }
  const Tensor& weight_hh() const { return w_hh_; }
  const Tensor& bias_ih() const { return b_ih_; }  // undefined without
  const Tensor& bias_hh() const { return b_hh_; }  // undefined without

 protected:
  RecurrentCell(const char* name, int64_t gates, const Options& options);
  void AddKnown(Options& options) const final;
  State Run(const Tensor& x, const State& state) final;
  virtual State Step(const Tensor& x, const State& state) const = 0;

 private:
  void Build(int64_t in);

  const char* const name_;
  const int64_t gates_;
  Tensor &w_ih_, &w_hh_, &b_ih_, &b_hh_;
};

// One step of long short-term memory: firn::LstmCell.
//   LstmState next = cell(x, state);      x: [batch, in]   h, c: [batch, hidden]
//   Tensor h = cell(x);                   from zeros
class LstmCell final : public RecurrentCell<LstmCellOptions, LstmState> {
 public:
  // Throws when a size is not positive.
  explicit LstmCell(const Options& options) : RecurrentCell("nn::LstmCell", 4, options) {}

 protected:
  LstmState Step(const Tensor& x, const LstmState& state) const final;
};

// One step of gated recurrent units: firn::GruCell. Called as LstmCell; the state is a tensor.
class GruCell final : public RecurrentCell<GruCellOptions, Tensor> {
 public:
  explicit GruCell(const Options& options) : RecurrentCell("nn::GruCell", 3, options) {}

 protected:
  Tensor Step(const Tensor& x, const Tensor& h) const final;
};

// One step of plain recurrent units: firn::RnnCell. Called as GruCell.
class RnnCell final : public RecurrentCell<RnnCellOptions, Tensor> {
 public:
  explicit RnnCell(const Options& options) : RecurrentCell("nn::RnnCell", 1, options) {}

 protected:
  Tensor Step(const Tensor& x, const Tensor& h) const final;
};

}  // namespace firn::nn

#endif  // FIRN_NN_RECURRENT_CELLS_H_
