// slice_scatter: a copy with a slice replaced; on zeros it is the adjoint of slice and select.
//
// With step 1 the result is three blocks, and every element is written once.

#include "tensor/ops/slice_scatter.h"

#include "tensor/apply.h"
#include "tensor/ops/full.h"
#include "tensor/reorder.h"
#include "tensor/view.h"

namespace firn {
namespace {

Shape Resized(const Shape& shape, int dim, int64_t size) {
  Dims sizes = shape.dims();
  sizes[dim] = size;
  return Shape::Trusted(sizes);
}

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ResolvedSlice r, ResolveSlice(c.shape(0), c.attrs<SliceAttrs>()));
  const Shape want = Resized(c.shape(0), r.dim, r.length);
  FIRN_RETURN_IF(c.shape(1) != want,
                 InvalidArgument("source ", c.shape(1).ToString(), " does not fit the slice ",
                                 want.ToString(), " of x ", c.shape(0).ToString()));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

// Elements [begin, begin + length) of dimension `dim`, `step` apart.
struct Part {
  TensorSpec spec;
  int64_t offset;  // in bytes
};
Part PartOf(const TensorSpec& whole, const ResolvedSlice& r) {
  const Dims& strides = whole.layout.strides;
  return {TensorSpec::Strided(whole.dtype, Resized(whole.shape, r.dim, r.length), whole.device,
                              SlicedStrides(strides, r)),
          r.start * strides[r.dim] * SizeOf(whole.dtype)};
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  const TensorSpec& y = k.out_spec();
  FIRN_ASSIGN_OR_RETURN(const ResolvedSlice r, ResolveSlice(x.shape, k.attrs<SliceAttrs>()));
  const auto copy_x = [&](int64_t begin, int64_t end) {
    const ResolvedSlice block{r.dim, begin, end - begin, 1};
    const Part from = PartOf(x, block), to = PartOf(y, block);
    return CopyElements(from.spec, k.in<char>(0) + from.offset, to.spec, k.out<char>() + to.offset,
                        k.stream());
  };
  if (r.step == 1 && r.length > 0) {
    FIRN_RETURN_IF_ERROR(copy_x(0, r.start));
    FIRN_RETURN_IF_ERROR(copy_x(r.start + r.length, x.shape[r.dim]));
  } else {
    FIRN_RETURN_IF_ERROR(copy_x(0, x.shape[r.dim]));
  }
  const Part to = PartOf(y, r);
  return CopyElements(k.in_spec(1), k.in<char>(1), to.spec, k.out<char>() + to.offset, k.stream());
}

void Grad(GradContext& g) {
  const SliceAttrs& a = g.attrs<SliceAttrs>();
  const Tensor& dy = g.grad_output();
  const int dim = static_cast<int>(a.dim);
  if (g.needs(0)) {
    const ResolvedSlice r = *ResolveSlice(dy.shape(), a);
    const Tensor nothing =
        ExpandedZeros(Resized(dy.shape(), r.dim, r.length), dy.dtype(), dy.device());
    g.set_grad_input(0, SliceScatter(dy, nothing, dim, a.start, a.end, a.step));
  }
  if (g.needs(1)) g.set_grad_input(1, Slice(dy, dim, a.start, a.end, a.step));
}

FIRN_REGISTER_OP(slice_scatter) {
  return {
      .name = "slice_scatter",
      .doc = "A copy of x with x[start:end:step] along dim replaced by source.",
      .inputs = {{.name = "x"}, {.name = "source", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<SliceAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kStrided}),
  };
}

}  // namespace

Tensor SliceScatter(const Tensor& x, const Tensor& source, int dim, int64_t start, int64_t end,
                    int64_t step) {
  static const OpDef& op = Op("slice_scatter");
  return Apply1(op, {x, source}, SliceAttrs{dim, start, end, step});
}

}  // namespace firn
