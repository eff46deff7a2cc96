// sort: values and their indices along one dimension. See kernels/cpu/order.h.
//
// topk: the first k of a line's order, found by selection and only then sorted. See
// kernels/cpu/order.h.

#include "tensor/ops/scan/sort.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/order.h"
#include "tensor/op.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/index/gather.h"

namespace firn {
namespace {

absl::Status InferSort(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<SortAttrs>().dim, c.shape(0)).status());
  c.set_out_like(0, 0);
  c.set_out(1, DType::kI64, c.shape(0));
  return absl::OkStatus();
}

size_t WorkspaceSort(const KernelQuery& q) {
  return cpu::OrderWorkspace(LinesAlong(q.in(0).shape, q.attrs<SortAttrs>().dim));
}

template <bool kDescending>
void RunOrdered(KernelContext& k) {
  const Lines lines = LinesAlong(k.in_spec(0).shape, k.attrs<SortAttrs>().dim);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::OrderLines(
        lines, lines.length, k.in<T>(0), k.out<T>(0), k.out<int64_t>(1), k.workspace(),
        [](auto* begin, auto* end) { std::sort(begin, end, cpu::Before<kDescending>()); });
  });
}

absl::Status RunSort(KernelContext& k) {
  k.attrs<SortAttrs>().descending ? RunOrdered<true>(k) : RunOrdered<false>(k);
  return absl::OkStatus();
}

void GradSort(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  if (x.shape.rank() == 0) return g.set_grad_input(0, g.grad_output(0));
  g.set_grad_input(0, ScatterAdd(Zeros(x.shape, x.dtype, x.device), g.attrs<SortAttrs>().dim,
                                 g.output(1), g.grad_output(0)));
}

FIRN_REGISTER_OP(sort) {
  return {
      .doc = "The elements in order along dim, and their indices.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices"}},
      .attrs = AttrsOf<SortAttrs>(),
      .infer = InferSort,
      .grad = GradSort,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = WorkspaceSort, .run = RunSort}},
  };
}

absl::Status InferTopk(InferContext& c) {
  const TopkAttrs& a = c.attrs<TopkAttrs>();
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(a.dim, x));
  const int64_t size = x.rank() == 0 ? 1 : x[dim];
  FIRN_RETURN_IF(a.k < 0 || a.k > size,
                 InvalidArgument("k ", a.k, " is outside [0, ", size, "], the size of dim ", a.dim,
                                 " of x ", x.ToString()));
  Dims out = x.dims();
  if (x.rank() == 0) {
    FIRN_RETURN_IF(a.k != 1, InvalidArgument("k must be 1 for a scalar, got ", a.k));
  } else {
    out[dim] = a.k;
  }
  c.set_out(0, c.dtype(0), Shape::Trusted(out));
  c.set_out(1, DType::kI64, Shape::Trusted(out));
  return absl::OkStatus();
}

size_t WorkspaceTopk(const KernelQuery& q) {
  return cpu::OrderWorkspace(LinesAlong(q.in(0).shape, q.attrs<TopkAttrs>().dim));
}

template <bool kLargest>
void RunSelected(KernelContext& k) {
  const TopkAttrs& a = k.attrs<TopkAttrs>();
  const Lines lines = LinesAlong(k.in_spec(0).shape, a.dim);
  const auto select = [&](auto* begin, auto* end) {
    const cpu::Before<kLargest> before;
    if (a.k < end - begin) std::nth_element(begin, begin + a.k, end, before);
    if (a.sorted) std::sort(begin, begin + a.k, before);
  };
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::OrderLines(lines, a.k, k.in<T>(0), k.out<T>(0), k.out<int64_t>(1), k.workspace(), select);
  });
}

absl::Status RunTopk(KernelContext& k) {
  k.attrs<TopkAttrs>().largest ? RunSelected<true>(k) : RunSelected<false>(k);
  return absl::OkStatus();
}

void GradTopk(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  if (x.shape.rank() == 0) return g.set_grad_input(0, g.grad_output(0));
  g.set_grad_input(0, ScatterAdd(Zeros(x.shape, x.dtype, x.device), g.attrs<TopkAttrs>().dim,
                                 g.output(1), g.grad_output(0)));
}

FIRN_REGISTER_OP(topk) {
  return {
      .doc = "The k largest or smallest elements along dim, and their indices.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices"}},
      .attrs = AttrsOf<TopkAttrs>(),
      .infer = InferTopk,
      .grad = GradTopk,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = WorkspaceTopk, .run = RunTopk}},
  };
}

}  // namespace

ValuesAndIndices Sort(const Tensor& x, int64_t dim, const SortOptions& options) {
  const TensorList out =
      Apply(TheOp<"sort">(), {x}, SortAttrs{dim, options.descending, options.stable});
  return {out[0], out[1]};
}

Tensor Argsort(const Tensor& x, int64_t dim, const SortOptions& options) {
  return Sort(x, dim, options).indices;
}

ValuesAndIndices Topk(const Tensor& x, int64_t k, int64_t dim, const TopkOptions& options) {
  const TensorList out =
      Apply(TheOp<"topk">(), {x}, TopkAttrs{k, dim, options.largest, options.sorted});
  return {out[0], out[1]};
}

}  // namespace firn
