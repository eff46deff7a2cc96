// index_add on CUDA: see kernels/cuda/scatter.cuh. An index outside x's dimension adds nothing
// and is noted.
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/kernels/cuda/scatter.cuh"
#include "tensor/ops/index_add.h"
#include "tensor/reorder.h"

namespace firn::index_add_cuda {
namespace {

constexpr cuda::IndexSite kSite = {"index_add", "indices"};

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

size_t Workspace(const KernelQuery& q) {
  return ScatterOf(*PlanIndex(q.in(0).shape, q.in(1).shape, q.attrs<IndexAddAttrs>().where))
      .workspace();
}

absl::Status Run(KernelContext& k) {
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
    return cuda::ForEach(
        k, s.lists * s.count,
        cuda::ListItemsBody<I>{k.in<I>(1),
                               items,
                               cuda::Packing(s.count),
                               list,
                               s.count,
                               1,
                               {cuda::IndexFaults(k, kSite), -p.n, p.n, p.ignored}});
  }));
  FIRN_ASSIGN_OR_RETURN(const cuda::SortedScatter sorted, cuda::SortScatter(k, s, items));
  return VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    using Alpha = std::conditional_t<std::is_integral_v<T>, T, Acc>;
    const auto alpha = static_cast<Acc>(cpu::ConvertTo<Alpha>(a.alpha));
    return cuda::AddSorted<T>(k, sorted, alpha, k.in<T>(2), k.out<T>());
  });
}

FIRN_REGISTER_KERNELS(index_add) {
  return cuda::StridedAndDenseKernels(OthersContiguous, Workspace, Run);
}

}  // namespace
}  // namespace firn::index_add_cuda
