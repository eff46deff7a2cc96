#ifndef FIRN_TESTS_OPS_CHAIN_PROGRAMS_H_
#define FIRN_TESTS_OPS_CHAIN_PROGRAMS_H_

// Chains in which every operation that can be part of one stands, in every dtype that it takes.

#include <memory>
#include <string>
#include <vector>

#include "firn/tensor/internal/elementwise_program.h"
#include "firn/tensor/tensor.h"

namespace firn::testing {

inline constexpr int64_t kChainElements = 1003;  // no whole number of packs

struct ChainProgram {
  std::shared_ptr<internal::ElementwiseProgram> program;  // finished; it has no kernel
  std::vector<Tensor> in;                                 // on the CPU
};

// CUDA kernels that work element by element, as "name of the operation".
std::vector<std::string> ElementwiseCudaOps();

// Makes a step of each sample of the operations, once in each dtype. Every second step reads the
// result of the one before it where the dtypes fit. The same in every run.
std::vector<ChainProgram> ChainPrograms();

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CHAIN_PROGRAMS_H_
