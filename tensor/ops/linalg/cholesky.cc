// cholesky: the factor is computed in the upper triangle, whose rows are contiguous, and transposed
// at the end where the lower one is wanted. With S = L^-T phi(L^T dL) L^-1, phi the lower triangle
// with half the diagonal, dA = (S + S^T) / 2 (Murray, "Differentiation of the Cholesky
// decomposition", 2016).
//
// solve_triangular: X A = B is solved as A^T X^T = B^T, in scratch memory. With X = A^-1 B,
// dB = A^-T dX and dA = -dB X^T in A's triangle.

#include "firn/tensor/ops/linalg/cholesky.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/linalg/batch_body.h"
#include "firn/tensor/ops/linalg/factor_body.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linear/matmul.h"

namespace firn {
namespace {

double Cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n * n); }

// --- cholesky ------------------------------------------------------------------------------------

absl::Status InferCholesky(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckSquare(c, 0));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

cpu::PerMatrix CholeskyPlan(const TensorSpec& a) {
  const Matrices m(a.shape);
  const int64_t scratch = m.rows > cpu::kBlock ? cpu::CholeskyScratch() : 0;
  return {m.count, Cube(m.rows) / 3, static_cast<size_t>(scratch * SizeOf(a.dtype))};
}

size_t CholeskyWorkspace(const KernelQuery& q) { return CholeskyPlan(q.in(0)).workspace(); }

// The triangle of x that is read, as the upper one of y.
template <class T>
int64_t CholeskyOf(const T* x, int64_t n, bool upper, T* y, T* scratch) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) y[i * n + j] = x[upper ? i * n + j : j * n + i];
  }
  const int64_t bad = cpu::CholeskyInPlace(y, n, scratch);
  for (int64_t i = 1; i < n; ++i) std::fill_n(y + i * n, i, T(0));  // blocks reach beyond it
  if (!upper) cpu::TransposeInPlace(y, n);
  return bad;
}

absl::Status RunCholesky(KernelContext& k) {
  const bool upper = k.attrs<CholeskyAttrs>().upper;
  const Matrices m(k.in_spec(0).shape);
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* const x = k.in<T>(0);
    T* const y = k.out<T>();
    const cpu::Failed failed = cpu::ForEachMatrix(
        CholeskyPlan(k.in_spec(0)), k.workspace(), [&](int64_t i, void* scratch) {
          const int64_t at = i * m.size();
          return CholeskyOf(x + at, m.rows, upper, y + at, static_cast<T*>(scratch));
        });
    FIRN_RETURN_IF(failed.any(),
                   InvalidArgument(NameOfMatrix("a", k.in_spec(0).shape, failed.matrix),
                                   " is not positive definite: the leading minor of order ",
                                   failed.row + 1, " is not"));
    return absl::OkStatus();
  });
}

void GradCholesky(GradContext& g) {
  const bool upper = g.attrs<CholeskyAttrs>().upper;
  const Tensor l = upper ? MatrixTranspose(g.output(0)) : g.output(0);
  const Tensor dl = upper ? MatrixTranspose(g.grad_output()) : g.grad_output();
  const Tensor lt = MatrixTranspose(l);
  const Tensor phi = HalfDiagonal(LowerTriangle(Matmul(lt, dl)));
  const Tensor s = SolveTriangular(l, SolveTriangular(lt, phi, true), false, {.left = false});
  g.set_grad_input(0, Symmetrized(s));
}

FIRN_REGISTER_OP(cholesky) {
  return {
      .doc = "L with A = L L^T for symmetric positive definite matrices A.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2}},
      .outputs = {{.name = "l"}},
      .attrs = AttrsOf<CholeskyAttrs>(),
      .infer = InferCholesky,
      .grad = GradCholesky,
      .saves = {Saved::Output(0)},
      .kernels = {{.name = "loop", .workspace = CholeskyWorkspace, .run = RunCholesky}},
  };
}

// --- solve_triangular ----------------------------------------------------------------------------

absl::Status InferSolveTriangular(InferContext& c) {
  const bool left = c.attrs<SolveTriangularAttrs>().left;
  FIRN_RETURN_IF_ERROR(CheckSquare(c, 0));
  const Shape &a = c.shape(0), &b = c.shape(1);
  FIRN_RETURN_IF(b.dim(left ? -2 : -1) != a.dim(-1),
                 InvalidArgument("b must have matrices of ", a.dim(-1), left ? " rows" : " columns",
                                 " like a ", a.ToString(), ", got ", b.ToString()));
  absl::StatusOr<Shape> batch =
      BroadcastShapes(Shape::Trusted(BatchDims(a)), Shape::Trusted(BatchDims(b)));
  FIRN_RETURN_IF(!batch.ok(), InvalidArgument("the batches of a ", a.ToString(), " and b ",
                                              b.ToString(), " do not broadcast"));
  FIRN_ASSIGN_OR_RETURN(const Shape x, ShapeOfMatrices(batch->dims(), b.dim(-2), b.dim(-1)));
  c.set_out(0, c.dtype(0), x);
  return absl::OkStatus();
}

