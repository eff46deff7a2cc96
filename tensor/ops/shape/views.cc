// reshape: a view where possible.
//
// flatten: a reshape that keeps its meaning when sizes change.
//
// unflatten: reshape, with the sizes of one dimension.
//
// squeeze: a view without dimensions of size 1.
//
// unsqueeze: a view with one more dimension.

#include "firn/tensor/ops/shape/views.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_join.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn {
namespace {

absl::Status InferReshape(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(c.attrs<ShapeAttrs>().shape.span()));
  FIRN_RETURN_IF(
      shape.num_elements() != c.shape(0).num_elements(),
      InvalidArgument("x ", c.shape(0).ToString(), " has ", c.shape(0).num_elements(),
                      " elements, shape ", shape.ToString(), " has ", shape.num_elements()));
  const std::optional<Dims> strides = ReshapedStrides(c.in(0), shape);
  FIRN_RETURN_IF(!strides, InvalidArgument("x ", c.in(0).ToString(), " cannot be viewed as ",
                                           shape.ToString(), " without copying"));
  c.set_view(shape, *strides, 0);
  return absl::OkStatus();
}

void GradReshape(GradContext& g) {
  g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0)));
}

FIRN_REGISTER_OP(reshape) {
  return ViewOp("The same elements in another shape; a view when strides allow, else a copy.",
                AttrsOf<ShapeAttrs>(), InferReshape, GradReshape);
}

// `sizes` with its -1 replaced.
Shape Resolve(const Tensor& x, absl::Span<const int64_t> sizes) {
  Dims dims;
  int64_t known = 1;
  int unknown = -1;
  if (sizes.size() <= static_cast<size_t>(kMaxRank)) {
    for (int64_t s : sizes) {
      if (s == -1 && unknown < 0) {
        unknown = dims.rank;
      } else if (__builtin_mul_overflow(known, s, &known)) {
        break;  // Shape reports it
      }
      dims.push_back(s);
    }
  }
  if (unknown >= 0) {
    if (known <= 0 || x.num_elements() % known != 0) {
      RaiseStatus(InvalidArgument("the -1 in a shape with the other sizes ", known,
                                  " cannot be found for x ", x.shape().ToString()),
                  "reshape");
    }
    dims[unknown] = x.num_elements() / known;
    return Shape(dims.span());
  }
  return Shape(sizes);
}

absl::StatusOr<Shape> FlattenedShape(const Shape& x, const FlattenAttrs& a) {
  FIRN_ASSIGN_OR_RETURN(const int start, NormalizeDim(a.start_dim, x));
  FIRN_ASSIGN_OR_RETURN(const int end, NormalizeDim(a.end_dim, x));
  FIRN_RETURN_IF(start > end, InvalidArgument("start_dim ", a.start_dim, " lies behind end_dim ",
                                              a.end_dim, " of x ", x.ToString()));
  if (x.rank() == 0) return Shape::Trusted(Dims(1, 1));
  Dims sizes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i > start && i <= end) {
      sizes[start] *= x[i];
    } else {
      sizes.push_back(x[i]);
    }
  }
  return Shape::Trusted(sizes);
}

absl::Status InferFlatten(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, FlattenedShape(c.shape(0), c.attrs<FlattenAttrs>()));
  const std::optional<Dims> strides = ReshapedStrides(c.in(0), shape);
  FIRN_RETURN_IF(!strides, InvalidArgument("x ", c.in(0).ToString(), " cannot be viewed as ",
                                           shape.ToString(), " without copying"));
  c.set_view(shape, *strides, 0);
  return absl::OkStatus();
}

void GradFlatten(GradContext& g) {
  g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0)));
}

FIRN_REGISTER_OP(flatten) {
  return ViewOp("Dimensions start_dim to end_dim joined into one.", AttrsOf<FlattenAttrs>(),
                InferFlatten, GradFlatten);
}

absl::Status InferSqueeze(InferContext& c) {
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Dims dims, NormalizeDims(c.attrs<SqueezeAttrs>().dims, x));
  const absl::Span<const int64_t> listed = dims.span();
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < x.rank(); ++i) {
    if (x[i] == 1 && std::find(listed.begin(), listed.end(), i) != listed.end()) continue;
    sizes.push_back(x[i]);
    strides.push_back(own[i]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void GradSqueeze(GradContext& g) {
  g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0)));
}

