// index on CUDA: first the place of every position, then a thread an element. A position with an
// index outside its dimension gives 0, and that is noted.
#include "tensor/advanced_index.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/advanced_index.cuh"
#include "tensor/ops/index.h"

namespace firn::index_cuda {
namespace {

constexpr int kFirst = 1;  // index tensor
constexpr cuda::IndexSite kSite = {"index", "indices"};

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
    const int64_t a = cuda::TakeDigit(b, num_after), position = cuda::TakeDigit(b, positions);
    const int64_t p = places[position];
    y[i] = p < 0 ? W{0} : x[before(b) + place(p) + after(a)];
  }
};

size_t Workspace(const KernelQuery& q) {
  const AdvancedIndex a =
      *ResolveAdvancedIndex(q.in(0).shape, q, kFirst, q.attrs<IndexAttrs>().dims);
  return static_cast<size_t>(a.positions.num_elements()) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const cuda::IndexedPlan p,
                        cuda::PlanIndexed(k, kSite, x, kFirst, k.attrs<IndexAttrs>().dims));
  int64_t* const places = k.workspace<int64_t>();
  const int64_t positions = p.places.num_positions;
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, positions, PlacesBody{p.places, places}));
  return cpu::VisitWidth(x.dtype, [&]<class W>(TypeTag<W>) {
    return cuda::ForEach(k, k.out_spec().num_elements(),
                         ReadBody<W>{k.in<W>(0), places, k.out<W>(), positions, p.num_after,
                                     p.before, p.place, p.after});
  });
}

FIRN_REGISTER_KERNELS(index) {
  return cuda::StridedAndDenseKernels(OthersContiguous, Workspace, Run);
}

}  // namespace
}  // namespace firn::index_cuda
