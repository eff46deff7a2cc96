// sort on CUDA: see kernels/cuda/sort.cuh.
#include "tensor/kernels/cuda/sort.cuh"
#include "tensor/ops/sort.h"

namespace firn::sort_cuda {
namespace {

absl::Status Supports(const KernelQuery& q) {
  return cuda::SortSupports(q.in(0), q.attrs<SortAttrs>().dim);
}
size_t Workspace(const KernelQuery& q) { return cuda::SortWorkspace(q.in(0)); }

absl::Status Run(KernelContext& k) {
  const SortAttrs& a = k.attrs<SortAttrs>();
  const cpu::Lines lines = cpu::LinesAlong(k.in_spec(0).shape, a.dim);
  return cuda::SortLines(k, lines, lines.length, a.descending);
}

FIRN_REGISTER_KERNELS(sort) {
  return {{.name = "merge",
           .device = DeviceType::kCuda,
           .supports = Supports,
           .workspace = Workspace,
           .run = Run}};
}

}  // namespace
}  // namespace firn::sort_cuda
