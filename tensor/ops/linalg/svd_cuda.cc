// svd and pinv by cuSOLVER, which takes matrices that are not wide. To cuSOLVER a row-major matrix
// is its transpose, so that a wide one is used in place: A^T = U' S V'^T, and V'^T gives U here, U'
// gives Vh. A tall one is transposed before, and its vectors after. Signs are chosen like on the
// CPU.
//
// pinv: P = V diag(1 / s) U^T is, column-major, U times V^T whose rows are divided by s.

#include <algorithm>
#include <memory>

#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/cuda/solver.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/pinv.h"
#include "firn/tensor/ops/linalg/svd.h"

namespace firn {
namespace {

using cuda::MatrixSite;
using cuda::MatrixSteps;
using cuda::SolverScratch;
using cuda::SvdBatch;

// The matrices in the layout that cuSOLVER takes.
struct Problem {
  Problem(const TensorSpec& a, bool full) {
    const Matrices of_a(a.shape);
    turned = of_a.rows >= of_a.columns;
    const int64_t m = std::max(of_a.rows, of_a.columns), n = std::min(of_a.rows, of_a.columns);
    batch = {a.dtype, m, n, full ? m : n, of_a.count};
  }
  // Elements of each of cuSOLVER's U.
  int64_t of_u() const { return batch.m * (batch.one_call ? batch.m : batch.width); }
  // Whether the factors are svd's results, except for signs.
  bool direct() const { return !turned && !batch.one_call; }
  bool empty() const { return batch.n * batch.count == 0; }
  size_t Bytes(int64_t elements) const {
    return static_cast<size_t>(batch.count * elements * SizeOf(batch.dtype));
  }
  SvdBatch batch;
  bool turned;
};

// Memory for the matrices and their factors, without those that are computed in the results.
struct Pieces {
  Pieces(const Problem& p, const SolverScratch& scratch, bool all, cuda::WorkspacePieces w)
      : solver(w.TakeBytes(scratch.bytes)),
        bad(w.Take<int32_t>(p.batch.count)),
        infos(w.Take<int32_t>(p.batch.count)),
        a(w.TakeBytes(p.Bytes(p.batch.m * p.batch.n))),
        s(w.TakeBytes(all ? p.Bytes(p.batch.n) : 0)),
        u(w.TakeBytes(all || !p.direct() ? p.Bytes(p.of_u()) : 0)),
        vt(w.TakeBytes(all || !p.direct() ? p.Bytes(p.batch.n * p.batch.n) : 0)),
        bytes(w.bytes()) {}
  void* solver;
  int32_t *bad, *infos;
  void *a, *s, *u, *vt;
  size_t bytes;
};

absl::Status PrepareFor(const KernelQuery& q, const Problem& p, bool all, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(cuda::SolverIsThere(q.out().device));
  if (p.empty()) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(SolverScratch scratch, cuda::SvdScratch(q.out().device, p.batch));
  answer.workspace = Pieces(p, scratch, all, {}).bytes;
  answer.state = std::make_shared<const SolverScratch>(std::move(scratch));
  return absl::OkStatus();
}

absl::Status Factor(KernelContext& k, const MatrixSite& site, const Problem& p, const Pieces& w) {
  const SvdBatch& b = p.batch;
  const MatrixSteps rows = {b.m * b.n, b.n, 1}, columns = {b.m * b.n, 1, b.m};
  // A wide matrix is b.n x b.m, and is copied without a transposition.
  const cuda::MatrixPart part =
      p.turned
          ? cuda::MatrixPart{b.dtype, b.count, b.m, b.n, rows, columns}
          : cuda::MatrixPart{b.dtype, b.count, b.n, b.m, {b.m * b.n, b.m, 1}, {b.m * b.n, b.m, 1}};
  FIRN_RETURN_IF_ERROR(cuda::CopyFinite(k, site, part, k.in<void>(0), w.a, w.bad));
  return cuda::FactorSvd(k, b, k.state<SolverScratch>(), w.solver, w.a, w.s, w.u, w.vt, w.infos);
}

Kernel Cusolver(absl::Status (*prepare)(const KernelQuery&, Prepared&),
                absl::Status (*run)(KernelContext&)) {
  return {.name = "cusolver",
          .device = DeviceType::kCuda,
          .run = run,
          .prepare = prepare,
          .graph_capturable = false};
}

// --- svd -----------------------------------------------------------------------------------------

constexpr MatrixSite kSvdNotFinite = {"svd", "a", "has elements that are not finite"};
constexpr MatrixSite kSvdNotFound = {"svd", "a", "has singular values that were not found"};

Problem SvdProblem(const TensorSpec& a, const SvdAttrs& attrs) {
  Problem p(a, attrs.full_matrices);
  p.batch.one_call = cuda::FitOneCall(p.batch.m, p.batch.count);
  return p;
}

absl::Status PrepareSvd(const KernelQuery& q, Prepared& answer) {
  return PrepareFor(q, SvdProblem(q.in(0), q.attrs<SvdAttrs>()), /*all=*/false, answer);
}

absl::Status RunSvd(KernelContext& k) {
  const Problem p = SvdProblem(k.in_spec(0), k.attrs<SvdAttrs>());
  const SvdBatch& b = p.batch;
  void *const u = k.out<void>(0), *const s = k.out<void>(1), *const vh = k.out<void>(2);
  if (p.empty()) {  // all vectors are arbitrary
    const Shape &left = k.out_spec(0).shape, &right = k.out_spec(2).shape;
    FIRN_RETURN_IF_ERROR(cuda::SetToUnit(k, b.dtype, b.count, left.dim(-2), left.dim(-1), u));
    return cuda::SetToUnit(k, b.dtype, b.count, right.dim(-2), right.dim(-1), vh);
  }
  Pieces w(p, k.state<SolverScratch>(), false, cuda::WorkspacePieces(k));
  w.s = s;
  if (p.direct()) w.u = vh, w.vt = u;
  FIRN_RETURN_IF_ERROR(Factor(k, kSvdNotFinite, p, w));
  // The vectors of cuSOLVER's U, as columns; and those of V, which are columns only if all matrices
  // fit one call.
  const int64_t of_v = b.n * b.n;
  const MatrixSteps of_left = {p.of_u(), b.m, 1};
  const MatrixSteps of_right = b.one_call ? MatrixSteps{of_v, b.n, 1} : MatrixSteps{of_v, 1, b.n};
  cuda::SignedVectors v = {b.dtype, b.count, b.n, w.bad, w.infos, s, {}, {}};
  if (p.turned) {  // to columns of u and rows of vh
    v.own = {b.width, b.m, of_left, {b.m * b.width, 1, b.width}, w.u, u};
    v.other = {b.n, b.n, of_right, {of_v, b.n, 1}, w.vt, vh};
  } else {
    v.own = {b.n, b.n, of_right, {of_v, 1, b.n}, w.vt, u};
    v.other = {b.width, b.m, of_left, {b.m * b.width, b.m, 1}, w.u, vh};
  }
  return cuda::CopyVectors(k, kSvdNotFound, v);
}

FIRN_REGISTER_KERNELS(svd) { return {Cusolver(PrepareSvd, RunSvd)}; }

// --- pinv ----------------------------------------------------------------------------------------

constexpr MatrixSite kPinvNotFinite = {"pinv", "a", "has elements that are not finite"};
constexpr MatrixSite kPinvNotFound = {"pinv", "a", "has singular values that were not found"};

absl::Status PreparePinv(const KernelQuery& q, Prepared& answer) {
  return PrepareFor(q, Problem(q.in(0), /*full=*/false), /*all=*/true, answer);
}

absl::Status RunPinv(KernelContext& k) {
  const PinvAttrs& at = k.attrs<PinvAttrs>();
  const TensorSpec& a = k.in_spec(0);
  const Problem p(a, false);
  if (p.empty()) return absl::OkStatus();
  const SvdBatch& b = p.batch;
  const Pieces w(p, k.state<SolverScratch>(), true, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(Factor(k, kPinvNotFinite, p, w));
  const double rtol = at.rtol < 0 ? RankTolerance(a) : at.rtol;
  FIRN_RETURN_IF_ERROR(cuda::DivideRows(
      k, kPinvNotFound, {b.dtype, b.count, b.n, b.n, at.atol, rtol, w.bad, w.infos}, w.s, w.vt));
  const Matrices of_a(a.shape);
  const void *const left = p.turned ? w.u : w.vt, *const right = p.turned ? w.vt : w.u;
  return cuda::Multiply(k, {b.dtype, !p.turned, of_a.rows, of_a.columns, b.n, b.count}, left, right,
                        k.out<void>());
}

FIRN_REGISTER_KERNELS(pinv) { return {Cusolver(PreparePinv, RunPinv)}; }

}  // namespace
}  // namespace firn
