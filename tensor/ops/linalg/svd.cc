// svd: one-sided Jacobi rotations of the triangle of a QR decomposition (svd_body.h); a wide matrix
// is taken as the transpose of a tall one.
//
// The gradient (Giles, "An extended collection of matrix derivative results", 2008): with
// E[i, j] = s[j]^2 - s[i]^2 off the diagonal, P = (U^T dU - its transposed) / E and
// Q = (V^T dV - its transposed) / E,
//   dA = U (P diag(s) + diag(s) Q + diag(ds)) V^T
//        + (1 - U U^T) dU diag(1 / s) V^T + U diag(1 / s) dV^T (1 - V V^T)
// whose last two terms are 0 where U and V are square.

#include "firn/tensor/ops/linalg/svd.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/linalg/batch_body.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/svd_body.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// Sizes of the matrix that is decomposed: a, or its transpose.
struct Tall {
  Tall(const Shape& a, bool full)
      : turned(a.dim(-2) < a.dim(-1)),
        rows(std::max(a.dim(-2), a.dim(-1))),
        columns(std::min(a.dim(-2), a.dim(-1))),
        width(full ? rows : columns) {}
  bool turned;
  int64_t rows, columns, width;
};

absl::Status Infer(InferContext& c) {
  const Shape& a = c.shape(0);
  const Tall t(a, c.attrs<SvdAttrs>().full_matrices);
  const Dims batch = BatchDims(a);
  Dims s = batch;
  s.push_back(t.columns);
  const int64_t left = t.turned ? t.columns : t.width, right = t.turned ? t.width : t.columns;
  FIRN_ASSIGN_OR_RETURN(const Shape u, ShapeOfMatrices(batch, a.dim(-2), left));
  FIRN_ASSIGN_OR_RETURN(const Shape values, Shape::Make(s.span()));
  FIRN_ASSIGN_OR_RETURN(const Shape vh, ShapeOfMatrices(batch, right, a.dim(-1)));
  c.set_out(0, c.dtype(0), u);
  c.set_out(1, c.dtype(0), values);
  c.set_out(2, c.dtype(0), vh);
  return absl::OkStatus();
}

cpu::PerMatrix Plan(const TensorSpec& a, bool full) {
  const Tall t(a.shape, full);
  const double columns = static_cast<double>(t.columns);
  return {Matrices(a.shape).count,
          30 * columns * columns * (columns + 1) +
              4 * static_cast<double>(t.rows) * columns * static_cast<double>(t.width),
          static_cast<size_t>(cpu::SvdScratch<double>::Elements(t.rows, t.columns, t.width) *
                              SizeOf(a.dtype))};
}

size_t Workspace(const KernelQuery& q) {
  return Plan(q.in(0), q.attrs<SvdAttrs>().full_matrices).workspace();
}

// Copies the vectors of one matrix to the results, with the right signs: left and right vectors of
// a singular value change sign together, vectors without a singular value by themselves.
template <class T>
void WriteVectors(const Tall& t, const cpu::SvdScratch<T>& w, T* u, T* vh) {
  const int64_t n = t.columns;
  if (t.turned) {  // U is on the right of the tall matrix
    for (int64_t k = 0; k < t.width; ++k) {
      const bool paired = k < n;
      T sign = 1;
      if (paired) {
        T* const own = w.sorted + k * n;
        sign = cpu::SignOf(own, n);
        for (int64_t i = 0; i < n; ++i) own[i] *= sign;
      }
      for (int64_t i = 0; i < t.rows; ++i) vh[k * t.rows + i] = sign * w.q[i * t.width + k];
    }
    cpu::TransposeTo(w.sorted, n, n, u);
    return;
  }
  for (int64_t k = 0; k < t.width; ++k) {
    const T sign = cpu::SignOf(w.q + k, t.rows, t.width);
    for (int64_t i = 0; i < t.rows; ++i) u[i * t.width + k] = sign * w.q[i * t.width + k];
    for (int64_t i = 0; k < n && i < n; ++i) vh[k * n + i] = sign * w.sorted[k * n + i];
  }
}

