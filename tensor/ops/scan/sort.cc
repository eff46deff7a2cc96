// sort: values and their indices along one dimension. See kernels/cpu/order.h.
//
// topk: the first k of a line's order, found by selection and only then sorted. See
// kernels/cpu/order.h.

#include "firn/tensor/ops/scan/sort.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/order.h"
#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/shape/view.h"

namespace firn {
namespace {

absl::Status InferSort(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<SortAttrs>().dim, c.shape(0)).status());
  c.set_out_like(0, 0);
  c.set_out(1, DType::kI64, c.shape(0));
  return absl::OkStatus();
}

// How a call of this shape and these attributes is ordered.
struct Ordering {
  Lines lines;
  cpu::LineOrder order;
};
Ordering OrderingOf(const Shape& x, const SortAttrs& a) {
  const Lines lines = LinesAlong(x, a.dim);
  return {lines, {.descending = a.descending, .keep = lines.length}};
}
Ordering OrderingOf(const Shape& x, const TopkAttrs& a) {
  return {LinesAlong(x, a.dim), {.descending = a.largest, .keep = a.k, .sorted = a.sorted}};
}

template <class Attrs>
size_t Workspace(const KernelQuery& q) {
  const auto [lines, order] = OrderingOf(q.in(0).shape, q.attrs<Attrs>());
  return cpu::OrderWorkspace(lines, order, q.in(0).dtype);
}

template <class Attrs>
absl::Status Run(KernelContext& k) {
  const auto [lines, order] = OrderingOf(k.in_spec(0).shape, k.attrs<Attrs>());
  cpu::OrderLines(lines, order, k.in_spec(0).dtype, k.in<void>(0), k.out<void>(0),
                  k.out<int64_t>(1), k.workspace());
  return absl::OkStatus();
}

// Puts gradients back to the places of the values.
template <class Attrs>
void Grad(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  if (x.shape.rank() == 0) return g.set_grad_input(0, g.grad_output(0));
  g.set_grad_input(0, ScatterAdd(ExpandedZeros(x.shape, x.dtype, x.device), g.attrs<Attrs>().dim,
                                 g.output(1), g.grad_output(0)));
}

FIRN_REGISTER_OP(sort) {
  return {
      .doc = "The elements in order along dim, and their indices.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices"}},
      .attrs = AttrsOf<SortAttrs>(),
      .infer = InferSort,
      .grad = Grad<SortAttrs>,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = Workspace<SortAttrs>, .run = Run<SortAttrs>}},
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

FIRN_REGISTER_OP(topk) {
  return {
      .doc = "The k largest or smallest elements along dim, and their indices.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices"}},
      .attrs = AttrsOf<TopkAttrs>(),
      .infer = InferTopk,
      .grad = Grad<TopkAttrs>,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = Workspace<TopkAttrs>, .run = Run<TopkAttrs>}},
  };
}

}  // namespace

ValuesAndIndices Sort(const Tensor& x, Integer dim, const SortOptions& options) {
  const TensorList out =
      Apply(TheOp<"sort">(), {x}, SortAttrs{dim, options.descending, options.stable});
  return {out[0], out[1]};
}

Tensor Argsort(const Tensor& x, Integer dim, const SortOptions& options) {
  return Sort(x, dim, options).indices;
}

ValuesAndIndices Topk(const Tensor& x, Integer k, Integer dim, const TopkOptions& options) {
  const TensorList out =
      Apply(TheOp<"topk">(), {x}, TopkAttrs{k, dim, options.largest, options.sorted});
  return {out[0], out[1]};
}

}  // namespace firn
