// index_write on CUDA: see kernels/cuda/scatter.cuh. A position with an index outside its dimension
// is left out and noted.
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/advanced_index.cuh"
#include "tensor/ops/index_write.h"

namespace firn::index_write_cuda {
namespace {

constexpr int kFirst = 2;  // index tensor
constexpr cuda::IndexSite kSite = {"index_write", "indices"};

size_t Workspace(const KernelQuery& q) {
  return cuda::IndexedWorkspace(q, kFirst, q.attrs<IndexAttrs>().dims);
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const cuda::IndexedPlan p,
                        cuda::PlanIndexed(k, kSite, y, kFirst, k.attrs<IndexAttrs>().dims));
  if (p.num_before * p.num_after == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortIndexed(k, p));
  return cpu::VisitWidth(y.dtype, [&]<class W>(TypeTag<W>) {
    return cuda::WriteSorted(k, sorted, k.in<W>(1), k.inout<W>(0));
  });
}

FIRN_REGISTER_KERNELS(index_write) {
  return cuda::StridedAndDenseKernels(OthersContiguous, Workspace, Run);
}

}  // namespace
}  // namespace firn::index_write_cuda
