// permute: a view with the dimensions in another order.
//
// transpose: a view with two dimensions swapped.
//
// flip: a copy from a view with negative strides.

#include "firn/tensor/ops/shape/permute.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

// `dims` with negative entries counted from the end, in the order given; an error unless each is a
// dimension of x that occurs once.
absl::StatusOr<Dims> Distinct(absl::Span<const int64_t> dims, const Shape& x) {
  FIRN_RETURN_IF_ERROR(NormalizeDims(dims, x).status());
  Dims result;
  for (int64_t d : dims) result.push_back(d < 0 ? d + x.rank() : d);
  return result;
}

absl::StatusOr<Dims> PermutationOf(absl::Span<const int64_t> dims, const Shape& x) {
  FIRN_RETURN_IF(dims.size() != static_cast<size_t>(x.rank()),
                 InvalidArgument("dims {", absl::StrJoin(dims, ", "),
                                 "} do not name every dimension of x ", x.ToString(), " once"));
  return Distinct(dims, x);
}

absl::Status InferPermute(InferContext& c) {
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Dims dims, PermutationOf(c.attrs<PermuteAttrs>().dims, x));
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int64_t d : dims.span()) {
    sizes.push_back(x[d]);
    strides.push_back(own[d]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void GradPermute(GradContext& g) {
  DimList inverse = g.attrs<PermuteAttrs>().dims;
  int64_t place = 0;
  for (int64_t d : g.attrs<PermuteAttrs>().dims) {
    inverse[d < 0 ? d + inverse.rank : d] = place++;
  }
  g.set_grad_input(0, Permute(g.grad_output(), inverse));
}

FIRN_REGISTER_OP(permute) {
  return ViewOp("A view with the dimensions in the order of dims.", AttrsOf<PermuteAttrs>(),
                InferPermute, GradPermute);
}

// The argument of Permute that does the same as Movedim.
absl::StatusOr<DimList> Moved(const Shape& x, absl::Span<const int64_t> source,
                              absl::Span<const int64_t> destination) {
  FIRN_RETURN_IF(
      source.size() != destination.size(),
      InvalidArgument(source.size(), " dims in source, ", destination.size(), " in destination"));
  FIRN_ASSIGN_OR_RETURN(const Dims from, Distinct(source, x));
  FIRN_ASSIGN_OR_RETURN(const Dims to, Distinct(destination, x));
  if (x.rank() == 0) return DimList();  // accepts a dim but has none
  DimList dims(Dims(x.rank(), -1));
  Dims is_moved(x.rank(), 0);
  for (int i = 0; i < from.rank; ++i) {
    dims[to[i]] = from[i];
    is_moved[from[i]] = 1;
  }
  int next = 0;
  for (int64_t& d : dims) {
    if (d >= 0) continue;
    while (is_moved[next] != 0) ++next;
    d = next++;
  }
  return dims;
}

absl::Status InferTranspose(InferContext& c) {
  const TransposeAttrs& a = c.attrs<TransposeAttrs>();
  FIRN_ASSIGN_OR_RETURN(const int dim0, NormalizeDim(a.dim0, c.shape(0)));
  FIRN_ASSIGN_OR_RETURN(const int dim1, NormalizeDim(a.dim1, c.shape(0)));
  Dims sizes = c.shape(0).dims();
  Dims strides = ViewStrides(c.in(0));
  if (dim0 != dim1) {  // rank 0 accepts a dim but has none
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void GradTranspose(GradContext& g) {
  g.set_grad_input(0, Apply1(TheOp<"transpose">(), {g.grad_output()}, g.attrs<TransposeAttrs>()));
}

FIRN_REGISTER_OP(transpose) {
  return ViewOp("A view with two dimensions swapped.", AttrsOf<TransposeAttrs>(), InferTranspose,
                GradTranspose);
}

absl::Status InferFlip(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDims(c.attrs<FlipAttrs>().dims, c.shape(0)).status());
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  Dims strides = x.layout.strides;
  int64_t offset = 0;
  for (int64_t given : k.attrs<FlipAttrs>().dims) {
    if (x.shape.rank() == 0) continue;
    const int d = static_cast<int>(given < 0 ? given + x.shape.rank() : given);
    offset += (x.shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  const TensorSpec reversed = TensorSpec::Strided(x.dtype, x.shape, x.device, strides);
  return CopyElements(reversed, k.in<char>(0) + offset * SizeOf(x.dtype), k.out_spec(),
                      k.out<char>(), k.stream());
}

void GradFlip(GradContext& g) {
  g.set_grad_input(0, Flip(g.grad_output(), g.attrs<FlipAttrs>().dims));
}

FIRN_REGISTER_OP(flip) {
  return {
      .doc = "A copy with the order along dims reversed.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<FlipAttrs>(),
      .infer = InferFlip,
      .grad = GradFlip,
      .kernels = OnEveryDevice({.name = "copy", .run = Run, .takes = Takes::kStrided}),
  };
}

}  // namespace

Tensor Permute(const Tensor& x, const DimList& dims) {
  return Apply1(TheOp<"permute">(), {x}, PermuteAttrs{dims});
}

Tensor Movedim(const Tensor& x, const DimList& source, const DimList& destination) {
  CheckDefined(x, "movedim");
  const absl::StatusOr<DimList> dims = Moved(x.shape(), source, destination);
  RaiseIfError(dims.status(), "movedim");
  return Permute(x, *dims);
}

Tensor Transpose(const Tensor& x, Integer dim0, Integer dim1) {
  return Apply1(TheOp<"transpose">(), {x}, TransposeAttrs{dim0, dim1});
}

Tensor Flip(const Tensor& x, const DimList& dims) {
  return Apply1(TheOp<"flip">(), {x}, FlipAttrs{dims});
}

}  // namespace firn