// Scratch: that of SolveTriangularInPlace, and B^T where A is on the right.
cpu::PerMatrix SolveTriangularPlan(const TensorSpec& a, const TensorSpec& x, bool left) {
  const Matrices m(x.shape);
  const int64_t n = a.shape.dim(-1);
  const int64_t scratch = cpu::SolveScratch(n) + (left ? 0 : m.size());
  return {m.count, static_cast<double>(n) * static_cast<double>(m.size()),
          static_cast<size_t>(scratch * SizeOf(a.dtype))};
}

size_t SolveTriangularWorkspace(const KernelQuery& q) {
  return SolveTriangularPlan(q.in(0), q.out(), q.attrs<SolveTriangularAttrs>().left).workspace();
}

template <class T>
int64_t SolveTriangularOf(const T* a, int64_t n, const T* b, const Matrices& m,
                          const SolveTriangularAttrs& at, T* x, T* scratch) {
  const MatrixStrides by_rows = {n, 1}, by_columns = {1, n};
  // The transposed of a triangle is the other one.
  const cpu::Triangle<T> triangle{a, at.left ? by_rows : by_columns, at.upper == at.left,
                                  at.unit_diagonal};
  const int64_t zero = cpu::FirstZeroPivot(triangle, n);
  if (zero >= 0) return zero;
  if (at.left) {
    std::copy_n(b, m.size(), x);
    cpu::SolveTriangularInPlace(triangle, n, m.columns, x, m.columns, scratch);
  } else {
    T* const turned = scratch + cpu::SolveScratch(n);
    cpu::TransposeTo(b, m.rows, m.columns, turned);
    cpu::SolveTriangularInPlace(triangle, n, m.rows, turned, m.rows, scratch);
    cpu::TransposeTo(turned, m.columns, m.rows, x);
  }
  return -1;
}

absl::Status RunSolveTriangular(KernelContext& k) {
  const SolveTriangularAttrs& at = k.attrs<SolveTriangularAttrs>();
  const Shape &a = k.in_spec(0).shape, &b = k.in_spec(1).shape, &x = k.out_spec().shape;
  const Matrices m(x);
  const int64_t n = a.dim(-1);
  const BroadcastBatch of_a(BatchDims(a), BatchDims(x)), of_b(BatchDims(b), BatchDims(x));
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T *const from_a = k.in<T>(0), *const from_b = k.in<T>(1);
    T* const to = k.out<T>();
    const cpu::Failed failed = cpu::ForEachMatrix(
        SolveTriangularPlan(k.in_spec(0), k.out_spec(), at.left), k.workspace(),
        [&](int64_t i, void* scratch) {
          return SolveTriangularOf(from_a + of_a.At(i) * n * n, n, from_b + of_b.At(i) * m.size(),
                                   m, at, to + i * m.size(), static_cast<T*>(scratch));
        });
    FIRN_RETURN_IF(failed.any(),
                   InvalidArgument(NameOfMatrix("a", a, of_a.At(failed.matrix)),
                                   " is singular: element ", failed.row, " of its diagonal is 0"));
    return absl::OkStatus();
  });
}

void GradSolveTriangular(GradContext& g) {
  const SolveTriangularAttrs& at = g.attrs<SolveTriangularAttrs>();
  const SolveTriangularOptions options{.left = at.left, .unit_diagonal = at.unit_diagonal};
  const Tensor db =
      SolveTriangular(MatrixTranspose(g.input(0)), g.grad_output(), !at.upper, options);
  if (g.needs(0)) {
    const Tensor& x = g.output(0);
    const Tensor da = Neg(at.left ? Matmul(db, x, false, true) : Matmul(x, db, true, false));
    g.set_grad_input(
        0, at.upper ? UpperTriangle(da, at.unit_diagonal) : LowerTriangle(da, at.unit_diagonal));
  }
  if (g.needs(1)) g.set_grad_input(1, db);
}

FIRN_REGISTER_OP(solve_triangular) {
  return {
      .doc = "The X of A X = B, or of X A = B, with triangles A.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2},
                 {.name = "b", .dtypes = kDecomposed, .same_dtype_as = "a", .min_rank = 2}},
      .outputs = {{.name = "x"}},
      .attrs = AttrsOf<SolveTriangularAttrs>(),
      .infer = InferSolveTriangular,
      .grad = GradSolveTriangular,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {{.name = "loop",
                   .workspace = SolveTriangularWorkspace,
                   .run = RunSolveTriangular}},
  };
}

}  // namespace

Tensor Cholesky(const Tensor& a, Flag upper) {
  return Apply1(TheOp<"cholesky">(), {a}, CholeskyAttrs{upper});
}

Tensor SolveTriangular(const Tensor& a, const Tensor& b, Flag upper,
                       const SolveTriangularOptions& options) {
  return Apply1(TheOp<"solve_triangular">(), {a, b},
                SolveTriangularAttrs{upper, options.left, options.unit_diagonal});
}

}  // namespace firn
