// Cells of recurrent networks: parameters of firn::LstmCell, firn::GruCell and firn::RnnCell,
// started as PyTorch does: uniform within 1 / sqrt(hidden), all of them.

#include "firn/nn/recurrent_cells.h"

#include "firn/nn/sizes.h"
#include "firn/tensor/ops/recurrent/gru.h"
#include "firn/tensor/ops/recurrent/lstm.h"

namespace firn::nn {

template <class O, class S>
RecurrentCell<O, S>::RecurrentCell(const char* name, int64_t gates, const O& o)
    : LayerWithOptions<O, StatefulLayer<S, S>>(o),
      name_(name),
      gates_(gates),
      w_ih_(this->AddPendingParameter("weight_ih", {gates * o.hidden, o.in})),
      w_hh_(this->AddPendingParameter("weight_hh", {gates * o.hidden, o.hidden})),
      b_ih_(o.bias ? this->AddPendingParameter("bias_ih", {gates * o.hidden})
                   : this->AddParameter("bias_ih", {})),
      b_hh_(o.bias ? this->AddPendingParameter("bias_hh", {gates * o.hidden})
                   : this->AddParameter("bias_hh", {})) {
  CheckSizes(name, {{"in", o.in, true}, {"hidden", o.hidden}});
  if (o.in != kDeferred) Build(o.in);
}

template <class O, class S>
void RecurrentCell<O, S>::Build(int64_t in) {
  const int64_t hidden = this->options().hidden, rows = gates_ * hidden;
  const init::Initializer fill = Or(this->options().weight_init, FanInUniform(hidden));
  this->InitPending(w_ih_, {rows, in}, fill);
  this->InitPending(w_hh_, {rows, hidden}, fill);
  this->InitPending(b_ih_, {rows}, fill);
  this->InitPending(b_hh_, {rows}, fill);
}

template <class O, class S>
S RecurrentCell<O, S>::Run(const Tensor& x, const S& state) {
  for (const Tensor* t : {&w_ih_, &w_hh_, &b_ih_, &b_hh_}) {
    if (!IsPending(*t)) continue;
    Build(SizeOfInput(name_, x, -1));
    break;
  }
  return Step(x, state);
}

template <class O, class S>
void RecurrentCell<O, S>::AddKnown(O& options) const {
  options.in = KnownSize(w_ih_, 1, options.in);
}

template class RecurrentCell<LstmCellOptions, LstmState>;
template class RecurrentCell<GruCellOptions, Tensor>;
template class RecurrentCell<RnnCellOptions, Tensor>;

LstmState LstmCell::Step(const Tensor& x, const LstmState& state) const {
  return firn::LstmCell(x, state, weight_ih(), weight_hh(), bias_ih(), bias_hh());
}
Tensor GruCell::Step(const Tensor& x, const Tensor& h) const {
  return firn::GruCell(x, h, weight_ih(), weight_hh(), bias_ih(), bias_hh());
}
Tensor RnnCell::Step(const Tensor& x, const Tensor& h) const {
  return firn::RnnCell(x, h, weight_ih(), weight_hh(), bias_ih(), bias_hh(),
                       {options().nonlinearity});
}

}  // namespace firn::nn
