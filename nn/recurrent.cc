// Recurrent layers: parameters of firn::Lstm, firn::Gru and firn::Rnn, started as PyTorch does:
// uniform within 1 / sqrt(hidden), all of them.

#include "firn/nn/recurrent.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"

namespace firn::nn {
namespace {

// Elements of h where a projection makes it smaller; 0 without.
template <class Options>
int64_t Projection(const Options& o) {
  if constexpr (requires { o.proj_size; }) return o.proj_size;
  return 0;
}

}  // namespace

std::vector<RecurrentWeights> RecurrentParameters::weights() const {
  std::vector<RecurrentWeights> all;
  for (size_t i = 0; i < w_ih_.size(); ++i) {
    all.push_back(
        {*w_ih_[i], *w_hh_[i], *b_ih_[i], *b_hh_[i], w_hr_.empty() ? Tensor() : *w_hr_[i]});
  }
  return all;
}

template <class O, class S, class R, class P>
RecurrentLayer<O, S, R, P>::RecurrentLayer(const char* name, int64_t gates, const O& o)
    : LayerWithOptions<O, StatefulLayer<S, R>>(o), name_(name), gates_(gates) {
  CheckSizes(name, {{"in", o.in, true}, {"hidden", o.hidden}, {"layers", o.layers}});
  const int64_t projection = Projection(o), state = projection > 0 ? projection : o.hidden;
  if (projection < 0 || projection >= o.hidden) {
    RaiseStatus(InvalidArgument("proj_size must be less than hidden ", o.hidden, ", or 0, got ",
                                projection),
                name);
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    RaiseStatus(InvalidArgument("dropout must lie in [0, 1], got ", o.dropout), name);
  }
  if (o.dropout > 0 && o.layers == 1) {
    std::fprintf(stderr,
                 "firn: %s has a dropout of %g, which is between layers, and one layer: it"
                 " drops nothing\n",
                 name, o.dropout);
  }
  const int64_t rows = gates * o.hidden;
  const auto bias = [&](const std::string& full_name) {
    return o.bias ? &this->AddPendingParameter(full_name, {rows})
                  : &this->AddParameter(full_name, {});
  };
  for (int64_t layer = 0; layer < o.layers; ++layer) {
    const int64_t width = layer == 0 ? o.in : state * (o.bidirectional ? 2 : 1);
    for (const char* direction : {"", "_reverse"}) {
      if (*direction != '\0' && !o.bidirectional) continue;
      const std::string end = absl::StrCat("_l", layer, direction);
      w_ih_.push_back(&this->AddPendingParameter("weight_ih" + end, {rows, width}));
      w_hh_.push_back(&this->AddPendingParameter("weight_hh" + end, {rows, state}));
      b_ih_.push_back(bias("bias_ih" + end));
      b_hh_.push_back(bias("bias_hh" + end));
      if (projection == 0) continue;
      w_hr_.push_back(&this->AddPendingParameter("weight_hr" + end, {projection, o.hidden}));
    }
  }
  if (o.in != kDeferred) Build(o.in);
}

template <class O, class S, class R, class P>
void RecurrentLayer<O, S, R, P>::Build(int64_t in) {
  const O& o = this->options();
  const int64_t projection = Projection(o), state = projection > 0 ? projection : o.hidden;
  const int64_t rows = gates_ * o.hidden, directions = o.bidirectional ? 2 : 1;
  const init::Initializer fill = Or(o.weight_init, FanInUniform(o.hidden));
  for (size_t i = 0; i < w_ih_.size(); ++i) {
    const bool first = i < static_cast<size_t>(directions);
    this->InitPending(*w_ih_[i], {rows, first ? in : state * directions}, fill);
    this->InitPending(*w_hh_[i], {rows, state}, fill);
    this->InitPending(*b_ih_[i], {rows}, fill);
    this->InitPending(*b_hh_[i], {rows}, fill);
    if (projection > 0) this->InitPending(*w_hr_[i], {projection, o.hidden}, fill);
  }
}

template <class O, class S, class R, class P>
void RecurrentLayer<O, S, R, P>::BuildFor(const Tensor& x) {
  for (const std::vector<Tensor*>* list : {&w_ih_, &w_hh_, &b_ih_, &b_hh_, &w_hr_}) {
    for (const Tensor* t : *list) {
      if (IsPending(*t)) return Build(SizeOfInput(name_, x, -1));
    }
  }
}

template <class O, class S, class R, class P>
RecurrentOptions RecurrentLayer<O, S, R, P>::CallOptions() const {
  const O& o = this->options();
  return {.batch_first = o.batch_first,
          .bidirectional = o.bidirectional,
          .dropout = o.dropout,
          .training = o.dropout > 0 && this->training()};
}

template <class O, class S, class R, class P>
R RecurrentLayer<O, S, R, P>::Run(const Tensor& x, const S& state) {
  BuildFor(x);
  return Call(x, state, CallOptions());
}

template <class O, class S, class R, class P>
P RecurrentLayer<O, S, R, P>::operator()(const PackedSequence& x, const S& state) {
  const CallScope scope(*this);
  const ComputedScope values = this->ValuesOf(*this);
  BuildFor(x.data);
  return Call(x, state, CallOptions());
}

template <class O, class S, class R, class P>
void RecurrentLayer<O, S, R, P>::AddKnown(O& options) const {
  options.in = KnownSize(*w_ih_[0], 1, options.in);
}

template class RecurrentLayer<LstmOptions, LstmState, LstmResult, PackedLstmResult>;
template class RecurrentLayer<GruOptions, Tensor, RecurrentResult, PackedRecurrentResult>;
template class RecurrentLayer<RnnOptions, Tensor, RecurrentResult, PackedRecurrentResult>;

Lstm::Lstm(const Options& options) : LstmBase("nn::Lstm", 4, options) {}
LstmResult Lstm::Call(const Tensor& x, const LstmState& state, const RecurrentOptions& o) const {
  return firn::Lstm(x, state, weights(), o);
}
PackedLstmResult Lstm::Call(const PackedSequence& x, const LstmState& state,
                            const RecurrentOptions& o) const {
  return firn::Lstm(x, state, weights(), o);
}

Gru::Gru(const Options& options) : GruBase("nn::Gru", 3, options) {}
RecurrentResult Gru::Call(const Tensor& x, const Tensor& h0, const RecurrentOptions& o) const {
  return firn::Gru(x, h0, weights(), o);
}
PackedRecurrentResult Gru::Call(const PackedSequence& x, const Tensor& h0,
                                const RecurrentOptions& o) const {
  return firn::Gru(x, h0, weights(), o);
}

Rnn::Rnn(const Options& options) : RnnBase("nn::Rnn", 1, options) {}
RecurrentResult Rnn::Call(const Tensor& x, const Tensor& h0, const RecurrentOptions& o) const {
  return firn::Rnn(x, h0, weights(), o, options().nonlinearity);
}
PackedRecurrentResult Rnn::Call(const PackedSequence& x, const Tensor& h0,
                                const RecurrentOptions& o) const {
  return firn::Rnn(x, h0, weights(), o, options().nonlinearity);
}

}  // namespace firn::nn
