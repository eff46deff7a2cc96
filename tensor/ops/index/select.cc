// index_select: copies whole runs behind the indexed dimension. Its gradient is index_add.
//
// index_add: the adjoint of index_select, and of embedding.

#include "firn/tensor/ops/index/select.h"

#include <type_traits>
#include <utility>

#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/kernels/cpu/ordered_rows.h"
#include "firn/tensor/kernels/cpu/scatter.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/promotion.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::StatusOr<IndexPlan> PlanIndexSelect(const Shape& x, const Shape& indices, AttrsRef attrs) {
  return PlanIndex(x, indices, attrs.get<IndexSelectAttrs>());
}

absl::Status InferIndexSelect(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndexSelect(c.shape(0), c.shape(1), c.attrs_ref()));
  c.set_out(0, c.dtype(0), p.selection);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsIndexSelect(const KernelQuery& q, int) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                        PlanIndexSelect(q.in(0).shape, q.in(1).shape, q.attrs_ref()));
  IndexBounds bounds = WrappingBounds(p.n);
  bounds.ignored = p.ignored;
  return bounds;
}

absl::Status RunIndexSelect(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                        PlanIndexSelect(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs_ref()));
  VisitWidth(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      cpu::SelectRows(p, k.in<T>(0), k.in<I>(1), k.out<T>());
    });
  });
  return absl::OkStatus();
}

void GradIndexSelect(GradContext& g) {
  const IndexSelectAttrs& a = g.attrs<IndexSelectAttrs>();
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(0, IndexAddWith(ExpandedZeros(x.shape, x.dtype, x.device), g.input(1),
                                   g.grad_output(), IndexAddAttrs{a}));
}

FIRN_REGISTER_OP(index_select) {
  return {
      .doc = "The elements of x along dim at indices, whose dimensions replace it.",
      .inputs = {{.name = "x"}, {.name = "indices", .dtypes = kIndex}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexSelectAttrs>(),
      .infer = InferIndexSelect,
      .grad = GradIndexSelect,
      .saves = {Saved::Input(1)},
      .index_bounds = BoundsIndexSelect,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .run = RunIndexSelect}},
  };
}

absl::StatusOr<IndexPlan> PlanIndexAdd(const Shape& x, const Shape& indices, AttrsRef attrs) {
  return PlanIndex(x, indices, attrs.get<IndexAddAttrs>().where);
}

absl::Status InferIndexAdd(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndexAdd(c.shape(0), c.shape(1), c.attrs_ref()));
  FIRN_RETURN_IF(c.shape(2) != p.selection,
                 InvalidArgument("source ", c.shape(2).ToString(), " must have the shape ",
                                 p.selection.ToString(), " of the elements of x ",
                                 c.shape(0).ToString(), " at indices ", c.shape(1).ToString()));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsIndexAdd(const KernelQuery& q, int) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                        PlanIndexAdd(q.in(0).shape, q.in(1).shape, q.attrs_ref()));
  IndexBounds bounds = WrappingBounds(p.n);
  bounds.ignored = p.ignored;
  return bounds;
}

size_t WorkspaceIndexAdd(const KernelQuery& q) {
  const auto p = PlanIndexAdd(q.in(0).shape, q.in(1).shape, q.attrs_ref());
  const bool orders = p.ok() && IsFloating(q.out().dtype) && cpu::OrdersRows(*p);
  return orders ? cpu::OrderBytes(*p) : cpu::SumsBytes(q.out());
}

template <class T, class I>
void AddByIndex(const IndexPlan& p, KernelContext& k) {
  const double alpha = k.attrs<IndexAddAttrs>().alpha;
  const I* const index = k.in<I>(1);
  if constexpr (!std::is_integral_v<T>) {
    // Where nothing is converted, few rows, or short rows on one thread, are added faster without
    // finding their order first, with the same sums.
    constexpr int64_t kLongRow = 512;  // bytes
    const bool long_rows = p.inner * static_cast<int64_t>(sizeof(T)) >= kLongRow;
    const bool many = p.count >= p.n / 4 && (long_rows || NumThreads() > 1);
    if (cpu::OrdersRows(p) && (cpu::kIsHalf<T> || many)) {
      return cpu::AddOrderedRows(p, index, ConvertTo<ComputeOf<T>>(alpha), k.in<T>(2), k.out<T>(),
                                 k.workspace());
    }
  }
  const auto rows = [&](const auto& f) { cpu::ForEachAddedRow(p, index, f); };
  cpu::AddUpRuns(k.out<T>(), k.out_spec().num_elements(), k.workspace(),
                 p.batch * p.outer * p.count, p.inner, rows, [&]<class Acc>(Acc* sums) {
                   cpu::AddRows(p, index, ConvertTo<Acc>(alpha), k.in<T>(2), sums);
                 });
}

absl::Status RunIndexAdd(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                        PlanIndexAdd(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs_ref()));
  CopyElementsOnCpu(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>());
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) { AddByIndex<T, I>(p, k); });
  });
  return absl::OkStatus();
}

void GradIndexAdd(GradContext& g) {
  const OpDef& select = TheOp<"index_select">();
  const IndexAddAttrs& a = g.attrs<IndexAddAttrs>();
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(2)) return;
  const Tensor at = Apply1(select, {g.grad_output(), g.input(1)}, a.where);
  g.set_grad_input(2, a.alpha == 1 ? at : Mul(at, a.alpha));
}

FIRN_REGISTER_OP(index_add) {
  OpDef op = {
      .doc = "A copy of x with alpha * source added along dim at indices.",
      .inputs = {{.name = "x", .dtypes = kNumeric},
                 {.name = "indices", .dtypes = kIndex},
                 {.name = "source", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexAddAttrs>(),
      .infer = InferIndexAdd,
      .grad = GradIndexAdd,
      .index_bounds = BoundsIndexAdd,
  };
  return cpu::ScatterOp(std::move(op), 1, WorkspaceIndexAdd, RunIndexAdd);
}

}  // namespace

Tensor IndexSelect(const Tensor& x, Integer dim, const Tensor& indices, Integer batch_dims) {
  return Apply1(TheOp<"index_select">(), {x, indices}, IndexSelectAttrs{dim, batch_dims});
}

Tensor inner::IndexAddWith(const Tensor& x, const Tensor& indices, const Tensor& source,
                           const IndexAddAttrs& attrs) {
  return Apply1(TheOp<"index_add">(), {x, indices, source}, attrs);
}

Tensor IndexAdd(const Tensor& x, Integer dim, const Tensor& indices, const Tensor& source,
                Number alpha, Integer batch_dims) {
  const IndexAddAttrs attrs{{dim, batch_dims}, alpha.value()};
  if (!NeedsIntegers(alpha, source)) return IndexAddWith(x, indices, source, attrs);
  return IndexAdd(x, dim, indices, Mul(source, alpha.integer()), 1, batch_dims);
}

}  // namespace firn
