#ifndef FIRN_TENSOR_OPS_RANDOM_RANDOM_SAMPLES_H_
#define FIRN_TENSOR_OPS_RANDOM_RANDOM_SAMPLES_H_

// Parts shared by the samples of random operations. Test code only.

#include <utility>
#include <vector>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// draw(generator) of a generator at the position that `state` holds, which is moved on afterwards:
// an operation takes the position, a function the generator. It works in a graph too, whose runs
// start at the current position.
template <class F>
Tensor DrawFrom(const Tensor& state, F draw) {
  RandomGenerator generator;
  generator.SetState(state);
  const Tensor y = draw(&generator);
  NoGradScope no_grad;
  Assign(state, generator.state());
  return y;
}

inline Tensor State() { return Indices({7, 100}); }

// Attributes of one without options.
struct NoAttrs {
  template <class V>
  void Visit(V&) {}
};

// A composite that draws: f(in, attrs, generator). A generator's position, State(), follows the
// inputs that are declared here. A separate test checks what is drawn.
template <class Attrs, class F>
void AddDrawing(Samples& s, std::vector<ArgDecl> inputs, F f) {
  const size_t last = inputs.size();
  inputs.push_back({.name = "state", .dtypes = SetOf(DType::kI64), .inout = true});
  s.random = true;
  s.WithoutVectors("random");
  s.Declare(std::move(inputs));
  s.Function([f, last](In in, const Attrs& a) {
    return DrawFrom(in[last], [&](RandomGenerator* g) { return f(in, a, g); });
  });
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_RANDOM_RANDOM_SAMPLES_H_
