// inv: the LU factors, in scratch memory, give the inverse. With Y = A^-1,
// dA = -Y^T dY Y^T.
//
// solve: with X = A^-1 B, dB = A^-T dX and dA = -dB X^T.
//
// det, slogdet: the product of U's diagonal and the sign of the permutation.
//
// cofactor: the gradient of det, C = det(A) A^-T. Both come from the same factors, so that errors
// of the smallest pivot cancel; but where that pivot is 0, or 0 up to rounding, or the inverse
// exceeds the dtype, C comes from a factorisation with complete pivoting, which needs no inverse
// (cofactor_body.h) and takes many times as long; powers of 2 are taken out of rows and columns
// first. dC = <A^-T, dA> C - C dA^T A^-T, so that the gradient for an incoming G is (<G, C> - C
// G^T) A^-T.

#include "firn/tensor/ops/linalg/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/device/macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/scaled_product.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/linalg/batch_body.h"
#include "firn/tensor/ops/linalg/cofactor_body.h"
#include "firn/tensor/ops/linalg/factor_body.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// Memory for the factors of one matrix besides that of LuInPlace: pivots, and for cofactors four
// times as many numbers.
template <class T>
struct LuPlaces {
  static size_t Bytes(int64_t n) {
    return static_cast<size_t>(n * n + cpu::LuScratch(n)) * sizeof(T) +
           4 * static_cast<size_t>(n) * sizeof(int32_t);
  }
  LuPlaces(void* at, int64_t n)
      : lu(static_cast<T*>(at)),
        scratch(lu + n * n),
        rows(reinterpret_cast<int32_t*>(scratch + cpu::LuScratch(n))) {}
  T *lu, *scratch;
  int32_t* rows;
};

// `count` systems with matrices like a's, each with `columns` right sides.
cpu::PerMatrix LuPlan(const TensorSpec& a, int64_t count, int64_t columns) {
  const int64_t n = a.shape.dim(-1);
  const double square = static_cast<double>(n) * static_cast<double>(n);
  const size_t bytes =
      a.dtype == DType::kF32 ? LuPlaces<float>::Bytes(n) : LuPlaces<double>::Bytes(n);
  return {count, square * (static_cast<double>(n) + static_cast<double>(columns)), bytes};
}
cpu::PerMatrix LuPlan(const TensorSpec& a) {
  const Matrices m(a.shape);
  return LuPlan(a, m.count, m.columns);
}

size_t Workspace(const KernelQuery& q) { return LuPlan(q.in(0)).workspace(); }

// The factors of a matrix; the row of a pivot that is 0, or -1.
template <class T>
int64_t Factor(const T* a, int64_t n, const LuPlaces<T>& to) {
  std::copy_n(a, n * n, to.lu);
  cpu::LuInPlace(to.lu, n, to.rows, to.scratch);
  return cpu::FirstZeroPivot(cpu::Triangle<T>{to.lu, {n, 1}, true}, n);
}

absl::Status Singular(const Shape& a, int64_t matrix, int64_t row) {
  return InvalidArgument(NameOfMatrix("a", a, matrix), " is singular: pivot ", row, " is 0");
}

absl::Status InferSquareToSquare(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckSquare(c, 0));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

OpDef MatrixOp(std::string_view doc, std::string_view result) {
  return {.doc = doc,
          .autocast = Autocast::kFull,
          .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2}},
          .outputs = {{.name = result}}};
}

// --- inv -----------------------------------------------------------------------------------------

absl::Status RunInv(KernelContext& k) {
  const Matrices m(k.in_spec(0).shape);
  const int64_t n = m.rows;
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* const a = k.in<T>(0);
    T* const y = k.out<T>();
    const cpu::Failed failed = cpu::ForEachMatrix(
        LuPlan(k.in_spec(0)), k.workspace(), [&](int64_t i, void* scratch) -> int64_t {
          const LuPlaces<T> at(scratch, n);
          const int64_t zero = Factor(a + i * n * n, n, at);
          if (zero >= 0) return zero;
          cpu::LuInverse(at.lu, n, at.rows, false, y + i * n * n, at.scratch);
          return -1;
        });
    return failed.any() ? Singular(k.in_spec(0).shape, failed.matrix, failed.row)
                        : absl::OkStatus();
  });
}

