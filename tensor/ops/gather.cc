// gather: an element for every index. Its gradient is scatter_add.

#include "tensor/ops/gather.h"

#include "tensor/apply.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/scatter_add.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(
      ResolveElementIndex(c.attrs<DimAttrs>().dim, c.shape(1), {{"x", &c.shape(0)}}).status());
  c.set_out(0, c.dtype(0), c.shape(1));
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& x = q.in(0).shape;
  return WrappingBounds(x[*NormalizeDim(q.attrs<DimAttrs>().dim, x)]);
}

size_t Workspace(const KernelQuery& q) {
  const Shape& region = q.in(1).shape;
  const cpu::Region r(region, *NormalizeDim(q.attrs<DimAttrs>().dim, region));
  return static_cast<size_t>(r.table_size()) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const Shape& x = k.in_spec(0).shape;
  const Shape& region = k.in_spec(1).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const cpu::Region r(region, dim);
  const cpu::Places in_x(region, x, dim, k.workspace<int64_t>());
  cpu::VisitWidth(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      cpu::GatherElements(r, in_x, x[dim], k.in<T>(0), k.in<I>(1), k.out<T>());
    });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(
      0, ScatterAdd(ExpandedZeros(x.shape, x.dtype, x.device),
                    static_cast<int>(g.attrs<DimAttrs>().dim), g.input(1), g.grad_output()));
}

FIRN_REGISTER_OP(gather) {
  return {
      .name = "gather",
      .doc = "y[a.., i, b..] = x[a.., indices[a.., i, b..], b..].",
      .inputs = {{.name = "x", .min_rank = 1}, {.name = "indices", .dtypes = kIndex}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(1)},
      .index_bounds = Bounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

Tensor Gather(const Tensor& x, int dim, const Tensor& indices) {
  static const OpDef& op = Op("gather");
  return Apply1(op, {x, indices}, DimAttrs{dim});
}

}  // namespace firn
