#ifndef FIRN_TENSOR_INTERNAL_LEVEL_KERNELS_H_
#define FIRN_TENSOR_INTERNAL_LEVEL_KERNELS_H_

// Between the two, registrations bring kernels for another level of processors: what an operation
// has for the CPU is replaced, and all else of it stays. For level_kernels.cc, before anybody has
// asked for an operation.
namespace firn::inner::internal {

void BeginLevelKernels();
void EndLevelKernels();

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_LEVEL_KERNELS_H_