void GradInv(GradContext& g) {
  const Tensor& y = g.output(0);
  g.set_grad_input(0, Neg(Matmul(Matmul(y, g.grad_output(), true), y, false, true)));
}

FIRN_REGISTER_OP(inv) {
  OpDef op = MatrixOp("The inverse matrices.", "y");
  op.infer = InferSquareToSquare;
  op.grad = GradInv;
  op.saves = {Saved::Output(0)};
  op.kernels = {{.name = "loop", .workspace = Workspace, .run = RunInv}};
  return op;
}

// --- solve ---------------------------------------------------------------------------------------

// b as matrices.
Shape RightSides(const Shape& a, const Shape& b) {
  if (!IsVectors(a, b)) return b;
  Dims d = b.dims();
  d.push_back(1);
  return Shape::Trusted(d);
}

absl::Status InferSolve(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckSquare(c, 0));
  const Shape &a = c.shape(0), b = RightSides(a, c.shape(1));
  FIRN_RETURN_IF(
      b.dim(-2) != a.dim(-1),
      InvalidArgument("b must have matrices of ", a.dim(-1), " rows like a ", a.ToString(),
                      ", or vectors of that size, got ", c.shape(1).ToString()));
  absl::StatusOr<Shape> batch =
      BroadcastShapes(Shape::Trusted(BatchDims(a)), Shape::Trusted(BatchDims(b)));
  FIRN_RETURN_IF(!batch.ok(), InvalidArgument("the batches of a ", a.ToString(), " and b ",
                                              c.shape(1).ToString(), " do not broadcast"));
  Dims x = batch->dims();
  x.push_back(b.dim(-2));
  if (!IsVectors(a, c.shape(1))) x.push_back(b.dim(-1));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(x.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

Matrices SolutionsOf(const TensorSpec& a, const TensorSpec& b, const TensorSpec& x) {
  if (!IsVectors(a.shape, b.shape)) return Matrices(x.shape);
  Dims d = x.shape.dims();
  d.push_back(1);
  return Matrices(Shape::Trusted(d));
}

size_t SolveWorkspace(const KernelQuery& q) {
  const Matrices m = SolutionsOf(q.in(0), q.in(1), q.out());
  return LuPlan(q.in(0), m.count, m.columns).workspace();
}

absl::Status RunSolve(KernelContext& k) {
  const Matrices m = SolutionsOf(k.in_spec(0), k.in_spec(1), k.out_spec());
  const Shape &a = k.in_spec(0).shape, b = RightSides(a, k.in_spec(1).shape);
  Dims batch = k.out_spec().shape.dims();
  batch.rank -= IsVectors(a, k.in_spec(1).shape) ? 1 : 2;
  const BroadcastBatch of_a(BatchDims(a), batch), of_b(BatchDims(b), batch);
  const int64_t n = a.dim(-1);
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T *const from_a = k.in<T>(0), *const from_b = k.in<T>(1);
    T* const x = k.out<T>();
    const cpu::Failed failed = cpu::ForEachMatrix(
        LuPlan(k.in_spec(0), m.count, m.columns), k.workspace(),
        [&](int64_t i, void* scratch) -> int64_t {
          const LuPlaces<T> at(scratch, n);
          const int64_t zero = Factor(from_a + of_a.At(i) * n * n, n, at);
          if (zero >= 0) return zero;
          std::copy_n(from_b + of_b.At(i) * m.size(), m.size(), x + i * m.size());
          cpu::LuSolve(at.lu, n, at.rows, m.columns, x + i * m.size(), at.scratch);
          return -1;
        });
    return failed.any() ? Singular(a, of_a.At(failed.matrix), failed.row) : absl::OkStatus();
  });
}

