#ifndef FIRN_TENSOR_KERNELS_CUDA_WORKSPACE_H_
#define FIRN_TENSOR_KERNELS_CUDA_WORKSPACE_H_

#include <cstddef>
#include <cstdint>

#include "firn/tensor/op.h"

namespace firn::cuda {

// The alignment that CUDA's libraries want for workspaces; a kernel's own workspace has less.
// Kernels ask for this many bytes more than a library uses.
inline constexpr size_t kWorkspaceAlignment = 256;

inline void* AlignedWorkspace(const KernelContext& k) {
  const auto at = reinterpret_cast<uintptr_t>(k.workspace()) + kWorkspaceAlignment - 1;
  return reinterpret_cast<void*>(at / kWorkspaceAlignment * kWorkspaceAlignment);
}

// Pieces of a workspace, one behind the other, each aligned like this. Without a workspace they
// only count bytes, so that a kernel lists its pieces in one place, for their size and for their
// addresses.
class WorkspacePieces {
 public:
  WorkspacePieces() = default;
  explicit WorkspacePieces(const KernelContext& k) : at_(static_cast<char*>(AlignedWorkspace(k))) {}

  template <class T>
  T* Take(int64_t count) {
    return static_cast<T*>(TakeBytes(static_cast<size_t>(count) * sizeof(T)));
  }
  void* TakeBytes(size_t bytes) {
    void* const piece = at_ == nullptr ? nullptr : at_ + taken_;
    taken_ += (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    return piece;
  }
  // The bytes of a workspace that holds them.
  size_t bytes() const { return taken_ == 0 ? 0 : taken_ + kWorkspaceAlignment; }

 private:
  char* at_ = nullptr;
  size_t taken_ = 0;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_WORKSPACE_H_
