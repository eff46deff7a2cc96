// diagonal: a view whose stride is that of a row and that of a column.
//
// diag_embed: its adjoint. Matrices are the last two dimensions, and need not be square: gradients
// of diagonals are not.
//
// tril, triu: of the last two dimensions. Elements of x that are left out may be NaN and get a
// gradient of 0.

#include "firn/tensor/ops/shape/diagonal.h"

#include <algorithm>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/diagonal_body.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/view.h"

namespace firn {
namespace {

struct TwoDims {
  int first, second;
};

absl::StatusOr<TwoDims> ResolveDims(const Shape& x, int64_t dim1, int64_t dim2) {
  FIRN_RETURN_IF(x.rank() < 2,
                 InvalidArgument("x ", x.ToString(), " must have two dimensions or more"));
  FIRN_ASSIGN_OR_RETURN(const int first, NormalizeDim(dim1, x));
  FIRN_ASSIGN_OR_RETURN(const int second, NormalizeDim(dim2, x));
  FIRN_RETURN_IF(first == second, InvalidArgument("dim1 ", dim1, " and dim2 ", dim2,
                                                  " are the same dimension of x ", x.ToString()));
  return TwoDims{first, second};
}

// The number of elements on diagonal `offset` of a matrix.
int64_t DiagonalLength(int64_t rows, int64_t columns, int64_t offset) {
  if (offset >= columns || offset <= -rows) return 0;
  return offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
}

absl::Status InferDiagonal(InferContext& c) {
  const DiagonalAttrs& a = c.attrs<DiagonalAttrs>();
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const TwoDims at, ResolveDims(x, a.dim1, a.dim2));
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == at.first || i == at.second) continue;
    sizes.push_back(x[i]);
    strides.push_back(own[i]);
  }
  const int64_t length = DiagonalLength(x[at.first], x[at.second], a.offset);
  sizes.push_back(length);
  strides.push_back(own[at.first] + own[at.second]);
  int64_t start = 0;  // an empty view begins where x does
  if (length > 0) start = a.offset >= 0 ? a.offset * own[at.second] : -a.offset * own[at.first];
  const Shape shape = Shape::Trusted(sizes);
  c.set_view(shape, strides, shape.num_elements() == 0 ? 0 : start);
  return absl::OkStatus();
}

void GradDiagonal(GradContext& g) {
  const DiagonalAttrs& a = g.attrs<DiagonalAttrs>();
  const Shape& x = g.input_shape(0);
  const TwoDims at = *ResolveDims(x, a.dim1, a.dim2);
  // Beyond the matrix every diagonal is empty.
  const int64_t rows = x[at.first], columns = x[at.second];
  const DiagEmbedAttrs to{std::clamp(a.offset, -rows, columns), rows, columns};
  g.set_grad_input(0, Movedim(OnDiagonal(g.grad_output(), to), {-2, -1}, {at.first, at.second}));
}

FIRN_REGISTER_OP(diagonal) {
  return ViewOp("A view of a diagonal.", AttrsOf<DiagonalAttrs>(), InferDiagonal, GradDiagonal);
}

absl::Status InferDiagEmbed(InferContext& c) {
  const DiagEmbedAttrs& a = c.attrs<DiagEmbedAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(a.rows < 0 || a.columns < 0, InvalidArgument("a matrix cannot have ", a.rows,
                                                              " rows and ", a.columns, " columns"));
  const int64_t length = DiagonalLength(a.rows, a.columns, a.offset);
  FIRN_RETURN_IF(x.dim(-1) != length,
                 InvalidArgument("x ", x.ToString(), " must have ", length,
                                 " elements in its last dimension for diagonal ", a.offset, " of ",
                                 a.rows, " rows and ", a.columns, " columns"));
  Dims sizes = x.dims();
  sizes[sizes.rank - 1] = a.rows;
  sizes.push_back(a.columns);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

void GradDiagEmbed(GradContext& g) {
  g.set_grad_input(0, Diagonal(g.grad_output(), g.attrs<DiagEmbedAttrs>().offset, -2, -1));
}

FIRN_REGISTER_OP(diag_embed) {
  return {
      .doc = "Matrices of zeros with x on a diagonal.",
      .inputs = {{.name = "x", .min_rank = 1, .max_rank = kMaxRank - 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DiagEmbedAttrs>(),
      .infer = InferDiagEmbed,
      .grad = GradDiagEmbed,
      .kernels = cpu::Portable<DiagEmbedKernel>(),
  };
}

OpDef Triangle(std::string_view doc, GradFn grad, std::vector<Kernel> kernels) {
  return {.doc = doc,
          .inputs = {{.name = "x", .min_rank = 2}},
          .outputs = {{.name = "y"}},
          .attrs = AttrsOf<TriangleAttrs>(),
          .infer = InferLikeInput,
          .grad = grad,
          .kernels = std::move(kernels)};
}

void GradTril(GradContext& g) {
  g.set_grad_input(0, Tril(g.grad_output(), g.attrs<TriangleAttrs>().diagonal));
}
void GradTriu(GradContext& g) {
  g.set_grad_input(0, Triu(g.grad_output(), g.attrs<TriangleAttrs>().diagonal));
}

FIRN_REGISTER_OP(tril) {
  return Triangle("x with zeros above a diagonal.", GradTril,
                  cpu::Portable<TriangleKernel<false>>());
}
FIRN_REGISTER_OP(triu) {
  return Triangle("x with zeros below a diagonal.", GradTriu,
                  cpu::Portable<TriangleKernel<true>>());
}

}  // namespace

Tensor inner::OnDiagonal(const Tensor& x, const DiagEmbedAttrs& attrs) {
  return Apply1(TheOp<"diag_embed">(), {x}, attrs);
}

Tensor Diagonal(const Tensor& x, Integer offset, Integer dim1, Integer dim2) {
  return Apply1(TheOp<"diagonal">(), {x}, DiagonalAttrs{offset, dim1, dim2});
}

Tensor DiagEmbed(const Tensor& x, Integer offset, Integer dim1, Integer dim2) {
  const OpDef& op = TheOp<"diag_embed">();
  CheckDefined(x, op.name);
  const int64_t reach = offset < 0 ? -(offset + 1) : int64_t{offset};
  int64_t side = 0;
  if (x.rank() == 0 || __builtin_add_overflow(x.size(-1), reach, &side) ||
      __builtin_add_overflow(side, offset < 0 ? 1 : 0, &side)) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " has no place on diagonal ",
                                int64_t{offset}, " of a matrix"),
                op.name);
  }
  const Tensor y = Apply1(op, {x}, DiagEmbedAttrs{offset, side, side});
  const absl::StatusOr<TwoDims> at = ResolveDims(y.shape(), dim1, dim2);
  RaiseIfError(at.status(), op.name);
  if (at->first == y.rank() - 2 && at->second == y.rank() - 1) return y;
  return Movedim(y, {-2, -1}, {at->first, at->second});
}

Tensor Tril(const Tensor& x, Integer diagonal) {
  return Apply1(TheOp<"tril">(), {x}, TriangleAttrs{diagonal});
}

Tensor Triu(const Tensor& x, Integer diagonal) {
  return Apply1(TheOp<"triu">(), {x}, TriangleAttrs{diagonal});
}

}  // namespace firn
