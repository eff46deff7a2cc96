// index_select: copies whole runs behind the indexed dimension. Its gradient is index_add.

#include "tensor/ops/index_select.h"

#include "tensor/apply.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/index_add.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::StatusOr<IndexPlan> Plan(const Shape& x, const Shape& indices, AttrsRef attrs) {
  return PlanIndex(x, indices, attrs.get<IndexSelectAttrs>());
}

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, Plan(c.shape(0), c.shape(1), c.attrs_ref()));
  c.set_out(0, c.dtype(0), p.selection);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, Plan(q.in(0).shape, q.in(1).shape, q.attrs_ref()));
  IndexBounds bounds = WrappingBounds(p.n);
  bounds.ignored = p.ignored;
  return bounds;
}

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p,
                        Plan(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs_ref()));
  cpu::VisitWidth(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      cpu::SelectRows(p, k.in<T>(0), k.in<I>(1), k.out<T>());
    });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const IndexSelectAttrs& a = g.attrs<IndexSelectAttrs>();
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(0, IndexAdd(ExpandedZeros(x.shape, x.dtype, x.device), g.input(1),
                               g.grad_output(), IndexAddAttrs{a}));
}

FIRN_REGISTER_OP(index_select) {
  return {
      .name = "index_select",
      .doc = "The elements of x along dim at indices, whose dimensions replace it.",
      .inputs = {{.name = "x"}, {.name = "indices", .dtypes = kIndex}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexSelectAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(1)},
      .index_bounds = Bounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor IndexSelect(const Tensor& x, int dim, const Tensor& indices, int batch_dims) {
  static const OpDef& op = Op("index_select");
  return Apply1(op, {x, indices}, IndexSelectAttrs{dim, batch_dims});
}

}  // namespace firn
