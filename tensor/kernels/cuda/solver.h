#ifndef FIRN_TENSOR_KERNELS_CUDA_SOLVER_H_
#define FIRN_TENSOR_KERNELS_CUDA_SOLVER_H_

// Factors of matrices by cuSOLVER, triangular systems and products by cuBLAS.
//
// Matrices are column-major, dense and of f32 or f64; those of a batch lie one behind the other and
// are taken one after the other, unless a comment says so. cuSOLVER may wait for the device, so
// that kernels which call it are not graph_capturable. These functions do not check whether a
// matrix is suitable: Firn's kernels do (matrices.h).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// The scratch memory of a call: bytes on the device, for a workspace aligned to
// kWorkspaceAlignment, and memory of the host, which the code that prepares the call allocates.
struct SolverScratch {
  size_t bytes = 0, host_bytes = 0;
  std::shared_ptr<char[]> host;
};

// A batch of matrices, and of places for one number each.
struct SolverBatch {
  DType dtype;
  int64_t n, count;
};

// OK where the libraries can be used.
absl::Status SolverIsThere(Device device);

// A = L L^T in the lower triangles, or U^T U in the upper ones; the others may be overwritten. A
// number for each matrix: 0, or the order of its first leading minor that is not positive.
absl::StatusOr<SolverScratch> CholeskyScratch(Device device, const SolverBatch& batch, bool upper);
absl::Status FactorCholesky(const Queue& queue, const SolverBatch& batch, bool upper,
                            const SolverScratch& scratch, void* workspace, void* a, int32_t* infos);

// P A = L U with partial pivoting. `pivots`: n for each matrix, which count from 1.
absl::StatusOr<SolverScratch> LuScratch(Device device, const SolverBatch& batch);
absl::Status FactorLu(const Queue& queue, const SolverBatch& batch, const SolverScratch& scratch,
                      void* workspace, void* a, int64_t* pivots, int32_t* info);
// X of A X = B, or of A^T X = B, in B's place: `columns` right sides for each of the batch's
// systems; system i uses the factors of matrix at(i).
absl::Status SolveLu(const Queue& queue, const SolverBatch& batch, bool transposed,
                     absl::FunctionRef<int64_t(int64_t)> at, const void* lu, const int64_t* pivots,
                     int64_t columns, void* b, int32_t* info);

// X of A X = B, or of X A = B where A is not on the left, in B's place: m x n, as many as the
// batch has. Matrix at(i) is that of system i.
struct TriangularSystem {
  bool left, upper, unit_diagonal;
  int64_t m, n;
};
absl::Status SolveTriangles(const Queue& queue, const SolverBatch& batch,
                            const TriangularSystem& system, absl::FunctionRef<int64_t(int64_t)> at,
                            const void* a, void* b);

// A = Q R of m x n matrices, each in a place of max(n, q) columns: reflectors below R, and
// min(m, n) numbers of them in `taus`. Then, in the same place, the first q columns of Q.
// Errors: Unimplemented where a size is no int.
struct QrBatch {
  DType dtype;
  int64_t m, n, q, count;
  int64_t reflectors() const { return m < n ? m : n; }
  int64_t place() const { return m * (n < q ? q : n); }
};
absl::StatusOr<SolverScratch> QrScratch(Device device, const QrBatch& batch);
absl::Status FactorQr(const Queue& queue, const QrBatch& batch, const SolverScratch& scratch,
                      void* workspace, void* a, void* taus, int32_t* info);
absl::Status FormQ(const Queue& queue, const QrBatch& batch, const SolverScratch& scratch,
                   void* workspace, void* a, const void* taus, int32_t* info);

// Whether so many matrices with so many rows are computed in one call: PyTorch's rule.
bool FitOneCall(int64_t rows, int64_t count);

// For symmetric matrices, of which one triangle is read: ascending eigenvalues, and vectors as
// columns in A's place. A number for each matrix: 0 where they were found. Matrices
// that fit one call are computed in one.
absl::StatusOr<SolverScratch> EighScratch(Device device, const SolverBatch& batch, bool upper);
absl::Status FactorEigh(const Queue& queue, const SolverBatch& batch, bool upper,
                        const SolverScratch& scratch, void* workspace, void* a, void* values,
                        int32_t* infos);

// A = U diag(s) V^T of m x n matrices, m >= n, with `width` columns of U, n or m of them; A is
// overwritten. A number for each matrix: 0 where they were found.
struct SvdBatch {
  DType dtype;
  int64_t m, n, width, count;
  // The same in one call, for matrices that fit it (FitOneCall): U has m columns, and V is not
  // transposed.
  bool one_call = false;
};
absl::StatusOr<SolverScratch> SvdScratch(Device device, const SvdBatch& batch);
absl::Status FactorSvd(const Queue& queue, const SvdBatch& batch, const SolverScratch& scratch,
                       void* workspace, void* a, void* s, void* u, void* vt, int32_t* infos);

// C = A B, or A^T B^T where they are `transposed`: m x n, from products of k.
struct MatrixProducts {
  DType dtype;
  bool transposed;
  int64_t m, n, k, count;
};
absl::Status Multiply(const Queue& queue, const MatrixProducts& p, const void* a, const void* b,
                      void* c);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SOLVER_H_