void GradSolve(GradContext& g) {
  const Tensor &a = g.input(0), &x = g.output(0);
  const bool vectors = x.rank() < a.rank();
  const Tensor dx = vectors ? Unsqueeze(g.grad_output(), -1) : g.grad_output();
  const Tensor db = Solve(MatrixTranspose(a), dx);
  if (g.needs(0)) {
    g.set_grad_input(0, Neg(Matmul(db, vectors ? Unsqueeze(x, -1) : x, false, true)));
  }
  if (g.needs(1)) g.set_grad_input(1, vectors ? Squeeze(db, {-1}) : db);
}

FIRN_REGISTER_OP(solve) {
  return {
      .doc = "The X of A X = B.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2},
                 {.name = "b", .dtypes = kDecomposed, .same_dtype_as = "a", .min_rank = 1}},
      .outputs = {{.name = "x"}},
      .infer = InferSolve,
      .grad = GradSolve,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {{.name = "loop", .workspace = SolveWorkspace, .run = RunSolve}},
  };
}

// --- det, slogdet --------------------------------------------------------------------------------

absl::Status InferDet(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckSquare(c, 0));
  c.set_out(0, c.dtype(0), Shape::Trusted(BatchDims(c.shape(0))));
  return absl::OkStatus();
}

absl::Status InferSlogdet(InferContext& c) {
  FIRN_RETURN_IF_ERROR(InferDet(c));
  c.set_out(1, c.dtype(0), Shape::Trusted(BatchDims(c.shape(0))));
  return absl::OkStatus();
}

// Calls f(i, exchanged rows, U, n) for each matrix; U's diagonal is every (n + 1)-st element.
template <class T, class F>
void ForEachFactored(KernelContext& k, const F& f) {
  const Matrices m(k.in_spec(0).shape);
  const T* const a = k.in<T>(0);
  cpu::ForEachMatrix(LuPlan(k.in_spec(0)), k.workspace(), [&](int64_t i, void* scratch) -> int64_t {
    const LuPlaces<T> at(scratch, m.rows);
    Factor(a + i * m.size(), m.rows, at);
    f(i, at.rows, at.lu, m.rows);
    return -1;
  });
}

absl::Status RunDet(KernelContext& k) {
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    T* const y = k.out<T>();
    ForEachFactored<T>(k, [y](int64_t i, const int32_t* pivots, const T* u, int64_t n) {
      y[i] = cpu::DeterminantOf(u, n, pivots);
    });
    return absl::OkStatus();
  });
}

absl::Status RunSlogdet(KernelContext& k) {
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    T *const signs = k.out<T>(0), *const logs = k.out<T>(1);
    ForEachFactored<T>(k, [=](int64_t i, const int32_t* pivots, const T* u, int64_t n) {
      T sign = cpu::SignOfPivots<T>(pivots, n), log = 0;
      for (int64_t j = 0; j < n; ++j) {
        const T v = u[j * (n + 1)];
        sign = v < 0 ? -sign : v == T(0) ? T(0) : v != v ? v : sign;
        log += std::log(std::abs(v));
      }
      signs[i] = sign;
      logs[i] = log;
    });
    return absl::OkStatus();
  });
}

Tensor Cofactor(const Tensor& a) { return Apply1(TheOp<"cofactor">(), {a}); }

void GradDet(GradContext& g) {
  g.set_grad_input(0, Mul(AsMatrices(g.grad_output()), Cofactor(g.input(0))));
}

void GradSlogdet(GradContext& g) {
  g.set_grad_input(0, Mul(AsMatrices(g.grad_output(1)), MatrixTranspose(Inv(g.input(0)))));
}

FIRN_REGISTER_OP(det) {
  OpDef op = MatrixOp("The determinants.", "y");
  op.infer = InferDet;
  op.grad = GradDet;
  op.saves = {Saved::Input(0)};
  op.kernels = {{.name = "loop", .workspace = Workspace, .run = RunDet}};
  return op;
}

