// cholesky by cuSOLVER and solve_triangular by cuBLAS, whose matrices are column-major: a row-major
// matrix is its transpose there, and a lower triangle the upper one. So nothing is transposed: A X
// = B is solved as X^T A^T = B^T.

#include <memory>

#include "firn/tensor/kernels/cuda/batched_solver.h"
#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/cuda/solver.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"

namespace firn {
namespace {

using cuda::SolverBatch;
using cuda::SolverScratch;

// --- cholesky ------------------------------------------------------------------------------------

constexpr cuda::MatrixSite kNotDefinite = {"cholesky", "a", "is not positive definite"};

SolverBatch BatchOf(const TensorSpec& a) {
  const Matrices m(a.shape);
  return {a.dtype, m.rows, m.count};
}

struct CholeskyPieces {
  CholeskyPieces(const SolverBatch& b, const SolverScratch& s, cuda::WorkspacePieces w)
      : solver(w.TakeBytes(s.bytes)), infos(w.Take<int32_t>(b.count)), bytes(w.bytes()) {}
  void* solver;
  int32_t* infos;
  size_t bytes;
};

absl::Status PrepareCholesky(const KernelQuery& q, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(cuda::SolverIsThere(q.out().device));
  const SolverBatch b = BatchOf(q.in(0));
  if (b.n == 0 || b.count == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(SolverScratch scratch,
                        cuda::CholeskyScratch(q.out().device, b, !q.attrs<CholeskyAttrs>().upper));
  answer.workspace = CholeskyPieces(b, scratch, {}).bytes;
  answer.state = std::make_shared<const SolverScratch>(std::move(scratch));
  return absl::OkStatus();
}

absl::Status RunCholesky(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  if (b.n == 0 || b.count == 0) return absl::OkStatus();
  const bool upper = k.attrs<CholeskyAttrs>().upper;
  const SolverScratch& scratch = k.state<SolverScratch>();
  const CholeskyPieces w(b, scratch, cuda::WorkspacePieces(k));
  void* const y = k.out<void>();
  FIRN_RETURN_IF_ERROR(
      cuda::CopyTriangles(k, b.dtype, b.count, b.n, upper, k.in<void>(0), nullptr, y));
  FIRN_RETURN_IF_ERROR(cuda::FactorCholesky(k, b, !upper, scratch, w.solver, y, w.infos));
  FIRN_RETURN_IF_ERROR(cuda::CheckDefinite(k, kNotDefinite, b.dtype, b.count, b.n, y, w.infos));
  return cuda::CopyTriangles(k, b.dtype, b.count, b.n, upper, y, w.infos, y);
}

// Several small matrices in one call.
struct BatchPieces {
  BatchPieces(int64_t count, cuda::WorkspacePieces w)
      : matrices(w.Take<void*>(count)),
        infos(w.Take<int32_t>(count)),
        sides(w.Take<void*>(count)),
        bytes(w.bytes()) {}
  void** matrices;
  int32_t* infos;
  void** sides;
  size_t bytes;
};

absl::Status PrepareBatchCholesky(const KernelQuery& q, Prepared& answer) {
  const SolverBatch b = BatchOf(q.in(0));
  FIRN_RETURN_IF_ERROR(cuda::SupportsBatch(q.out().device, b));
  answer.workspace = BatchPieces(b.count, {}).bytes;
  return absl::OkStatus();
}

absl::Status RunBatchCholesky(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  const bool upper = k.attrs<CholeskyAttrs>().upper;
  const BatchPieces w(b.count, cuda::WorkspacePieces(k));
  void* const y = k.out<void>();
  FIRN_RETURN_IF_ERROR(
      cuda::CopyTriangles(k, b.dtype, b.count, b.n, upper, k.in<void>(0), nullptr, y));
  FIRN_RETURN_IF_ERROR(cuda::SetAddresses(k, b.count, y, b.n * b.n * SizeOf(b.dtype), w.matrices));
  FIRN_RETURN_IF_ERROR(cuda::FactorBatchCholesky(k, b, !upper, w.matrices, w.infos));
  FIRN_RETURN_IF_ERROR(cuda::CheckDefinite(k, kNotDefinite, b.dtype, b.count, b.n, y, w.infos));
  return cuda::CopyTriangles(k, b.dtype, b.count, b.n, upper, y, w.infos, y);
}

FIRN_REGISTER_KERNELS(cholesky) {
  return {{.name = "cusolver_batched",
           .device = DeviceType::kCuda,
           .run = RunBatchCholesky,
           .prepare = PrepareBatchCholesky},
          {.name = "cusolver",
           .device = DeviceType::kCuda,
           .run = RunCholesky,
           .prepare = PrepareCholesky,
           .graph_capturable = false}};
}

// --- solve_triangular ----------------------------------------------------------------------------

constexpr cuda::MatrixSite kZeroOnDiagonal = {"solve_triangular", "a", "is singular"};

absl::Status SupportsSolveTriangular(const KernelQuery& q) {
  return cuda::SolverIsThere(q.out().device);
}

// Solves after the diagonal was checked and B was copied to the place of X.
struct TriangularCall {
  explicit TriangularCall(const KernelContext& k)
      : of_a(k.in_spec(0).shape), m(k.out_spec().shape) {
    const SolveTriangularAttrs& at = k.attrs<SolveTriangularAttrs>();
    batch = {k.out_spec().dtype, of_a.rows, m.count};
    system = {!at.left, !at.upper, at.unit_diagonal, m.columns, m.rows};
  }
  absl::Status Begin(const KernelContext& k) const {
    const Shape &b = k.in_spec(1).shape, &x = k.out_spec().shape;
    if (!system.unit_diagonal) {
      FIRN_RETURN_IF_ERROR(
          cuda::CheckPivots(k, kZeroOnDiagonal, batch.dtype, of_a.count, batch.n, k.in<void>(0)));
    }
    return cuda::CopyMatrices(k,
                              {batch.dtype, BatchDims(b), BatchDims(x), m.rows, m.columns,
                               cuda::Order::kRows, cuda::Order::kRows},
                              k.in<void>(1), k.out<void>());
  }
  Matrices of_a, m;
  SolverBatch batch{};
  cuda::TriangularSystem system{};
};

absl::Status RunSolveTriangular(KernelContext& k) {
  const TriangularCall call(k);
  if (call.m.count * call.m.size() == 0) return absl::OkStatus();
  FIRN_RETURN_IF_ERROR(call.Begin(k));
  const BroadcastBatch matrix(BatchDims(k.in_spec(0).shape), BatchDims(k.out_spec().shape));
  return cuda::SolveTriangles(
      k, call.batch, call.system, [&](int64_t i) { return matrix.At(i); }, k.in<void>(0),
      k.out<void>());
}

absl::Status PrepareBatchTriangular(const KernelQuery& q, Prepared& answer) {
  const Matrices of_a(q.in(0).shape), m(q.out().shape);
  FIRN_RETURN_IF(of_a.count != m.count || m.size() == 0,
                 Unimplemented("takes systems that each have a matrix of their own"));
  FIRN_RETURN_IF_ERROR(cuda::SupportsBatch(q.out().device, {q.out().dtype, of_a.rows, of_a.count}));
  answer.workspace = BatchPieces(m.count, {}).bytes;
  return absl::OkStatus();
}

absl::Status RunBatchTriangular(KernelContext& k) {
  const TriangularCall call(k);
  const SolverBatch& b = call.batch;
  const BatchPieces w(b.count, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(call.Begin(k));
  const int64_t size = SizeOf(b.dtype);
  FIRN_RETURN_IF_ERROR(cuda::SetAddresses(k, b.count, k.in<void>(0), b.n * b.n * size, w.matrices));
  FIRN_RETURN_IF_ERROR(
      cuda::SetAddresses(k, b.count, k.out<void>(), call.m.size() * size, w.sides));
  return cuda::SolveBatchTriangles(k, b, call.system, w.matrices, w.sides);
}

FIRN_REGISTER_KERNELS(solve_triangular) {
  return {{.name = "cublas_batched",
           .device = DeviceType::kCuda,
           .run = RunBatchTriangular,
           .prepare = PrepareBatchTriangular},
          {.name = "cublas",
           .device = DeviceType::kCuda,
           .supports = SupportsSolveTriangular,
           .run = RunSolveTriangular,
           .graph_capturable = false}};
}

}  // namespace
}  // namespace firn
