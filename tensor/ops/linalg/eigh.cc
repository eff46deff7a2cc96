// eigh: a tridiagonal matrix by reflectors, its eigenvalues by the QL method (eigh_body.h).
//
// The gradient: with E[i, j] = w[j] - w[i], dA = V (diag(dw) + (V^T dV) / E off the diagonal) V^T
// (Giles, "An extended collection of matrix derivative results", 2008), made symmetric.

#include "firn/tensor/ops/linalg/eigh.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/linalg/batch_body.h"
#include "firn/tensor/ops/linalg/eigh_body.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckSquare(c, 0));
  const Shape& a = c.shape(0);
  c.set_out(0, c.dtype(0), Shape(a.span().first(static_cast<size_t>(a.rank()) - 1)));
  c.set_out_like(1, 0);
  return absl::OkStatus();
}

cpu::PerMatrix Plan(const TensorSpec& a) {
  const Matrices m(a.shape);
  const int64_t elements = m.size() + cpu::EighScratch<double>::Elements(m.rows);
  return {m.count, 9 * static_cast<double>(m.rows) * static_cast<double>(m.size()),
          static_cast<size_t>(elements * SizeOf(a.dtype))};
}

size_t Workspace(const KernelQuery& q) { return Plan(q.in(0)).workspace(); }

absl::Status Run(KernelContext& k) {
  const bool upper = k.attrs<EighAttrs>().upper;
  const Matrices m(k.in_spec(0).shape);
  const int64_t n = m.rows;
  return VisitDecomposed(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* const a = k.in<T>(0);
    T *const values = k.out<T>(0), *const vectors = k.out<T>(1);
    const cpu::Failed failed = cpu::ForEachMatrix(
        Plan(k.in_spec(0)), k.workspace(), [&](int64_t i, void* scratch) -> int64_t {
          T* const own = static_cast<T*>(scratch);
          const T* const from = a + i * n * n;
          for (int64_t row = 0; row < n; ++row) {
            for (int64_t column = 0; column <= row; ++column) {
              const T v = from[upper ? column * n + row : row * n + column];
              own[row * n + column] = own[column * n + row] = v;
            }
          }
          return cpu::Eigh(own, n, values + i * n, vectors + i * n * n, own + n * n) ? -1 : 0;
        });
    FIRN_RETURN_IF(failed.any(),
                   InvalidArgument(NameOfMatrix("a", k.in_spec(0).shape, failed.matrix),
                                   " has elements that are not finite"));
    return absl::OkStatus();
  });
}

void Grad(GradContext& g) {
  const Tensor &w = g.output(0), &v = g.output(1);
  const Tensor on_diagonal = OnDiagonal(v);
  const Tensor dw = Unsqueeze(g.grad_output(0), -2);
  Tensor inner = Where(on_diagonal, dw, 0.0);
  if (g.has_grad_output(1)) {
    const Tensor gaps = Where(on_diagonal, 1.0, Sub(Unsqueeze(w, -2), Unsqueeze(w, -1)));
    inner = Where(on_diagonal, dw, Div(Matmul(v, g.grad_output(1), true), gaps));
  }
  g.set_grad_input(0, Symmetrized(Matmul(Matmul(v, inner), v, false, true)));
}

FIRN_REGISTER_OP(eigh) {
  return {
      .doc = "Eigenvalues and eigenvectors of symmetric matrices.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "a", .dtypes = kDecomposed, .min_rank = 2}},
      .outputs = {{.name = "values"}, {.name = "vectors"}},
      .attrs = AttrsOf<EighAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Output(0), Saved::Output(1)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

EighResult Eigh(const Tensor& a, Flag upper) {
  const TensorList out = Apply(TheOp<"eigh">(), {a}, EighAttrs{upper});
  return {out[0], out[1]};
}

}  // namespace firn
