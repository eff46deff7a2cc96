// select: a view at one position of a dimension. Its gradient is scattered into zeros.
//
// slice: a view of every step-th element of one dimension. Its gradient is scattered into zeros.
//
// slice_scatter: a copy with a slice replaced; on zeros it is the adjoint of slice and select.
//
// With step 1 the result is three blocks, and every element is written once.

#include "firn/tensor/ops/shape/slices.h"

#include <algorithm>
#include <limits>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::Status InferSelect(InferContext& c) {
  const SelectAttrs& a = c.attrs<SelectAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(x.rank() == 0, InvalidArgument("x is 0-d: it has no dimension to select from"));
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(a.dim, x));
  FIRN_RETURN_IF(a.index < -x[dim] || a.index >= x[dim],
                 OutOfRange("index ", a.index, " is outside dim ", dim, " of x ", x.ToString()));
  const int64_t index = a.index < 0 ? a.index + x[dim] : a.index;
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == dim) continue;
    sizes.push_back(x[i]);
    strides.push_back(own[i]);
  }
  c.set_view(Shape::Trusted(sizes), strides, index * own[dim]);
  return absl::OkStatus();
}

void GradSelect(GradContext& g) {
  const SelectAttrs& a = g.attrs<SelectAttrs>();
  const TensorSpec& x = g.input_spec(0);
  const int64_t end = a.index == -1 ? kEnd : a.index + 1;
  g.set_grad_input(0, SliceScatter(ExpandedZeros(x.shape, x.dtype, x.device),
                                   Unsqueeze(g.grad_output(), a.dim), a.dim, a.index, end));
}

FIRN_REGISTER_OP(select) {
  return ViewOp("x at one index of dim, which is dropped.", AttrsOf<SelectAttrs>(), InferSelect,
                GradSelect);
}

absl::Status InferSlice(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ResolvedSlice r, ResolveSlice(c.shape(0), c.attrs<SliceAttrs>()));
  Dims sizes = c.shape(0).dims();
  sizes[r.dim] = r.length;
  const Dims strides = ViewStrides(c.in(0));
  c.set_view(Shape::Trusted(sizes), SlicedStrides(strides, r), r.start * strides[r.dim]);
  return absl::OkStatus();
}

void GradSlice(GradContext& g) {
  const SliceAttrs& a = g.attrs<SliceAttrs>();
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(0, SliceScatter(ExpandedZeros(x.shape, x.dtype, x.device), g.grad_output(),
                                   a.dim, a.start, a.end, a.step));
}

FIRN_REGISTER_OP(slice) {
  return ViewOp("x[start:end:step] along dim; step > 0.", AttrsOf<SliceAttrs>(), InferSlice,
                GradSlice);
}

// The same elements as x[start:end:step] with step < 0, taken from x flipped along `dim`.
Tensor SliceBackwards(const Tensor& x, const SliceAttrs& a) {
  CheckDefined(x, "slice");
  const absl::StatusOr<int> dim = NormalizeDim(a.dim, x.shape());
  RaiseIfError(dim.status(), "slice");
  if (x.rank() == 0)
    RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to slice"), "slice");
  const int64_t n = x.shape()[*dim];
  const auto from_front = [n](int64_t p) { return p < 0 ? p + n : p; };
  const int64_t last = std::clamp<int64_t>(from_front(a.start), -1, n - 1);
  const int64_t before = a.end == kEnd ? -1 : std::clamp<int64_t>(from_front(a.end), -1, n - 1);
  const int64_t step = -std::max(a.step, -std::numeric_limits<int64_t>::max());
  return Slice(Flip(x, {*dim}), *dim, n - 1 - last, n - 1 - before, step);
}

Shape Resized(const Shape& shape, int dim, int64_t size) {
  Dims sizes = shape.dims();
  sizes[dim] = size;
  return Shape::Trusted(sizes);
}

absl::Status InferSliceScatter(InferContext& c) {
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

void GradSliceScatter(GradContext& g) {
  const SliceAttrs& a = g.attrs<SliceAttrs>();
  const Tensor& dy = g.grad_output();
  if (g.needs(0)) {
    const ResolvedSlice r = *ResolveSlice(dy.shape(), a);
    const Tensor nothing =
        ExpandedZeros(Resized(dy.shape(), r.dim, r.length), dy.dtype(), dy.device());
    g.set_grad_input(0, SliceScatter(dy, nothing, a.dim, a.start, a.end, a.step));
  }
  if (g.needs(1)) g.set_grad_input(1, Slice(dy, a.dim, a.start, a.end, a.step));
}

FIRN_REGISTER_OP(slice_scatter) {
  return {
      .doc = "A copy of x with x[start:end:step] along dim replaced by source.",
      .inputs = {{.name = "x"}, {.name = "source", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<SliceAttrs>(),
      .infer = InferSliceScatter,
      .grad = GradSliceScatter,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kStrided}),
  };
}

}  // namespace

Tensor Select(const Tensor& x, Integer dim, Integer index) {
  return Apply1(TheOp<"select">(), {x}, SelectAttrs{dim, index});
}

Tensor Slice(const Tensor& x, Integer dim, Integer start, Integer end, Integer step) {
  const SliceAttrs attrs{dim, start, end, step};
  if (step < 0) return SliceBackwards(x, attrs);
  return Apply1(TheOp<"slice">(), {x}, attrs);
}

Tensor Narrow(const Tensor& x, Integer dim, Integer start, Integer length) {
  constexpr const char* kName = "narrow";
  CheckDefined(x, kName);
  const absl::StatusOr<int> at = NormalizeDim(dim, x.shape());
  RaiseIfError(at.status(), kName);
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to narrow"), kName);
  const int64_t n = x.size(*at), first = start < 0 ? start + n : int64_t{start};
  if (first < 0 || length < 0 || length > n || first > n - length) {
    RaiseStatus(OutOfRange("start ", int64_t{start}, " and length ", int64_t{length},
                           " lie outside dim ", *at, " of x ", x.shape().ToString()),
                kName);
  }
  return Slice(x, *at, first, first + length);
}

Tensor SliceScatter(const Tensor& x, const Tensor& source, Integer dim, Integer start, Integer end,
                    Integer step) {
  return Apply1(TheOp<"slice_scatter">(), {x, source}, SliceAttrs{dim, start, end, step});
}

}  // namespace firn
