#ifndef FIRN_TENSOR_KERNELS_CUDA_ADVANCED_INDEX_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ADVANCED_INDEX_CUH_

// Several index tensors at once: parts shared by index, index_put and index_write. A place is the
// row-major number of an element, counted through the indexed dimensions only.

#include <cstdint>
#include <vector>

#include "firn/tensor/kernels/cuda/index.cuh"
#include "firn/tensor/kernels/cuda/scatter.cuh"
#include "firn/tensor/problems/advanced_index.h"

namespace firn::cuda {

// The place that the index tensors name for each position.
struct IndexedPlaces {
  struct Indices {
    const void* data;
    bool wide;  // i64, not i32
    int64_t n;  // of the dimension
    Steps at;   // of a position
  };
  IndexFaults faults;
  int num_dims = 0;
  int64_t num_positions = 0, num_places = 1;
  Indices dims[kMaxRank] = {};

  // -1 if an index is outside its dimension.
  FIRN_HOST_DEVICE int64_t operator()(int64_t position) const {
    int64_t place = 0;
    for (int d = 0; d < num_dims; ++d) {
      const Indices& indices = dims[d];
      const int64_t at = indices.at(position);
      const int64_t index = indices.wide ? static_cast<const int64_t*>(indices.data)[at]
                                         : static_cast<const int32_t*>(indices.data)[at];
      const int64_t i = IndexRange{faults, -indices.n, indices.n}(index);
      if (i < 0) return -1;
      place = place * indices.n + i;
    }
    return place;
  }
};

// Element [b, position, a] of the indexed result lies in x at before(b) + place(..) + after(a).
struct IndexedPlan {
  IndexedPlaces places;
  Steps before, place, after;
  int64_t num_before = 1, num_after = 1;
};

// The index tensors are the contiguous inputs from `first` on, the argument `site`; x has any
// strides.
inline absl::StatusOr<IndexedPlan> PlanIndexed(const KernelContext& k, const IndexSite& site,
                                               const TensorSpec& x, int first,
                                               const DimList& dims) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, ResolveAdvancedIndex(x.shape, k, first, dims));
  const Dims& strides = x.layout.strides;
  IndexedPlan p;
  p.places.faults = IndexFaults(k, site);
  p.places.num_dims = a.dims.rank;
  p.places.num_positions = a.positions.num_elements();
  for (int i = 0; i < a.dims.rank; ++i) {
    const int d = static_cast<int>(a.dims[i]);
    const TensorSpec& spec = k.in_spec(first + i);
    IndexedPlaces::Indices& indices = p.places.dims[i];
    indices.data = k.in<void>(first + i);
    indices.wide = spec.dtype == DType::kI64;
    indices.n = x.shape[d];
    const Dims own = ContiguousStrides(spec.shape);
    const int lead = a.positions.rank() - spec.shape.rank();
    for (int j = 0; j < a.positions.rank(); ++j) {
      indices.at.Add(a.positions[j], j < lead || spec.shape[j - lead] == 1 ? 0 : own[j - lead]);
    }
    p.places.num_places *= x.shape[d];
    p.place.Add(x.shape[d], strides[d]);
  }
  for (const int64_t d : a.before.span()) {
    p.num_before *= x.shape[static_cast<int>(d)];
    p.before.Add(x.shape[static_cast<int>(d)], strides[static_cast<int>(d)]);
  }
  for (const int64_t d : a.after.span()) {
    p.num_after *= x.shape[static_cast<int>(d)];
    p.after.Add(x.shape[static_cast<int>(d)], strides[static_cast<int>(d)]);
  }
  return p;
}

struct PositionItemsBody {
  IndexedPlaces places;
  uint64_t* items;
  Packing packing;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { items[i] = packing.Item(0, places(i), i); }
};

// Writes or adds values [before, position, after] at the places in a tensor of this spec.
inline Scatter IndexedScatter(const IndexedPlan& p) {
  Scatter s = {.lists = 1,
               .lines_a_list = p.num_before,
               .count = p.places.num_positions,
               .columns = p.num_after,
               .places = p.places.num_places,
               .source_step = p.num_after,
               .line = p.before,
               .place = p.place,
               .column = p.after};
  s.source_line.Add(p.num_before, s.count * s.columns);
  return s;
}

// Sorts the positions of `p` in the workspace, whose size IndexedWorkspace says.
inline absl::StatusOr<SortedScatter> SortIndexed(const KernelContext& k, const IndexedPlan& p) {
  const Scatter s = IndexedScatter(p);
  uint64_t* const items = k.workspace<uint64_t>();
  FIRN_RETURN_IF_ERROR(ForEach(k, s.count, PositionItemsBody{p.places, items, s.packing()}));
  return SortScatter(k, s, items);
}

// The elements that SortIndexed sorts.
inline size_t IndexedWorkspace(const KernelQuery& q, int first, const DimList& dims) {
  const Shape& x = q.in(0).shape;
  const AdvancedIndex a = *ResolveAdvancedIndex(x, q, first, dims);
  Scatter s = {.lists = 1, .count = a.positions.num_elements(), .places = 1};
  for (const int64_t d : a.dims.span()) s.places *= x[static_cast<int>(d)];
  return s.ordering(q.in(0).device).workspace();
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ADVANCED_INDEX_CUH_