FIRN_REGISTER_OP(slogdet) {
  OpDef op = MatrixOp("Sign and logarithm of the absolute value of determinants.", "sign");
  op.outputs[0].constant = true;
  op.outputs.push_back({.name = "logabsdet"});
  op.infer = InferSlogdet;
  op.grad = GradSlogdet;
  op.saves = {Saved::Input(0)};
  op.kernels = {{.name = "loop", .workspace = Workspace, .run = RunSlogdet}};
  return op;
}

// --- cofactor ------------------------------------------------------------------------------------

// y = det(A) A^-T; returns whether A is regular and its inverse within the range of T.
template <class T>
bool CofactorOfRegular(const T* a, int64_t n, const LuPlaces<T>& at, T* y) {
  Factor(a, n, at);
  // The determinant times a power of 2, because it may exceed T where cofactors do not.
  ScaledProduct<T> det{cpu::SignOfPivots<T>(at.rows, n)};
  for (int64_t j = 0; j < n; ++j) det.Times(at.lu[j * (n + 1)]);
  if (!std::isfinite(det.part) || !cpu::IsRegular(at.lu, n)) return false;
  cpu::LuInverse(at.lu, n, at.rows, true, y, at.scratch);
  T sum = 0;  // NaN where one is infinite or NaN
  FIRN_SUMS_IN_ANY_ORDER(sum)
  for (int64_t j = 0; j < n * n; ++j) sum += y[j] * T(0);
  if (sum != T(0)) return false;
  // Powers of 2 within T: three of them lead from its smallest number beyond its largest.
  constexpr int64_t kMost = std::numeric_limits<T>::max_exponent - 2;
  T factors[] = {det.part, 1, 1};
  for (int i = 0; i < 3; ++i) {
    const int64_t part = std::clamp(det.exponent / (3 - i), -kMost, kMost);
    factors[i] = std::ldexp(factors[i], static_cast<int>(part));
    det.exponent -= part;
  }
  for (int64_t j = 0; j < n * n; ++j) y[j] = y[j] * factors[0] * factors[1] * factors[2];
  return true;
}

template <class T>
void CofactorOf(const T* a, int64_t n, const LuPlaces<T>& at, T* y) {
  if (CofactorOfRegular(a, n, at, y)) return;
  std::copy_n(a, n * n, at.lu);
  cpu::Cofactors(at.lu, n, at.rows, y);
}

absl::Status RunCofactor(KernelContext& k) {
  const Matrices m(k.in_spec(0).shape);
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* const a = k.in<T>(0);
    T* const y = k.out<T>();
    cpu::ForEachMatrix(
        LuPlan(k.in_spec(0)), k.workspace(), [&](int64_t i, void* scratch) -> int64_t {
          CofactorOf(a + i * m.size(), m.rows, LuPlaces<T>(scratch, m.rows), y + i * m.size());
          return -1;
        });
    return absl::OkStatus();
  });
}

void GradCofactor(GradContext& g) {
  const Tensor &c = g.output(0), &dc = g.grad_output();
  const Tensor both = Sum(Mul(dc, c), {-2, -1}, true);
  const Tensor left = Sub(Where(OnDiagonal(c), both, 0.0), Matmul(c, dc, false, true));
  g.set_grad_input(0, Matmul(left, Inv(g.input(0)), false, true));
}

FIRN_REGISTER_OP(cofactor) {
  OpDef op = MatrixOp("The cofactors of matrices, the gradient of det.", "c");
  op.infer = InferSquareToSquare;
  op.grad = GradCofactor;
  op.saves = {Saved::Input(0), Saved::Output(0)};
  op.kernels = {{.name = "loop", .workspace = Workspace, .run = RunCofactor}};
  return op;
}

}  // namespace

Tensor Inv(const Tensor& a) { return Apply1(TheOp<"inv">(), {a}); }

Tensor Solve(const Tensor& a, const Tensor& b) { return Apply1(TheOp<"solve">(), {a, b}); }

Tensor Det(const Tensor& a) { return Apply1(TheOp<"det">(), {a}); }

SignAndLogAbsDet Slogdet(const Tensor& a) {
  TensorList out = Apply(TheOp<"slogdet">(), {a});
  return {out[0], out[1]};
}

}  // namespace firn
