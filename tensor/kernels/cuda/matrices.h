#ifndef FIRN_TENSOR_KERNELS_CUDA_MATRICES_H_
#define FIRN_TENSOR_KERNELS_CUDA_MATRICES_H_

// What stands before and behind the functions of solver.h: matrices copied to where and as they
// want them, and looked at. f32 and f64.

#include <cstdint>

#include "absl/status/status.h"
#include "firn/device/internal/cuda_faults.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/shape.h"

namespace firn::cuda {

// An argument whose matrices can be refused, as a static object: {"inv", "a", "is singular"}.
using MatrixSite = firn::inner::internal::CudaIndexSite;

// How the matrices of a batch lie: row-major, or column-major.
enum class Order : uint8_t { kRows, kColumns };

// Copies matrices of `rows` x `columns` in the order `from` to `batch` of them in the order `to`;
// what there is of them, `own`, is broadcast to it.
struct MatrixCopy {
  DType dtype;
  inner::Dims own, batch;
  int64_t rows, columns;
  Order from, to;
};
absl::Status CopyMatrices(const Queue& queue, const MatrixCopy& copy, const void* x, void* y);

// Unit matrices of `rows` x `columns` (in both orders, where they are square).
absl::Status SetToUnit(const Queue& queue, DType dtype, int64_t count, int64_t rows,
                       int64_t columns, void* y);

// Whether an element of a matrix's diagonal is 0. The first that is found is noted: the error comes
// with the next read from the device.
absl::Status CheckPivots(const Queue& queue, const MatrixSite& site, DType dtype, int64_t count,
                         int64_t n, const void* a);
// The same where an element is not positive and finite, or where infos[i], counted from 1, says
// that a row had none, and may have left anything there. infos[i] is not 0 then.
absl::Status CheckDefinite(const Queue& queue, const MatrixSite& site, DType dtype, int64_t count,
                           int64_t n, const void* a, int32_t* infos);

// y: the lower (upper) triangles of row-major x, and zeros; NaN where `bad` (null: none) says so.
// May be x.
absl::Status CopyTriangles(const Queue& queue, DType dtype, int64_t count, int64_t n, bool upper,
                           const void* x, const int32_t* bad, void* y);

// The determinants of LU factors with pivots that count from 1. `logs` null: themselves, to
// `signs`; else signs, and logarithms of their absolute values.
absl::Status Determinants(const Queue& queue, DType dtype, int64_t count, int64_t n, const void* lu,
                          const int64_t* pivots, void* signs, void* logs);

// The addresses of `count` matrices that lie `bytes` apart, as functions for batches want them.
absl::Status SetAddresses(const Queue& queue, int64_t count, const void* base, int64_t bytes,
                          void** to);
// Pivots of such functions as Determinants takes them.
absl::Status WidenPivots(const Queue& queue, int64_t count, const int32_t* from, int64_t* to);

// Where the elements of a batch's matrices lie, in elements: `matrix` from one matrix to the next.
struct MatrixSteps {
  int64_t matrix, row, column;
};
// Which elements are copied; the others become 0.
enum class Part : uint8_t { kAll, kUpper, kLower };
struct MatrixPart {
  DType dtype;
  int64_t count, rows, columns;
  MatrixSteps from, to;
  Part part = Part::kAll;
};
absl::Status CopyPart(const Queue& queue, const MatrixPart& p, const void* x, void* y);
// The same for libraries that may search in what is not finite forever: a matrix that has such
// elements there is noted, becomes 0, and its number in `bad` 1, which is 0 of the others.
absl::Status CopyFinite(const Queue& queue, const MatrixSite& site, const MatrixPart& p,
                        const void* x, void* y, int32_t* bad);

// Vectors of matrices copied, each with the sign that makes the first of its largest elements
// positive; those that rounding alone tells apart are as large. The first `paired` of the others
// get the signs of those with their numbers, the rest none. All of a matrix of which one of `bad`
// and `infos` is not 0 become NaN, and so do its `values`, as many as are paired.
struct MatrixVectors {
  int64_t lines = 0, size = 0;                 // of every matrix
  MatrixSteps from_steps = {}, to_steps = {};  // a row: a vector
  const void* from = nullptr;                  // may be `to`, where steps are the same
  void* to = nullptr;
};
struct SignedVectors {
  DType dtype;
  int64_t count, paired;
  const int32_t *bad, *infos;
  void* values;
  MatrixVectors own, other = {};
};
// `site` says what matrices are whose infos alone are not 0; the first of them is noted.
absl::Status CopyVectors(const Queue& queue, const MatrixSite& site, const SignedVectors& v);

// Rows of column-major matrices, k x columns, over the singular values s that are above `atol` and
// above `rtol` times the first; the others become 0, and NaN as above.
struct DividedRows {
  DType dtype;
  int64_t count, k, columns;
  double atol, rtol;
  const int32_t *bad, *infos;
};
absl::Status DivideRows(const Queue& queue, const MatrixSite& site, const DividedRows& d,
                        const void* s, void* y);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_MATRICES_H_
