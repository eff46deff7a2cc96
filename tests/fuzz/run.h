#ifndef FIRN_TESTS_FUZZ_RUN_H_
#define FIRN_TESTS_FUZZ_RUN_H_

// Runs what was read on small inputs, once with ordinary numbers and once with those at which
// computations go wrong, within a bound on memory.

#include <cstdint>
#include <optional>

#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/network/network.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

// While one lives, tensors take at most 32 MiB from the system; larger requests are refused.
class TensorLimit {
 public:
  TensorLimit();
  ~TensorLimit();
  TensorLimit(const TensorLimit&) = delete;
  TensorLimit& operator=(const TensorLimit&) = delete;
};

// Numbers from -1 up in small steps, or, if they shall be extreme, infinities, NaN, and the limits
// of integers. nullopt for more than 4096 of them.
std::optional<Tensor> InputOf(const Shape& shape, DType dtype, bool extreme);

// Sizes that the file leaves open become 2, open types f32. If a parameter wants a gradient,
// gradients are computed, too. Returns whether the network took one of the two inputs.
bool Runs(const Network& network);
bool Runs(StaticGraph& graph);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_RUN_H_
