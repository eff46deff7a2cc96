// qr: Householder reflectors (qr_body.h).
//
// The gradient: with A = Q R and k = m <= n or k = n <= m, from dA = dQ R + Q dR and the skew
// symmetric Q^T dQ (Walter, Lehmann and Lamour, "On evaluating higher-order derivatives of the QR
// decomposition of tall matrices", 2012; Roberts and Roberts, "QR and LQ decomposition matrix
// backpropagation algorithms", 2020). For incoming G and H, with M = H R^T - Q^T G,
//   tall:  (G + Q (triu(M) + triu(M)^T - diag(M))) R^-T
//   wide:  Q (H - [S R1^-T, 0]) with R = [R1, R2] and S = tril(M - M^T), strictly
// the second of which is the first for A's leading columns, to which the others add R2 = Q^T A2.

#include "firn/tensor/ops/linalg/qr.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/linalg/batch_body.h"
#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/qr_body.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn {
namespace {

// The number of columns of q that are computed, and of rows of r in the result.
struct QrSizes {
  QrSizes(const Shape& a, QrMode mode)
      : m(a.dim(-2)),
        n(a.dim(-1)),
        k(std::min(m, n)),
        q(mode == QrMode::kR          ? 0
          : mode == QrMode::kComplete ? m
                                      : k),
        r(mode == QrMode::kComplete ? m : k) {}
  int64_t m, n, k, q, r;
};

absl::Status Infer(InferContext& c) {
  const QrMode mode = c.attrs<QrAttrs>().mode;
  FIRN_RETURN_IF(mode > QrMode::kR, InvalidArgument("no mode of number ", static_cast<int>(mode)));
  const QrSizes s(c.shape(0), mode);
  const Dims batch = BatchDims(c.shape(0));
  FIRN_ASSIGN_OR_RETURN(const Shape q, mode == QrMode::kR ? Shape::Make({int64_t{0}})
                                                          : ShapeOfMatrices(batch, s.m, s.q));
  FIRN_ASSIGN_OR_RETURN(const Shape r, ShapeOfMatrices(batch, s.r, s.n));
  c.set_out(0, c.dtype(0), q);
  c.set_out(1, c.dtype(0), r);
  return absl::OkStatus();
}

// The matrix, its reflectors' numbers, and the memory for applying them.
template <class T>
int64_t ScratchElements(const QrSizes& s) {
  return s.m * s.n + s.k + cpu::ReflectorScratch<T>::Elements(s.m, std::max(s.n, s.q));
}

cpu::PerMatrix Plan(const TensorSpec& a, QrMode mode) {
  const QrSizes s(a.shape, mode);
  const double flops = 4 * static_cast<double>(s.m) * static_cast<double>(s.n) *
                       static_cast<double>(std::max(s.k, s.q));
  return {Matrices(a.shape).count, flops,
          static_cast<size_t>(ScratchElements<double>(s) * SizeOf(a.dtype))};
}

size_t Workspace(const KernelQuery& q) {
  return Plan(q.in(0), q.attrs<QrAttrs>().mode).workspace();
}

absl::Status Run(KernelContext& k) {
  const QrMode mode = k.attrs<QrAttrs>().mode;
  const QrSizes s(k.in_spec(0).shape, mode);
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const T* const a = k.in<T>(0);
    T *const q = k.out<T>(0), *const r = k.out<T>(1);
    cpu::ForEachMatrix(Plan(k.in_spec(0), mode), k.workspace(),
                       [&](int64_t i, void* scratch) -> int64_t {
                         T *const qr = static_cast<T*>(scratch), *const tau = qr + s.m * s.n;
                         const cpu::ReflectorScratch<T> w(tau + s.k, s.m, std::max(s.n, s.q));
                         std::copy_n(a + i * s.m * s.n, s.m * s.n, qr);
                         cpu::QrInPlace(qr, s.m, s.n, tau, w);
                         T* const to = r + i * s.r * s.n;
                         for (int64_t row = 0; row < s.r; ++row) {
                           const int64_t zeros = std::min(row, s.n);
                           std::fill_n(to + row * s.n, zeros, T(0));
                           std::copy_n(qr + row * s.n + zeros, s.n - zeros, to + row * s.n + zeros);
                         }
                         if (s.q == 0) return -1;
                         cpu::SetToUnit(q + i * s.m * s.q, s.m, s.q);
                         cpu::MultiplyByQ(qr, s.m, s.n, tau, true, q + i * s.m * s.q, s.q, w);
                         return -1;
                       });
    return absl::OkStatus();
  });
}

Tensor GradTall(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& m) {
  const Tensor upper = UpperTriangle(m), strict = UpperTriangle(m, true);
  const Tensor symmetric = Add(upper, MatrixTranspose(strict));
  return SolveTriangular(MatrixTranspose(r), Add(dq, Matmul(q, symmetric)), false, {.left = false});
}

Tensor GradWide(const Tensor& q, const Tensor& r, const Tensor& dr, const Tensor& m) {
  const int64_t rows = r.shape().dim(-2), columns = r.shape().dim(-1);
  const Tensor skew = LowerTriangle(Sub(m, MatrixTranspose(m)), true);
  const Tensor first =
      SolveTriangular(MatrixTranspose(Slice(r, -1, 0, rows)), skew, false, {.left = false});
  return Matmul(q, Sub(dr, Pad(first, {0, columns - rows})));
}

void Grad(GradContext& g) {
  const QrMode mode = g.attrs<QrAttrs>().mode;
  const Shape& a = g.input_shape(0);
  const bool tall = a.dim(-2) > a.dim(-1);
  if (mode == QrMode::kR || (mode == QrMode::kComplete && tall)) {
    RaiseStatus(FailedPrecondition("the gradient needs mode reduced",
                                   tall ? "" : ", or complete for matrices that are not tall",
                                   ", got ", a.ToString()),
                "qr");
  }
  const Tensor &q = g.output(0), &r = g.output(1), &dq = g.grad_output(0), &dr = g.grad_output(1);
  const Tensor m = Sub(Matmul(dr, r, false, true), Matmul(q, dq, true));
  g.set_grad_input(0, a.dim(-2) >= a.dim(-1) ? GradTall(q, r, dq, m) : GradWide(q, r, dr, m));
}

FIRN_REGISTER_OP(qr) {
  return {
      .doc = "A = Q R with orthonormal columns in Q and a triangle R.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2}},
      .outputs = {{.name = "q"}, {.name = "r"}},
      .attrs = AttrsOf<QrAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(0), Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

QrResult Qr(const Tensor& a, QrMode mode) {
  const TensorList out = Apply(TheOp<"qr">(), {a}, QrAttrs{mode});
  return {out[0], out[1]};
}

}  // namespace firn
