// index_put on CUDA: see kernels/cuda/scatter.cuh. A position with an index outside its dimension
// is left out and noted.
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/advanced_index.cuh"
#include "tensor/ops/index_put.h"
#include "tensor/reorder.h"

namespace firn::index_put_cuda {
namespace {

constexpr int kFirst = 2;  // index tensor
constexpr cuda::IndexSite kSite = {"index_put", "indices"};

size_t Workspace(const KernelQuery& q) {
  return cuda::IndexedWorkspace(q, kFirst, q.attrs<IndexPutAttrs>().dims);
}

absl::Status Run(KernelContext& k) {
  const IndexPutAttrs& a = k.attrs<IndexPutAttrs>();
  const TensorSpec& y = k.out_spec();
  FIRN_RETURN_IF_ERROR(CopyElements(k.in_spec(0), k.in<void>(0), y, k.out<void>(), k.stream()));
  FIRN_ASSIGN_OR_RETURN(const cuda::IndexedPlan p, cuda::PlanIndexed(k, kSite, y, kFirst, a.dims));
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortIndexed(k, p));
  if (!a.accumulate) {
    return cpu::VisitWidth(y.dtype, [&]<class W>(TypeTag<W>) {
      return cuda::WriteSorted(k, sorted, k.in<W>(1), k.out<W>());
    });
  }
  return VisitDType(y.dtype, [&]<class T>(TypeTag<T>) {
    return cuda::AddSorted<T>(k, sorted, 1, k.in<T>(1), k.out<T>());
  });
}

FIRN_REGISTER_KERNELS(index_put) {
  return cuda::StridedAndDenseKernels(OthersContiguous, Workspace, Run);
}

}  // namespace
}  // namespace firn::index_put_cuda
