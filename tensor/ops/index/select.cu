// index_select on CUDA: a thread for as many bytes of a run as it can copy at once, up to 16. An
// index outside x's dimension gives zeros and is noted.
//
// index_add: many indices are sorted first (kernels/cuda/scatter.cuh), because a thread that walks
// all of them would take long. A few are added in order, like on the CPU.

#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/kernels/cuda/scatter.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/index/select_body.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn::select_cuda {
namespace {

constexpr cuda::IndexSite kSiteIndexSelect = {"index_select", "indices"};

struct alignas(16) Bytes16 {
  uint64_t v[2];
};

// y[b, o, k, :] = x[b, o, indices[b, k], :]
template <class W, class I>
struct SelectBody {
  const W* x;
  const I* indices;
  W* y;
  int64_t outer, n, count, inner;
  cuda::IndexRange range;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t line = i;
    const int64_t at = TakeDigit(line, inner), position = TakeDigit(line, count);
    int64_t batch = line;
    TakeDigit(batch, outer);
    const int64_t place = range(indices[batch * count + position]);
    y[i] = place < 0 ? W{} : x[(line * n + place) * inner + at];
  }
};

template <class W>
absl::Status Select(KernelContext& k, const IndexPlan& p, int64_t inner) {
  return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
    return cuda::ForEach(
        k, p.batch * p.outer * p.count * inner,
        SelectBody<W, I>{k.in<W>(0),
                         k.in<I>(1),
                         k.out<W>(),
                         p.outer,
                         p.n,
                         p.count,
                         inner,
                         {cuda::IndexFaults(k, kSiteIndexSelect), -p.n, p.n, p.ignored}});
  });
}

absl::Status RunIndexSelect(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndex(k.in_spec(0).shape, k.in_spec(1).shape,
                                                     k.attrs<IndexSelectAttrs>()));
  const int64_t bytes = p.inner * SizeOf(k.in_spec(0).dtype);
  const auto whole = [&](int64_t size) {
    return (static_cast<uint64_t>(bytes) | reinterpret_cast<uintptr_t>(k.in<void>(0)) |
            reinterpret_cast<uintptr_t>(k.out<void>())) %
               static_cast<uint64_t>(size) ==
           0;
  };
  if (whole(16)) return Select<Bytes16>(k, p, bytes / 16);
  if (whole(8)) return Select<uint64_t>(k, p, bytes / 8);
  if (whole(4)) return Select<uint32_t>(k, p, bytes / 4);
  if (whole(2)) return Select<uint16_t>(k, p, bytes / 2);
  return Select<uint8_t>(k, p, bytes);
}

FIRN_REGISTER_KERNELS(index_select) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunIndexSelect}};
}

// Position [b, k] goes to the place that its index says in the lines [b, o].
cuda::Scatter ScatterOf(const IndexPlan& p) {
  cuda::Scatter s = {.lists = p.batch,
                     .lines_a_list = p.outer,
                     .count = p.count,
                     .columns = p.inner,
                     .places = p.n,
                     .source_step = p.inner};
  s.source_line.Add(s.lines(), p.count * p.inner);
  s.line.Add(s.lines(), p.n * p.inner);
  s.place.Add(p.n, p.inner);
  s.column.Add(p.inner, 1);
  return s;
}

IndexPlan PlanOf(const KernelQuery& q) {
  return *PlanIndex(q.in(0).shape, q.in(1).shape, q.attrs<IndexAddAttrs>().where);
}
size_t Workspace(const KernelQuery& q) {
  return ScatterOf(PlanOf(q)).ordering(q.in(0).device).workspace();
}

absl::Status ManyIndices(const KernelQuery& q) {
  constexpr int64_t kFew = 16;  // as long as sorting takes launches
  const int64_t count = PlanOf(q).count;
  FIRN_RETURN_IF(count <= kFew, Unimplemented(count, " indices need no sorting"));
  return absl::OkStatus();
}
absl::Status ManyIndicesStrided(const KernelQuery& q) {
  FIRN_RETURN_IF_ERROR(ManyIndices(q));
  return OthersContiguous(q);
}

absl::Status RunSorted(KernelContext& k) {
  const IndexAddAttrs& a = k.attrs<IndexAddAttrs>();
  FIRN_RETURN_IF_ERROR(
      CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream()));
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                        PlanIndex(k.in_spec(0).shape, k.in_spec(1).shape, a.where));
  const cuda::Scatter s = ScatterOf(p);
  uint64_t* const items = k.workspace<uint64_t>();
  cuda::Steps list;
  list.Add(s.lists, s.count);
  FIRN_RETURN_IF_ERROR(VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
    return cuda::ForEach(k, s.lists * s.count,
                         cuda::ListItemsBody<I>{
                             k.in<I>(1),
                             items,
                             s.packing(),
                             list,
                             s.count,
                             1,
                             {cuda::IndexFaults(k, IndexAddKernel::kSite), -p.n, p.n, p.ignored}});
  }));
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortScatter(k, s, items));
  return VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto alpha = static_cast<AccumulatorOf<T>>(ConvertTo<SumOfIndexed<T>>(a.alpha));
    return cuda::AddSorted<T>(k, sorted, alpha, k.in<T>(2), k.out<T>());
  });
}

FIRN_REGISTER_KERNELS(index_add) {
  std::vector<Kernel> kernels =
      cuda::StridedAndDenseKernels(ManyIndicesStrided, Workspace, RunSorted);
  kernels.back().name = "sorted";
  kernels.back().supports = ManyIndices;
  return cuda::Portable<IndexAddKernel>({.name = "loop"}, kernels);
}

}  // namespace
}  // namespace firn::select_cuda