absl::Status Run(KernelContext& k) {
  const bool full = k.attrs<SvdAttrs>().full_matrices;
  const Shape& a = k.in_spec(0).shape;
  const Tall t(a, full);
  const int64_t size = t.rows * t.columns, u_size = a.dim(-2) * k.out_spec(0).shape.dim(-1);
  const int64_t vh_size = k.out_spec(2).shape.dim(-2) * a.dim(-1);
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* const from = k.in<T>(0);
    T *const u = k.out<T>(0), *const s = k.out<T>(1), *const vh = k.out<T>(2);
    const cpu::Failed failed = cpu::ForEachMatrix(
        Plan(k.in_spec(0), full), k.workspace(), [&](int64_t i, void* scratch) -> int64_t {
          const cpu::SvdScratch<T> w(static_cast<T*>(scratch), t.rows, t.columns, t.width);
          if (t.turned) {
            cpu::TransposeTo(from + i * size, t.columns, t.rows, w.a);
          } else {
            std::copy_n(from + i * size, size, w.a);
          }
          if (!cpu::Svd(t.rows, t.columns, t.width, s + i * t.columns, w)) return 0;
          WriteVectors(t, w, u + i * u_size, vh + i * vh_size);
          return -1;
        });
    FIRN_RETURN_IF(failed.any(), InvalidArgument(NameOfMatrix("a", a, failed.matrix),
                                                 " has elements that are not finite"));
    return absl::OkStatus();
  });
}

Tensor Antisymmetric(const Tensor& x) { return Sub(x, MatrixTranspose(x)); }

// x minus its projection on u's columns.
Tensor Beyond(const Tensor& x, const Tensor& u) { return Sub(x, Matmul(u, Matmul(u, x, true))); }

void Grad(GradContext& g) {
  const Tensor& s = g.output(1);
  const int64_t k = s.shape().dim(-1);
  // Without the vectors that full_matrices adds.
  const Tensor u = Slice(g.output(0), -1, 0, k), vh = Slice(g.output(2), -2, 0, k);
  const Tensor rows = Unsqueeze(s, -1), columns = Unsqueeze(s, -2);
  const Tensor on_diagonal = OnDiagonal(u.shape().dim(-2) == k ? u : vh);  // the square one
  Tensor inner = Where(on_diagonal, Unsqueeze(g.grad_output(1), -2), 0.0), beyond;
  // The factors of s_j^2 - s_i^2, because the squares may overflow.
  const Tensor gaps = Where(on_diagonal, 1.0, Sub(columns, rows));
  const Tensor sums = Where(on_diagonal, 1.0, Add(columns, rows));
  if (g.has_grad_output(0)) {
    const Tensor du = Slice(g.grad_output(0), -1, 0, k);
    inner = Add(inner, Mul(Div(Antisymmetric(Matmul(u, du, true)), gaps), Div(columns, sums)));
    if (u.shape().dim(-2) > k) beyond = Matmul(Div(Beyond(du, u), columns), vh);
  }
  if (g.has_grad_output(2)) {
    const Tensor dvh = Slice(g.grad_output(2), -2, 0, k);
    inner =
        Add(inner, Mul(Div(Antisymmetric(Matmul(vh, dvh, false, true)), gaps), Div(rows, sums)));
    if (vh.shape().dim(-1) > k) {
      const Tensor v = MatrixTranspose(vh);
      const Tensor rest = MatrixTranspose(Beyond(MatrixTranspose(dvh), v));
      beyond = Matmul(u, Div(rest, rows));
    }
  }
  const Tensor da = Matmul(Matmul(u, inner), vh);
  g.set_grad_input(0, beyond.defined() ? Add(da, beyond) : da);
}

FIRN_REGISTER_OP(svd) {
  return {
      .doc = "A = U diag(s) Vh with orthonormal U and Vh.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2}},
      .outputs = {{.name = "u"}, {.name = "s"}, {.name = "vh"}},
      .attrs = AttrsOf<SvdAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(0), Saved::Output(1), Saved::Output(2)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

SvdResult Svd(const Tensor& a, Flag full_matrices) {
  const TensorList out = Apply(TheOp<"svd">(), {a}, SvdAttrs{full_matrices});
  return {out[0], out[1], out[2]};
}

}  // namespace firn
