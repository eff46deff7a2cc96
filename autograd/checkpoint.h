#ifndef FIRN_AUTOGRAD_CHECKPOINT_H_
#define FIRN_AUTOGRAD_CHECKPOINT_H_

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

using CheckpointFn = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

// Runs `fn` like a plain call, with the same results and gradients, but keeps only its inputs:
// backward runs it a second time to have what the gradients need. Trades one more forward run for
// the memory of everything in between (T. Chen et al., "Training deep nets with sublinear memory
// cost", 2016).
//
//   Tensor h = Checkpoint([&](const Tensor& x) { return block.Forward(x); }, x);
//
// Tensors that `fn` uses without taking them as arguments (parameters of a module) receive their
// gradients as usual. Random numbers drawn from DefaultGenerator() are the same in the second run.
// `fn` must compute the same from the same inputs, must live on (captured references included)
// until backward, and its other effects, such as updates of running statistics, happen twice. The
// second run calls no other ranks: results of collective operations (AllReduce, ...) are kept. A
// computed tensor that `fn` captures must come from this thread. Works with Grad and create_graph,
// and nests.
//
// Throws in backward when an input was changed in place since, or when the second run used other
// tensors than the first.
std::vector<Tensor> Checkpoint(CheckpointFn fn, const std::vector<Tensor>& inputs);

template <class F>
requires(std::is_invocable_r_v<Tensor, F, const Tensor&>) Tensor
    Checkpoint(F fn, const Tensor& input) {
  CheckpointFn list = [fn = std::move(fn)](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{fn(in[0])};
  };
  return std::move(Checkpoint(std::move(list), std::vector<Tensor>{input})[0]);
}

}  // namespace firn

#endif  // FIRN_AUTOGRAD_CHECKPOINT_H_
