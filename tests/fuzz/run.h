#ifndef FIRN_TESTS_FUZZ_RUN_H_
#define FIRN_TESTS_FUZZ_RUN_H_

// What was read, run: on small inputs, once of ordinary numbers and once of those at which
// computations go wrong, as far as a bound on memory lets it.

#include <cstdint>
#include <optional>

#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/network/network.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

// While one lives, tensors take at most 32 MiB from the system: what shapes ask for beyond that is
// refused.
class TensorLimit {
 public:
  TensorLimit();
  ~TensorLimit();
  TensorLimit(const TensorLimit&) = delete;
  TensorLimit& operator=(const TensorLimit&) = delete;
};

// Numbers from -1 up in small steps, or, if they shall be extreme, infinities, none, and the limits
// of integers. nullopt for more than 4096 of them.
std::optional<Tensor> InputOf(const Shape& shape, DType dtype, bool extreme);

// Sizes that the file leaves open are 2, elements whose type it leaves open f32. Gradients are
// computed, too, where a parameter wants one. Whether it took one of the two inputs.
bool Runs(const Network& network);
bool Runs(StaticGraph& graph);

}  // namespace firn::testing

#endif  // FIRN_TESTS_FUZZ_RUN_H_
