#ifndef FIRN_TENSOR_KERNELS_CUDA_CHAIN_KERNEL_H_
#define FIRN_TENSOR_KERNELS_CUDA_CHAIN_KERNEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "firn/device/device.h"
#include "firn/tensor/internal/elementwise_program.h"

namespace firn::cuda {

// Compiles `program`, which is finished, to one kernel for a CUDA device; on a stand-in for one,
// which has no compiler, the result runs the steps' own kernels one after the other. Programs with
// the same text are compiled once. Takes about a second. Thread-safe.
//
// Errors: Unimplemented when there is no source for a step; Internal when the compiler fails or is
// missing; the first such error of a process is also printed on stderr.
absl::StatusOr<std::shared_ptr<const firn::inner::internal::ElementwiseProgramKernel>> CompileChain(
    const firn::inner::internal::ElementwiseProgram& program, Device device);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CHAIN_KERNEL_H_
