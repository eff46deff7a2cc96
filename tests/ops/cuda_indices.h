#ifndef FIRN_TESTS_OPS_CUDA_INDICES_H_
#define FIRN_TESTS_OPS_CUDA_INDICES_H_

// Errors of operations on a CUDA device for an index that is outside.

#include "firn/tensor/testing/samples.h"
#include "tests/ops/calls.h"

namespace firn::testing {

// Makes each index of each sample once too large and once too small: the kernel writes nothing
// wrong and does not wait, and the next copy to the CPU throws the CPU's error, once.
void CheckIndicesOnCuda(const Subject& subject, const Samples& samples);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CUDA_INDICES_H_
