// permute: a view with the dimensions in another order.

#include "tensor/ops/permute.h"

#include "absl/strings/str_join.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/view.h"

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

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Dims dims, PermutationOf(c.attrs<PermuteAttrs>().dims, x));
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int64_t d : dims.span()) {
    sizes.push_back(x[static_cast<int>(d)]);
    strides.push_back(own[static_cast<int>(d)]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  DimList inverse = g.attrs<PermuteAttrs>().dims;
  int64_t place = 0;
  for (int64_t d : g.attrs<PermuteAttrs>().dims) {
    inverse[static_cast<int>(d < 0 ? d + inverse.rank : d)] = place++;
  }
  g.set_grad_input(0, Permute(g.grad_output(), inverse));
}

FIRN_REGISTER_OP(permute) {
  return ViewOp("permute", "A view with the dimensions in the order of dims.",
                AttrsOf<PermuteAttrs>(), Infer, Grad);
}

// The argument of Permute that does what Movedim says.
absl::StatusOr<DimList> Moved(const Shape& x, absl::Span<const int64_t> source,
                              absl::Span<const int64_t> destination) {
  FIRN_RETURN_IF(
      source.size() != destination.size(),
      InvalidArgument(source.size(), " dims in source, ", destination.size(), " in destination"));
  FIRN_ASSIGN_OR_RETURN(const Dims from, Distinct(source, x));
  FIRN_ASSIGN_OR_RETURN(const Dims to, Distinct(destination, x));
  DimList dims(Dims(x.rank(), -1));
  Dims is_moved(x.rank(), 0);
  for (int i = 0; i < from.rank; ++i) {
    dims[static_cast<int>(to[i])] = from[i];
    is_moved[static_cast<int>(from[i])] = 1;
  }
  int next = 0;
  for (int64_t& d : dims) {
    if (d >= 0) continue;
    while (is_moved[next] != 0) ++next;
    d = next++;
  }
  return dims;
}

}  // namespace

Tensor Permute(const Tensor& x, const DimList& dims) {
  static const OpDef& op = Op("permute");
  return Apply1(op, {x}, PermuteAttrs{dims});
}

Tensor Movedim(const Tensor& x, const DimList& source, const DimList& destination) {
  CheckDefined(x, "movedim");
  const absl::StatusOr<DimList> dims = Moved(x.shape(), source, destination);
  RaiseIfError(dims.status(), "movedim");
  return Permute(x, *dims);
}

}  // namespace firn
