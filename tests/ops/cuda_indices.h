#ifndef FIRN_TESTS_OPS_CUDA_INDICES_H_
#define FIRN_TESTS_OPS_CUDA_INDICES_H_

// What operations on a CUDA device say of an index that is outside.

#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {

// Each index of each sample, once too large and once too small: the kernel writes nothing wrong and
// waits for nothing, and the next copy to the CPU throws what the CPU says, once.
void CheckIndicesOnCuda(const Subject& subject, const Samples& samples);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CUDA_INDICES_H_