FIRN_REGISTER_OP(squeeze) {
  return ViewOp("A view without the dimensions of size 1 among dims (empty: all).",
                AttrsOf<SqueezeAttrs>(), InferSqueeze, GradSqueeze);
}

absl::Status InferUnsqueeze(InferContext& c) {
  const Shape& x = c.shape(0);
  const int64_t given = c.attrs<DimAttrs>().dim;
  const int rank = x.rank() + 1;
  FIRN_RETURN_IF(rank > kMaxRank, InvalidArgument("x ", x.ToString(),
                                                  " already has the most dimensions, ", kMaxRank));
  FIRN_RETURN_IF(given < -rank || given >= rank,
                 OutOfRange("dim ", given, " is outside [", -rank, ", ", rank - 1, "], where x ",
                            x.ToString(), " can take one more"));
  const int64_t dim = given < 0 ? given + rank : given;
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < rank; ++i) {
    const int from = i < dim ? i : i - 1;
    sizes.push_back(i == dim ? 1 : x[from]);
    strides.push_back(i == dim ? 1 : own[from]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void GradUnsqueeze(GradContext& g) {
  g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0)));
}

FIRN_REGISTER_OP(unsqueeze) {
  return ViewOp("A view with a dimension of size 1 inserted.", AttrsOf<DimAttrs>(), InferUnsqueeze,
                GradUnsqueeze);
}

}  // namespace

Tensor View(const Tensor& x, const Shape& shape) {
  return Apply1(TheOp<"reshape">(), {x}, ShapeAttrs{shape.dims()});
}

Tensor Reshape(const Tensor& x, absl::Span<const int64_t> sizes) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "reshape");
  const Shape shape = Resolve(x, sizes);
  if (x.shape() == shape) return x;
  if (x.num_elements() == shape.num_elements() && !ReshapedStrides(x.spec(), shape)) {
    return View(Contiguous(x), shape);
  }
  return View(x, shape);
}

Tensor Flatten(const Tensor& x, Integer start_dim, Integer end_dim) {
  const OpDef& op = TheOp<"flatten">();
  const FlattenAttrs attrs{start_dim, end_dim};
  if (x.defined() && !x.spec().dense()) {
    const absl::StatusOr<Shape> shape = FlattenedShape(x.shape(), attrs);
    if (shape.ok() && !ReshapedStrides(x.spec(), *shape)) {
      return Apply1(op, {Contiguous(x)}, attrs);
    }
  }
  return Apply1(op, {x}, attrs);
}

Tensor Unflatten(const Tensor& x, Integer dim, const std::vector<int64_t>& sizes) {
  constexpr const char* kName = "unflatten";
  CheckDefined(x, kName);
  const absl::StatusOr<int> at = NormalizeDim(dim, x.shape());
  RaiseIfError(at.status(), kName);
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to split"), kName);
  int64_t known = 1;
  int unknown = 0;
  for (int64_t s : sizes) {
    if (s == -1) {
      ++unknown;
    } else if (s < 0 || __builtin_mul_overflow(known, s, &known)) {
      known = -1;
      break;
    }
  }
  const int64_t n = x.size(*at);
  const bool fits = unknown == 0 ? known == n : unknown == 1 && known > 0 && n % known == 0;
  if (!fits || sizes.empty()) {
    RaiseStatus(InvalidArgument("sizes (", absl::StrJoin(sizes, ", "), ") do not make up the size ",
                                n, " of dim ", *at),
                kName);
  }
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  const auto place = shape.erase(shape.begin() + *at);
  const auto first = shape.insert(place, sizes.begin(), sizes.end());
  std::replace(first, first + static_cast<std::ptrdiff_t>(sizes.size()), int64_t{-1},
               unknown == 1 ? n / known : int64_t{-1});
  return Reshape(x, shape);
}

Tensor Squeeze(const Tensor& x, const DimList& dims) {
  return Apply1(TheOp<"squeeze">(), {x}, SqueezeAttrs{dims});
}

Tensor Unsqueeze(const Tensor& x, Integer dim) {
  return Apply1(TheOp<"unsqueeze">(), {x}, DimAttrs{dim});
}

}  // namespace firn
