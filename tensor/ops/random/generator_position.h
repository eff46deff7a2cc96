#ifndef FIRN_TENSOR_OPS_RANDOM_GENERATOR_POSITION_H_
#define FIRN_TENSOR_OPS_RANDOM_GENERATOR_POSITION_H_

#include <cstdint>

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

struct PositionAttrs {
  int64_t counters = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("counters", counters);
  }
};

// Takes `counters` counters, each of four random words, from the generator: i64 [2], their start.
// For an operation that computes the words itself, and again in its gradient; it is then a function
// of its inputs, and a graph draws anew each time it runs.
Tensor TakePosition(RandomGenerator& generator, int64_t counters);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_RANDOM_GENERATOR_POSITION_H_
