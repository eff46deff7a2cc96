// pinv: with A = U diag(s) V^T, P = V diag(1 / s) U^T over the singular values that count. For an
// incoming G (Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least
// squares problems whose variables separate", 1973), with A's rank constant,
//   dA = -P^T G P^T + (1 - A P)^T G^T P P^T + P^T P G^T (1 - P A)^T
// which has no differences of singular values to divide by.
//
// lstsq: the solution is P B. The singular values come with P, by an operation of its own.
//
// matrix_power: squares of squares, multiplied where n has a bit.

#include "firn/tensor/ops/linalg/pinv.h"

#include <algorithm>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/linalg/batch_body.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/solve.h"
#include "firn/tensor/ops/linalg/svd.h"
#include "firn/tensor/ops/linalg/svd_body.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const PinvAttrs& at = c.attrs<PinvAttrs>();
  FIRN_RETURN_IF(!(at.atol >= 0), InvalidArgument("atol is ", at.atol, " (want >= 0)"));
  FIRN_RETURN_IF(at.rtol != at.rtol, InvalidArgument("rtol is ", at.rtol, " (want >= 0)"));
  const Shape& a = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Shape p, ShapeOfMatrices(BatchDims(a), a.dim(-1), a.dim(-2)));
  c.set_out(0, c.dtype(0), p);
  return absl::OkStatus();
}

absl::Status InferWithValues(InferContext& c) {
  FIRN_RETURN_IF_ERROR(Infer(c));
  const Shape& a = c.shape(0);
  Dims values = BatchDims(a);
  values.push_back(std::min(a.dim(-2), a.dim(-1)));
  FIRN_ASSIGN_OR_RETURN(const Shape s, Shape::Make(values.span()));
  c.set_out(1, c.dtype(0), s);
  return absl::OkStatus();
}

// Sizes of the matrix that is decomposed: a, or its transpose.
struct TallSizes {
  explicit TallSizes(const Shape& a)
      : turned(a.dim(-2) < a.dim(-1)),
        rows(std::max(a.dim(-2), a.dim(-1))),
        columns(std::min(a.dim(-2), a.dim(-1))) {}
  bool turned;
  int64_t rows, columns;
};

cpu::PerMatrix Plan(const TensorSpec& a) {
  const TallSizes t(a.shape);
  const double columns = static_cast<double>(t.columns);
  const int64_t elements =
      cpu::SvdScratch<double>::Elements(t.rows, t.columns, t.columns) + t.columns;
  return {Matrices(a.shape).count, 30 * columns * columns * static_cast<double>(t.rows + 1),
          static_cast<size_t>(elements * SizeOf(a.dtype))};
}

size_t Workspace(const KernelQuery& q) { return Plan(q.in(0)).workspace(); }

// The pseudoinverse of the tall matrix L diag(s) R, whose factors are in `w`.
template <class T>
void WritePinv(const TallSizes& t, const T* s, T tolerance, const cpu::SvdScratch<T>& w, T* p) {
  const int64_t n = t.columns;
  for (int64_t k = 0; k < n; ++k) {
    const T factor = s[k] > tolerance ? 1 / s[k] : T(0);
    for (int64_t i = 0; i < n; ++i) w.sorted[k * n + i] *= factor;
  }
  // L diag(1 / s) R, which is P for a transposed matrix and P^T otherwise.
  T* const to = t.turned ? p : w.a;
  cpu::Gemm<T>({t.rows, n, n, {n, 1}, {n, 1}, n}, w.q, w.sorted, to, false, nullptr);
  if (!t.turned) cpu::TransposeTo(to, t.rows, n, p);
}

// Output 1, if the call has one, gets the singular values.
template <bool kWithValues>
absl::Status Run(KernelContext& k) {
  const PinvAttrs& at = k.attrs<PinvAttrs>();
  const TensorSpec& a = k.in_spec(0);
  const TallSizes t(a.shape);
  const int64_t size = t.rows * t.columns;
  const double rtol = at.rtol < 0 ? RankTolerance(a) : at.rtol;
  return VisitDecomposed(a.dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* const from = k.in<T>(0);
    T *const p = k.out<T>(0), *values = nullptr;
    if constexpr (kWithValues) values = k.out<T>(1);
    const cpu::Failed failed =
        cpu::ForEachMatrix(Plan(a), k.workspace(), [&](int64_t i, void* scratch) -> int64_t {
          T* const room = static_cast<T*>(scratch);
          T* const s = kWithValues ? values + i * t.columns : room;
          const cpu::SvdScratch<T> w(room + t.columns, t.rows, t.columns, t.columns);
          if (t.turned) {
            cpu::TransposeTo(from + i * size, t.columns, t.rows, w.a);
          } else {
            std::copy_n(from + i * size, size, w.a);
          }
          if (!cpu::Svd(t.rows, t.columns, t.columns, s, w)) return 0;
          const double largest = t.columns > 0 ? static_cast<double>(s[0]) : 0;
          WritePinv(t, s, static_cast<T>(std::max(at.atol, rtol * largest)), w, p + i * size);
          return -1;
        });
    FIRN_RETURN_IF(failed.any(), InvalidArgument(NameOfMatrix("a", a.shape, failed.matrix),
                                                 " has elements that are not finite"));
    return absl::OkStatus();
  });
}

