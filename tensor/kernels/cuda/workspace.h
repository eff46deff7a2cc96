#ifndef FIRN_TENSOR_KERNELS_CUDA_WORKSPACE_H_
#define FIRN_TENSOR_KERNELS_CUDA_WORKSPACE_H_

#include <cstddef>
#include <cstdint>

#include "firn/tensor/op.h"

namespace firn::cuda {

// What CUDA's libraries want their workspaces aligned to; a kernel's own is not. Kernels ask for
// this many bytes more than a library uses.
inline constexpr size_t kWorkspaceAlignment = 256;

inline void* AlignedWorkspace(const KernelContext& k) {
  const auto at = reinterpret_cast<uintptr_t>(k.workspace()) + kWorkspaceAlignment - 1;
  return reinterpret_cast<void*>(at / kWorkspaceAlignment * kWorkspaceAlignment);
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_WORKSPACE_H_
