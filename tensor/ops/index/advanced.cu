// index on CUDA: first the place of every position, then a thread for each element. A position with
// an index outside its dimension gives 0 and is noted.
//
// index_put on CUDA: see kernels/cuda/scatter.cuh. A position with an index outside its dimension
// is left out and noted.
//
// index_write on CUDA: see kernels/cuda/scatter.cuh. A position with an index outside its dimension
// is left out and noted.

#include "firn/tensor/kernels/cuda/advanced_index.cuh"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/index/index_arrays.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn::advanced_cuda {
namespace {

constexpr int kFirstIndex = 1;  // index tensor
constexpr cuda::IndexSite kSiteIndex = {"index", "indices"};

struct PlacesBody {
  cuda::IndexedPlaces places;
  int64_t* to;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { to[i] = places(i); }
};

template <class W>
struct ReadBody {
  const W* x;
  const int64_t* places;
  W* y;
  int64_t positions, num_after;
  cuda::Steps before, place, after;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t b = i;
    const int64_t a = TakeDigit(b, num_after), position = TakeDigit(b, positions);
    const int64_t p = places[position];
    y[i] = p < 0 ? W{0} : x[before(b) + place(p) + after(a)];
  }
};

size_t WorkspaceIndex(const KernelQuery& q) {
  const AdvancedIndex a =
      *ResolveAdvancedIndex(q.in(0).shape, q, kFirstIndex, q.attrs<IndexAttrs>().dims);
  return static_cast<size_t>(a.positions.num_elements()) * sizeof(int64_t);
}

absl::Status RunIndex(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const cuda::IndexedPlan p, cuda::PlanIndexed(k, kSiteIndex, x, kFirstIndex,
                                                                     k.attrs<IndexAttrs>().dims));
  int64_t* const places = k.workspace<int64_t>();
  const int64_t positions = p.places.num_positions;
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, positions, PlacesBody{p.places, places}));
  return VisitWidth(x.dtype, [&]<class W>(TypeTag<W>) {
    return cuda::ForEach(k, k.out_spec().num_elements(),
                         ReadBody<W>{k.in<W>(0), places, k.out<W>(), positions, p.num_after,
                                     p.before, p.place, p.after});
  });
}

FIRN_REGISTER_KERNELS(index) {
  return cuda::StridedAndDenseKernels(OthersContiguous, WorkspaceIndex, RunIndex);
}

constexpr int kFirstIndexPut = 2;  // index tensor
constexpr cuda::IndexSite kSiteIndexPut = {"index_put", "indices"};

size_t WorkspaceIndexPut(const KernelQuery& q) {
  return cuda::IndexedWorkspace(q, kFirstIndexPut, q.attrs<IndexPutAttrs>().dims);
}

absl::Status RunIndexPut(KernelContext& k) {
  const IndexPutAttrs& a = k.attrs<IndexPutAttrs>();
  const TensorSpec& y = k.out_spec();
  FIRN_RETURN_IF_ERROR(CopyElements(k.in_spec(0), k.in<void>(0), y, k.out<void>(), k.stream()));
  FIRN_ASSIGN_OR_RETURN(const cuda::IndexedPlan p,
                        cuda::PlanIndexed(k, kSiteIndexPut, y, kFirstIndexPut, a.dims));
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortIndexed(k, p));
  if (!a.accumulate) {
    return VisitWidth(y.dtype, [&]<class W>(TypeTag<W>) {
      return cuda::WriteSorted(k, sorted, k.in<W>(1), k.out<W>());
    });
  }
  return VisitDType(y.dtype, [&]<class T>(TypeTag<T>) {
    return cuda::AddSorted<T>(k, sorted, 1, k.in<T>(1), k.out<T>());
  });
}

FIRN_REGISTER_KERNELS(index_put) {
  return cuda::StridedAndDenseKernels(OthersContiguous, WorkspaceIndexPut, RunIndexPut);
}

constexpr int kFirstIndexWrite = 2;  // index tensor
constexpr cuda::IndexSite kSiteIndexWrite = {"index_write", "indices"};

size_t WorkspaceIndexWrite(const KernelQuery& q) {
  return cuda::IndexedWorkspace(q, kFirstIndexWrite, q.attrs<IndexAttrs>().dims);
}

absl::Status RunIndexWrite(KernelContext& k) {
  const TensorSpec& y = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(
      const cuda::IndexedPlan p,
      cuda::PlanIndexed(k, kSiteIndexWrite, y, kFirstIndexWrite, k.attrs<IndexAttrs>().dims));
  if (p.num_before * p.num_after == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortIndexed(k, p));
  return VisitWidth(y.dtype, [&]<class W>(TypeTag<W>) {
    return cuda::WriteSorted(k, sorted, k.in<W>(1), k.inout<W>(0));
  });
}

FIRN_REGISTER_KERNELS(index_write) {
  return cuda::StridedAndDenseKernels(OthersContiguous, WorkspaceIndexWrite, RunIndexWrite);
}

}  // namespace
}  // namespace firn::advanced_cuda