void Grad(GradContext& g) {
  const Tensor &a = g.input(0), &p = g.output(0), &dp = g.grad_output();
  const Tensor pt = MatrixTranspose(p), at = MatrixTranspose(a), dpt = MatrixTranspose(dp);
  const Tensor across = Neg(Matmul(Matmul(pt, dp), pt));
  // p p^T may overflow where products with small dp do not.
  const Tensor right = Matmul(Matmul(dpt, p), pt), left = Matmul(pt, Matmul(p, dpt));
  const Tensor beyond_columns = Sub(right, Matmul(pt, Matmul(at, right)));  // (1 - A P)^T ...
  const Tensor beyond_rows = Sub(left, Matmul(Matmul(left, at), pt));       // ... (1 - P A)^T
  g.set_grad_input(0, Add(across, Add(beyond_columns, beyond_rows)));
}

OpDef PinvOp(std::string_view doc) {
  return {
      .doc = doc,
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2}},
      .outputs = {{.name = "p"}},
      .attrs = AttrsOf<PinvAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Output(0)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run<false>}},
  };
}

FIRN_REGISTER_OP(pinv) { return PinvOp("The pseudoinverses of matrices."); }

FIRN_REGISTER_OP(pinv_values) {
  OpDef op = PinvOp("The pseudoinverses of matrices, and their singular values. CPU only.");
  op.outputs.push_back({.name = "s", .constant = true});
  op.infer = InferWithValues;
  op.kernels[0].run = Run<true>;
  return op;
}

// In one pass where a kernel gives both.
TensorList PinvAndValues(const Tensor& a, const PinvAttrs& attrs) {
  if (a.device().is_cpu()) return Apply(TheOp<"pinv_values">(), {a}, attrs);
  const Tensor p = Apply1(TheOp<"pinv">(), {a}, attrs);
  NoGradScope no_grad;
  return {p, Svd(a).s};
}

// The tolerance as an attribute, where a negative one means that there is none.
double GivenTolerance(std::optional<double> rtol, double otherwise, const char* op,
                      const char* name) {
  if (rtol.has_value() && !(*rtol >= 0)) {
    RaiseStatus(InvalidArgument(name, " is ", *rtol, " (want >= 0)"), op);
  }
  return rtol.value_or(otherwise);
}

}  // namespace

Tensor Pinv(const Tensor& a, const PinvOptions& options) {
  const double rtol = GivenTolerance(options.rtol, options.atol > 0 ? 0 : -1, "pinv", "rtol");
  return Apply1(TheOp<"pinv">(), {a}, PinvAttrs{options.atol, rtol});
}

LstsqResult Lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond) {
  CheckDefined(a, "lstsq", "a");
  CheckDefined(b, "lstsq", "b");
  GivenTolerance(rcond, 0, "lstsq", "rcond");
  if (a.rank() < 2 || b.rank() < 2 || a.dtype() != b.dtype() ||
      a.shape().dim(-2) != b.shape().dim(-2)) {
    RaiseStatus(InvalidArgument("expected matrices of one dtype with as many rows, got ",
                                a.spec().ToString(), " and ", b.spec().ToString()),
                "lstsq");
  }
  LstsqResult y;
  const PinvAttrs attrs{.rtol = rcond.value_or(PinvAttrs().rtol)};
  const TensorList p = InNameOf("lstsq", [&] { return PinvAndValues(a, attrs); });
  y.solution = Matmul(p[0], b);
  const Tensor missed = Sub(Matmul(a, y.solution), b);
  y.residuals = Sum(Mul(missed, missed), {-2});
  NoGradScope no_grad;
  y.singular_values = p[1];
  const double rtol = rcond.value_or(RankTolerance(a.spec()));
  const Tensor largest = Slice(y.singular_values, -1, 0, 1);
  y.rank = Sum(Gt(y.singular_values, Mul(largest, rtol)), {-1});
  return y;
}

Tensor MatrixPower(const Tensor& a, Integer n) {
  CheckDefined(a, "matrix_power", "a");
  if (a.rank() < 2 || a.shape().dim(-1) != a.shape().dim(-2)) {
    RaiseStatus(InvalidArgument("a must be square matrices, got ", a.shape().ToString()),
                "matrix_power");
  }
  const int64_t power = n;
  if (power == 0) {
    const int64_t size = a.shape().dim(-1);
    return Expand(Eye(size, size, 0, a.dtype(), a.device()), a.shape()).Clone();
  }
  Tensor square = power < 0 ? Inv(a) : a, product;
  const uint64_t magnitude =
      power < 0 ? ~static_cast<uint64_t>(power) + 1 : static_cast<uint64_t>(power);
  for (uint64_t rest = magnitude; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) product = product.defined() ? Matmul(product, square) : square;
    if (rest > 1) square = Matmul(square, square);
  }
  return magnitude == 1 && power > 0 ? product.Clone() : product;
}

}  // namespace firn
