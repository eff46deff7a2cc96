// concat: copies each tensor into its slice of the result. The gradient is sliced.
//
// stack: composed of unsqueeze and concat.

#include "firn/tensor/ops/shape/join.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const ConcatAttrs& a = c.attrs<ConcatAttrs>();
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(a.dim, c.shape(0)));
  FIRN_RETURN_IF(a.sizes.size() != static_cast<size_t>(c.num_inputs()),
                 InvalidArgument(a.sizes.size(), " sizes for ", c.num_inputs(), " tensors"));
  Dims sizes = c.shape(0).dims();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& s = c.shape(i);
    bool fits = s.rank() == sizes.rank;
    for (int d = 0; fits && d < sizes.rank; ++d) fits = d == dim || s[d] == sizes[d];
    FIRN_RETURN_IF(!fits, InvalidArgument("tensor ", i, " ", s.ToString(), " and tensor 0 ",
                                          c.shape(0).ToString(), " differ outside dim ", dim));
    const int64_t size = a.sizes[static_cast<size_t>(i)];
    FIRN_RETURN_IF(size != s[dim], InvalidArgument("tensor ", i, " ", s.ToString(),
                                                   " does not have size ", size, " in dim ", dim));
    FIRN_RETURN_IF(i > 0 && __builtin_add_overflow(sizes[dim], size, &sizes[dim]),
                   InvalidArgument("the sizes along dim ", dim, " add up to more than an int64"));
  }
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.out_spec();
  const int dim = *NormalizeDim(k.attrs<ConcatAttrs>().dim, y.shape);
  char* to = k.out<char>();
  for (int i = 0; i < k.num_inputs(); ++i) {
    const TensorSpec& x = k.in_spec(i);
    const TensorSpec part = TensorSpec::Strided(y.dtype, x.shape, y.device, y.layout.strides);
    FIRN_RETURN_IF_ERROR(CopyElements(x, k.in<char>(i), part, to, k.stream()));
    to += x.shape[dim] * y.layout.strides[dim] * SizeOf(y.dtype);
  }
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const ConcatAttrs& a = g.attrs<ConcatAttrs>();
  int64_t at = 0;
  for (int i = 0; i < g.num_inputs(); ++i) {
    const int64_t size = a.sizes[static_cast<size_t>(i)];
    if (g.needs(i)) {
      g.set_grad_input(i, Slice(g.grad_output(), a.dim, at, at + size));
    }
    at += size;
  }
}

FIRN_REGISTER_OP(concat) {
  return {
      .doc = "The tensors one behind the other along dim.",
      .inputs = {{.name = "tensors", .same_dtype_as = "tensors", .min_rank = 1, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ConcatAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kStrided}),
  };
}

}  // namespace

Tensor Concat(const std::vector<Tensor>& tensors, Integer dim) {
  const OpDef& op = TheOp<"concat">();
  if (tensors.empty()) RaiseStatus(InvalidArgument("takes at least 1 tensor, got 0"), op.name);
  CheckAllDefined(tensors, op.name);
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = Promote(dtype, t.dtype());
  ConcatAttrs attrs{.dim = dim, .sizes = {}};
  std::vector<Tensor> cast;
  for (const Tensor& t : tensors) {
    cast.push_back(Cast(t, dtype));
    attrs.sizes.push_back(t.shape().has_dim(dim) ? t.shape().dim(dim) : 0);
  }
  const absl::InlinedVector<TensorRef, 8> in(cast.begin(), cast.end());
  return Apply1(op, in, attrs);
}

Tensor Stack(const std::vector<Tensor>& tensors, Integer dim) {
  if (tensors.empty()) RaiseStatus(InvalidArgument("takes at least 1 tensor, got 0"), "stack");
  CheckAllDefined(tensors, "stack");
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    if (t.shape() != tensors[0].shape()) {
      RaiseStatus(InvalidArgument("tensor ", parts.size(), " ", t.shape().ToString(),
                                  " and tensor 0 ", tensors[0].shape().ToString(), " differ"),
                  "stack");
    }
    parts.push_back(Unsqueeze(t, dim));
  }
  return Concat(parts, dim);
}

}  // namespace firn
