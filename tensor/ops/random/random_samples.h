#ifndef FIRN_TENSOR_OPS_RANDOM_RANDOM_SAMPLES_H_
#define FIRN_TENSOR_OPS_RANDOM_RANDOM_SAMPLES_H_

// What the samples of random operations share. Test code only.

#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// draw(generator) of a generator at the position that `state` holds, which is moved on in the end:
// an operation takes the position, a function the generator.
template <class F>
Tensor DrawFrom(const Tensor& state, F draw) {
  const std::vector<int64_t> position = state.ToVector<int64_t>();
  RandomGenerator generator;
  generator.SetPosition(
      {static_cast<uint64_t>(position.at(0)), static_cast<uint64_t>(position.at(1))});
  const Tensor y = draw(&generator);
  NoGradScope no_grad;
  Assign(state, generator.state());
  return y;
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_RANDOM_RANDOM_SAMPLES_H_
