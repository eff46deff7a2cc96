#ifndef FIRN_TENSOR_INTERNAL_LEVEL_KERNELS_H_
#define FIRN_TENSOR_INTERNAL_LEVEL_KERNELS_H_

// Between the two, registrations bring kernels for another level of processors: they replace an
// operation's kernels for the CPU and leave everything else. Only level_kernels.cc calls these,
// before any operation is looked up.
namespace firn::inner::internal {

void BeginLevelKernels();
void EndLevelKernels();

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_LEVEL_KERNELS_H_
