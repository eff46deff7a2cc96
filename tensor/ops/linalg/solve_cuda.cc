// inv, solve, det, slogdet by cuSOLVER's LU factors. To cuSOLVER a row-major matrix is its
// transpose, so that A^T is factored: the factors solve A X = B transposed, and the inverse of A^T,
// column by column, is that of A, row by row. Only a B with several columns has to be transposed.
// Several small matrices are one call of cuBLAS's functions for batches.

#include <memory>

#include "firn/tensor/kernels/cuda/batched_solver.h"
#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/cuda/solver.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/solve.h"

namespace firn {
namespace {

using cuda::Order;
using cuda::SolverBatch;
using cuda::SolverScratch;

SolverBatch BatchOf(const TensorSpec& a) {
  const Matrices m(a.shape);
  return {a.dtype, m.rows, m.count};
}

// The factors, and `turned_bytes` for B.
struct LuPieces {
  LuPieces(const SolverBatch& b, const SolverScratch& s, size_t turned_bytes,
           cuda::WorkspacePieces w)
      : solver(w.TakeBytes(s.bytes)),
        info(w.Take<int32_t>(1)),
        lu(w.TakeBytes(static_cast<size_t>(b.count * b.n * b.n * SizeOf(b.dtype)))),
        pivots(w.Take<int64_t>(b.count * b.n)),
        turned(w.TakeBytes(turned_bytes)),
        bytes(w.bytes()) {}
  void* solver;
  int32_t* info;
  void* lu;
  int64_t* pivots;
  void* turned;
  size_t bytes;
};

absl::Status PrepareWith(const KernelQuery& q, size_t turned_bytes, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(cuda::SolverIsThere(q.out().device));
  const SolverBatch b = BatchOf(q.in(0));
  SolverScratch scratch;
  if (b.n != 0 && b.count != 0) {
    FIRN_ASSIGN_OR_RETURN(scratch, cuda::LuScratch(q.out().device, b));
  }
  answer.workspace = LuPieces(b, scratch, turned_bytes, {}).bytes;
  answer.state = std::make_shared<const SolverScratch>(std::move(scratch));
  return absl::OkStatus();
}

absl::Status Prepare(const KernelQuery& q, Prepared& answer) { return PrepareWith(q, 0, answer); }

absl::Status Factor(const KernelContext& k, const SolverBatch& b, const LuPieces& w) {
  if (b.n == 0 || b.count == 0) return absl::OkStatus();
  const Dims all(1, b.count);
  FIRN_RETURN_IF_ERROR(cuda::CopyMatrices(
      k, {b.dtype, all, all, b.n, b.n, Order::kRows, Order::kRows}, k.in<void>(0), w.lu));
  return cuda::FactorLu(k, b, k.state<SolverScratch>(), w.solver, w.lu, w.pivots, w.info);
}

Kernel Cusolver(absl::Status (*prepare)(const KernelQuery&, Prepared&),
                absl::Status (*run)(KernelContext&)) {
  return {.name = "cusolver",
          .device = DeviceType::kCuda,
          .run = run,
          .prepare = prepare,
          .graph_capturable = false};
}

// --- Several small matrices ----------------------------------------------------------------------

// Like LuPieces, with the addresses of the matrices and of the right sides.
struct BatchPieces {
  BatchPieces(const SolverBatch& b, size_t turned_bytes, cuda::WorkspacePieces w)
      : matrices(w.Take<void*>(b.count)),
        sides(w.Take<void*>(b.count)),
        infos(w.Take<int32_t>(b.count)),
        lu(w.TakeBytes(static_cast<size_t>(b.count * b.n * b.n * SizeOf(b.dtype)))),
        pivots(w.Take<int32_t>(b.count * b.n)),
        wide_pivots(w.Take<int64_t>(b.count * b.n)),
        turned(w.TakeBytes(turned_bytes)),
        bytes(w.bytes()) {}
  void **matrices, **sides;
  int32_t* infos;
  void* lu;
  int32_t* pivots;
  int64_t* wide_pivots;
  void* turned;
  size_t bytes;
};

absl::Status PrepareBatchWith(const KernelQuery& q, size_t turned_bytes, Prepared& answer) {
  const SolverBatch b = BatchOf(q.in(0));
  FIRN_RETURN_IF_ERROR(cuda::SupportsBatch(q.out().device, b));
  answer.workspace = BatchPieces(b, turned_bytes, {}).bytes;
  return absl::OkStatus();
}

absl::Status PrepareBatch(const KernelQuery& q, Prepared& answer) {
  return PrepareBatchWith(q, 0, answer);
}

absl::Status FactorBatch(const KernelContext& k, const SolverBatch& b, const BatchPieces& w) {
  const Dims all(1, b.count);
  FIRN_RETURN_IF_ERROR(cuda::CopyMatrices(
      k, {b.dtype, all, all, b.n, b.n, Order::kRows, Order::kRows}, k.in<void>(0), w.lu));
  FIRN_RETURN_IF_ERROR(
      cuda::SetAddresses(k, b.count, w.lu, b.n * b.n * SizeOf(b.dtype), w.matrices));
  return cuda::FactorBatchLu(k, b, w.matrices, w.pivots, w.infos);
}

// Solves with the factors of the batch; X overwrites B, `columns` right sides for each system.
absl::Status SolveWithBatch(const KernelContext& k, const SolverBatch& b, const BatchPieces& w,
                            bool transposed, int64_t columns, void* sides) {
  FIRN_RETURN_IF_ERROR(
      cuda::SetAddresses(k, b.count, sides, b.n * columns * SizeOf(b.dtype), w.sides));
  return cuda::SolveBatchLu(k, b, transposed, w.matrices, w.pivots, columns, w.sides);
}

Kernel Batched(absl::Status (*prepare)(const KernelQuery&, Prepared&),
               absl::Status (*run)(KernelContext&)) {
  return {.name = "cublas_batched", .device = DeviceType::kCuda, .run = run, .prepare = prepare};
}

// --- inv -----------------------------------------------------------------------------------------

constexpr cuda::MatrixSite kInvSingular = {"inv", "a", "is singular"};

absl::Status RunInv(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  if (b.n == 0 || b.count == 0) return absl::OkStatus();
  const LuPieces w(b, k.state<SolverScratch>(), 0, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(Factor(k, b, w));
  FIRN_RETURN_IF_ERROR(cuda::CheckPivots(k, kInvSingular, b.dtype, b.count, b.n, w.lu));
  FIRN_RETURN_IF_ERROR(cuda::SetToUnit(k, b.dtype, b.count, b.n, b.n, k.out<void>()));
  return cuda::SolveLu(
      k, b, /*transposed=*/false, [](int64_t i) { return i; }, w.lu, w.pivots, b.n, k.out<void>(),
      w.info);
}

absl::Status RunBatchInv(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  const BatchPieces w(b, 0, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(FactorBatch(k, b, w));
  FIRN_RETURN_IF_ERROR(cuda::CheckPivots(k, kInvSingular, b.dtype, b.count, b.n, w.lu));
  FIRN_RETURN_IF_ERROR(cuda::SetToUnit(k, b.dtype, b.count, b.n, b.n, k.out<void>()));
  return SolveWithBatch(k, b, w, /*transposed=*/false, b.n, k.out<void>());
}

FIRN_REGISTER_KERNELS(inv) {
  return {Batched(PrepareBatch, RunBatchInv), Cusolver(Prepare, RunInv)};
}

// --- solve ---------------------------------------------------------------------------------------

constexpr cuda::MatrixSite kSolveSingular = {"solve", "a", "is singular"};

// Vectors as matrices of one column.
struct Sides {
  Sides(const Shape& a, const Shape& b, const Shape& x)
      : rows(a.dim(-1)), columns(IsVectors(a, b) ? 1 : x.dim(-1)) {
    const int less = IsVectors(a, b) ? 1 : 2;
    for (int i = 0; i + less < x.rank(); ++i) batch.push_back(x[i]);
    for (int i = 0; i + less < b.rank(); ++i) own.push_back(b[i]);
    for (const int64_t size : batch.span()) count *= size;
  }
  int64_t rows, columns, count = 1;
  Dims batch, own;
};

absl::Status PrepareSolve(const KernelQuery& q, Prepared& answer) {
  const Sides s(q.in(0).shape, q.in(1).shape, q.out().shape);
  return PrepareWith(q, s.columns == 1 ? 0 : q.out().bytes(), answer);
}

// Copies right sides to `sides` in cuSOLVER's layout, and results back from there, if they had to
// be transposed.
absl::Status ReadSides(const KernelContext& k, const Sides& s, void* sides) {
  return cuda::CopyMatrices(
      k, {k.out_spec().dtype, s.own, s.batch, s.rows, s.columns, Order::kRows, Order::kColumns},
      k.in<void>(1), sides);
}
absl::Status WriteSides(const KernelContext& k, const Sides& s, const void* sides) {
  if (s.columns == 1) return absl::OkStatus();
  return cuda::CopyMatrices(
      k, {k.out_spec().dtype, s.batch, s.batch, s.rows, s.columns, Order::kColumns, Order::kRows},
      sides, k.out<void>());
}

absl::Status RunSolve(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  const Shape &a = k.in_spec(0).shape, &x = k.out_spec().shape;
  const Sides s(a, k.in_spec(1).shape, x);
  if (x.num_elements() == 0) return absl::OkStatus();
  const bool turned = s.columns != 1;
  const LuPieces w(b, k.state<SolverScratch>(), turned ? k.out_spec().bytes() : 0,
                   cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(Factor(k, b, w));
  FIRN_RETURN_IF_ERROR(cuda::CheckPivots(k, kSolveSingular, b.dtype, b.count, b.n, w.lu));
  void* const sides = turned ? w.turned : k.out<void>();
  FIRN_RETURN_IF_ERROR(ReadSides(k, s, sides));
  const BroadcastBatch matrix(BatchDims(a), s.batch);
  FIRN_RETURN_IF_ERROR(cuda::SolveLu(
      k, {b.dtype, b.n, s.count}, /*transposed=*/true, [&](int64_t i) { return matrix.At(i); },
      w.lu, w.pivots, s.columns, sides, w.info));
  return WriteSides(k, s, sides);
}

absl::Status PrepareBatchSolve(const KernelQuery& q, Prepared& answer) {
  const Sides s(q.in(0).shape, q.in(1).shape, q.out().shape);
  FIRN_RETURN_IF(s.count != BatchOf(q.in(0)).count || s.columns == 0,
                 Unimplemented("takes systems that each have a matrix of their own"));
  return PrepareBatchWith(q, s.columns == 1 ? 0 : q.out().bytes(), answer);
}

absl::Status RunBatchSolve(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  const Sides s(k.in_spec(0).shape, k.in_spec(1).shape, k.out_spec().shape);
  const bool turned = s.columns != 1;
  const BatchPieces w(b, turned ? k.out_spec().bytes() : 0, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(FactorBatch(k, b, w));
  FIRN_RETURN_IF_ERROR(cuda::CheckPivots(k, kSolveSingular, b.dtype, b.count, b.n, w.lu));
  void* const sides = turned ? w.turned : k.out<void>();
  FIRN_RETURN_IF_ERROR(ReadSides(k, s, sides));
  FIRN_RETURN_IF_ERROR(SolveWithBatch(k, b, w, /*transposed=*/true, s.columns, sides));
  return WriteSides(k, s, sides);
}

FIRN_REGISTER_KERNELS(solve) {
  return {Batched(PrepareBatchSolve, RunBatchSolve), Cusolver(PrepareSolve, RunSolve)};
}

// --- det, slogdet --------------------------------------------------------------------------------

template <bool kLogs>
absl::Status RunDeterminants(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  const LuPieces w(b, k.state<SolverScratch>(), 0, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(Factor(k, b, w));
  return cuda::Determinants(k, b.dtype, b.count, b.n, w.lu, w.pivots, k.out<void>(0),
                            kLogs ? k.out<void>(1) : nullptr);
}

template <bool kLogs>
absl::Status RunBatchDeterminants(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  const BatchPieces w(b, 0, cuda::WorkspacePieces(k));
  FIRN_RETURN_IF_ERROR(FactorBatch(k, b, w));
  FIRN_RETURN_IF_ERROR(cuda::WidenPivots(k, b.count * b.n, w.pivots, w.wide_pivots));
  return cuda::Determinants(k, b.dtype, b.count, b.n, w.lu, w.wide_pivots, k.out<void>(0),
                            kLogs ? k.out<void>(1) : nullptr);
}

FIRN_REGISTER_KERNELS(det) {
  return {Batched(PrepareBatch, RunBatchDeterminants<false>),
          Cusolver(Prepare, RunDeterminants<false>)};
}

FIRN_REGISTER_KERNELS(slogdet) {
  return {Batched(PrepareBatch, RunBatchDeterminants<true>),
          Cusolver(Prepare, RunDeterminants<true>)};
}

}  // namespace
}  // namespace firn
