// sort: values and their indices along one dimension. See kernels/cpu/order.h.

#include "tensor/ops/sort.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/order.h"
#include "tensor/op.h"
#include "tensor/ops/full.h"
#include "tensor/ops/scatter_add.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<SortAttrs>().dim, c.shape(0)).status());
  c.set_out_like(0, 0);
  c.set_out(1, DType::kI64, c.shape(0));
  return absl::OkStatus();
}

size_t Workspace(const KernelQuery& q) {
  return cpu::OrderWorkspace(cpu::LinesAlong(q.in(0).shape, q.attrs<SortAttrs>().dim));
}

template <bool kDescending>
void RunOrdered(KernelContext& k) {
  const cpu::Lines lines = cpu::LinesAlong(k.in_spec(0).shape, k.attrs<SortAttrs>().dim);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::OrderLines(
        lines, lines.length, k.in<T>(0), k.out<T>(0), k.out<int64_t>(1), k.workspace(),
        [](auto* begin, auto* end) { std::sort(begin, end, cpu::Before<kDescending>()); });
  });
}

absl::Status Run(KernelContext& k) {
  k.attrs<SortAttrs>().descending ? RunOrdered<true>(k) : RunOrdered<false>(k);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  if (x.shape.rank() == 0) return g.set_grad_input(0, g.grad_output(0));
  g.set_grad_input(
      0, ScatterAdd(Zeros(x.shape, x.dtype, x.device), static_cast<int>(g.attrs<SortAttrs>().dim),
                    g.output(1), g.grad_output(0)));
}

FIRN_REGISTER_OP(sort) {
  return {
      .name = "sort",
      .doc = "The elements in order along dim, and their indices.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices"}},
      .attrs = AttrsOf<SortAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

ValuesAndIndices Sort(const Tensor& x, int64_t dim, const SortOptions& options) {
  static const OpDef& op = Op("sort");
  const TensorList out = Apply(op, {x}, SortAttrs{dim, options.descending, options.stable});
  return {out[0], out[1]};
}

Tensor Argsort(const Tensor& x, int64_t dim, const SortOptions& options) {
  return Sort(x, dim, options).indices;
}

}  // namespace firn
