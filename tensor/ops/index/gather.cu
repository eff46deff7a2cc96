// gather on CUDA: a thread an index. An index outside x's dimension gives 0 and is noted.
//
// scatter_add on CUDA: every line along the dimension has a list of indices of its own; see
// kernels/cuda/scatter.cuh. An index outside x's dimension adds nothing and is noted.

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/scatter.cuh"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn::gather_cuda {
namespace {

constexpr cuda::IndexSite kSiteGather = {"gather", "indices"};

template <class W, class I>
struct GatherBody {
  const W* x;
  const I* indices;
  W* y;
  cuda::Steps in_x;  // of an element of the result, at index 0
  int64_t step;      // of the indexed dimension
  cuda::IndexRange range;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t place = range(indices[i]);
    y[i] = place < 0 ? W{0} : x[in_x(i) + place * step];
  }
};

absl::Status RunGather(KernelContext& k) {
  const Shape &x = k.in_spec(0).shape, &region = k.in_spec(1).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const Dims strides = ContiguousStrides(x);
  cuda::Steps in_x;
  for (int d = 0; d < region.rank(); ++d) in_x.Add(region[d], d == dim ? 0 : strides[d]);
  const cuda::IndexRange range = {cuda::IndexFaults(k, kSiteGather), -x[dim], x[dim]};
  return VisitWidth(k.in_spec(0).dtype, [&]<class W>(TypeTag<W>) {
    return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      return cuda::ForEach(
          k, region.num_elements(),
          GatherBody<W, I>{k.in<W>(0), k.in<I>(1), k.out<W>(), in_x, strides[dim], range});
    });
  });
}

FIRN_REGISTER_KERNELS(gather) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunGather}};
}

constexpr cuda::IndexSite kSiteScatterAdd = {"scatter_add", "indices"};

// Sets all but the places of lines. Requires: there are indices.
cuda::Scatter ListsOf(const Shape& y, const Shape& region, int dim) {
  return {.lists = region.num_elements() / region[dim],
          .lines_a_list = 1,
          .count = region[dim],
          .columns = 1,
          .places = y[dim]};
}

size_t Workspace(const KernelQuery& q) {
  const Shape& region = q.in(1).shape;
  if (region.num_elements() == 0) return 0;
  const int dim = *NormalizeDim(q.attrs<DimAttrs>().dim, region);
  return ListsOf(q.in(0).shape, region, dim).ordering(q.in(0).device).workspace();
}

absl::Status RunScatterAdd(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(
      CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream()));
  const Shape &y = k.out_spec().shape, &region = k.in_spec(1).shape;
  if (region.num_elements() == 0) return absl::OkStatus();
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const Dims in_y = ContiguousStrides(y), in_indices = ContiguousStrides(region),
             in_source = ContiguousStrides(k.in_spec(2).shape);
  cuda::Scatter s = ListsOf(y, region, dim);
  s.source_step = in_source[dim];
  cuda::Steps list;
  for (int d = 0; d < region.rank(); ++d) {
    if (d == dim) continue;
    list.Add(region[d], in_indices[d]);
    s.source_line.Add(region[d], in_source[d]);
    s.line.Add(region[d], in_y[d]);
  }
  s.place.Add(y[dim], in_y[dim]);
  uint64_t* const items = k.workspace<uint64_t>();
  FIRN_RETURN_IF_ERROR(VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
    return cuda::ForEach(
        k, s.lists * s.count,
        cuda::ListItemsBody<I>{k.in<I>(1),
                               items,
                               s.packing(),
                               list,
                               s.count,
                               in_indices[dim],
                               {cuda::IndexFaults(k, kSiteScatterAdd), -y[dim], y[dim]}});
  }));
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortScatter(k, s, items));
  return VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::AddSorted<T>(k, sorted, 1, k.in<T>(2), k.out<T>());
  });
}

FIRN_REGISTER_KERNELS(scatter_add) {
  return cuda::StridedAndDenseKernels(OthersContiguous, Workspace, RunScatterAdd);
}

}  // namespace
}  // namespace firn::gather_cuda
