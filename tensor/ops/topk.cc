// topk: the first k of a line's order, found by selection and only then sorted. See
// kernels/cpu/order.h.

#include "tensor/ops/topk.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/order.h"
#include "tensor/op.h"
#include "tensor/ops/full.h"
#include "tensor/ops/scatter_add.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
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

size_t Workspace(const KernelQuery& q) {
  return cpu::OrderWorkspace(cpu::LinesAlong(q.in(0).shape, q.attrs<TopkAttrs>().dim));
}

template <bool kLargest>
void RunSelected(KernelContext& k) {
  const TopkAttrs& a = k.attrs<TopkAttrs>();
  const cpu::Lines lines = cpu::LinesAlong(k.in_spec(0).shape, a.dim);
  const auto select = [&](auto* begin, auto* end) {
    const cpu::Before<kLargest> before;
    if (a.k < end - begin) std::nth_element(begin, begin + a.k, end, before);
    if (a.sorted) std::sort(begin, begin + a.k, before);
  };
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::OrderLines(lines, a.k, k.in<T>(0), k.out<T>(0), k.out<int64_t>(1), k.workspace(), select);
  });
}

absl::Status Run(KernelContext& k) {
  k.attrs<TopkAttrs>().largest ? RunSelected<true>(k) : RunSelected<false>(k);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  if (x.shape.rank() == 0) return g.set_grad_input(0, g.grad_output(0));
  g.set_grad_input(
      0, ScatterAdd(Zeros(x.shape, x.dtype, x.device), static_cast<int>(g.attrs<TopkAttrs>().dim),
                    g.output(1), g.grad_output(0)));
}

FIRN_REGISTER_OP(topk) {
  return {
      .name = "topk",
      .doc = "The k largest or smallest elements along dim, and their indices.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "values"}, {.name = "indices"}},
      .attrs = AttrsOf<TopkAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

ValuesAndIndices Topk(const Tensor& x, int64_t k, int64_t dim, const TopkOptions& options) {
  static const OpDef& op = Op("topk");
  const TensorList out = Apply(op, {x}, TopkAttrs{k, dim, options.largest, options.sorted});
  return {out[0], out[1]};
}

}  // namespace firn
