#ifndef FIRN_NN_STATEFUL_LAYER_H_
#define FIRN_NN_STATEFUL_LAYER_H_

#include <array>

#include "firn/nn/layer.h"
#include "firn/tensor/ops/recurrent/lstm.h"
#include "firn/tensor/ops/recurrent/recurrent.h"
#include "firn/tensor/ops/recurrent/sequence.h"

namespace firn::nn {

// A layer that goes on from a state: layer(x) begins with zeros and returns only the output, like
// any layer; layer(x, state) also returns the state after it. Hooks see x and the output.
template <class State, class Result>
class StatefulLayer : public Layer {
 public:
  using Layer::operator();
  Result operator()(const Tensor& x, const State& state) {
    const CallScope scope(*this);
    if (!has_hooks()) [[likely]]
      return Run(x, state);
    std::array<Tensor, 1> inputs = {x};
    Result result;
    OutputOf(result) = hooks().Run(*this, absl::MakeSpan(inputs), [&] {
      result = Run(inputs[0], state);
      return OutputOf(result);
    });
    return result;
  }

 protected:
  Tensor Forward(const Tensor& x) override {
    Result result = Run(x, State());
    return OutputOf(result);
  }
  virtual Result Run(const Tensor& x, const State& state) = 0;

 private:
  static Tensor& OutputOf(Tensor& h) { return h; }
  static Tensor& OutputOf(LstmState& state) { return state.h; }
  static Tensor& OutputOf(LstmResult& result) { return result.y; }
  static Tensor& OutputOf(RecurrentResult& result) { return result.y; }
};

}  // namespace firn::nn

#endif  // FIRN_NN_STATEFUL_LAYER_H_
