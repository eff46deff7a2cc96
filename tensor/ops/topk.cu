// topk on CUDA: a sort that drops what cannot be among the first k, always in order. See
// kernels/cuda/sort.cuh.
#include "tensor/kernels/cuda/sort.cuh"
#include "tensor/ops/topk.h"

namespace firn::topk_cuda {
namespace {

absl::Status Supports(const KernelQuery& q) {
  return cuda::SortSupports(q.in(0), q.attrs<TopkAttrs>().dim);
}
size_t Workspace(const KernelQuery& q) { return cuda::SortWorkspace(q.in(0)); }

absl::Status Run(KernelContext& k) {
  const TopkAttrs& a = k.attrs<TopkAttrs>();
  return cuda::SortLines(k, cpu::LinesAlong(k.in_spec(0).shape, a.dim), a.k, a.largest);
}

FIRN_REGISTER_KERNELS(topk) {
  return {{.name = "merge",
           .device = DeviceType::kCuda,
           .supports = Supports,
           .workspace = Workspace,
           .run = Run}};
}

}  // namespace
}  // namespace firn::topk_cuda
