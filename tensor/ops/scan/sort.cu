// sort on CUDA: see kernels/cuda/sort.cuh.
//
// topk on CUDA: a sort that drops what cannot be among the first k, always in order. See
// kernels/cuda/sort.cuh.

#include "firn/tensor/kernels/cuda/sort.cuh"
#include "firn/tensor/ops/scan/sort.h"

namespace firn::sort_cuda {
namespace {

absl::Status SupportsSort(const KernelQuery& q) {
  return cuda::SortSupports(q.in(0), q.attrs<SortAttrs>().dim);
}
size_t WorkspaceSort(const KernelQuery& q) {
  const Lines lines = LinesAlong(q.in(0).shape, q.attrs<SortAttrs>().dim);
  return cuda::SortWorkspace(q.in(0), lines, lines.length);
}

absl::Status RunSort(KernelContext& k) {
  const SortAttrs& a = k.attrs<SortAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, a.dim);
  return cuda::SortLines(k, lines, lines.length, a.descending);
}

FIRN_REGISTER_KERNELS(sort) {
  return {{.name = "ordered",
           .device = DeviceType::kCuda,
           .supports = SupportsSort,
           .workspace = WorkspaceSort,
           .run = RunSort}};
}

absl::Status SupportsTopk(const KernelQuery& q) {
  return cuda::SortSupports(q.in(0), q.attrs<TopkAttrs>().dim);
}
size_t WorkspaceTopk(const KernelQuery& q) {
  const TopkAttrs& a = q.attrs<TopkAttrs>();
  return cuda::SortWorkspace(q.in(0), LinesAlong(q.in(0).shape, a.dim), a.k);
}

absl::Status RunTopk(KernelContext& k) {
  const TopkAttrs& a = k.attrs<TopkAttrs>();
  return cuda::SortLines(k, LinesAlong(k.in_spec(0).shape, a.dim), a.k, a.largest);
}

FIRN_REGISTER_KERNELS(topk) {
  return {{.name = "ordered",
           .device = DeviceType::kCuda,
           .supports = SupportsTopk,
           .workspace = WorkspaceTopk,
           .run = RunTopk}};
}

}  // namespace
}  // namespace firn::sort_cuda
