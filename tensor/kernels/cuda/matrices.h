#ifndef FIRN_TENSOR_KERNELS_CUDA_MATRICES_H_
#define FIRN_TENSOR_KERNELS_CUDA_MATRICES_H_

// Steps before and after the functions of solver.h: they copy matrices to the places and layouts
// that those want, and check them. f32 and f64.

#include <cstdint>

#include "absl/status/status.h"
#include "firn/device/internal/cuda_faults.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/shape.h"

namespace firn::cuda {

// An argument whose matrices can be refused, as a static object: {"inv", "a", "is singular"}.
using MatrixSite = firn::inner::internal::CudaIndexSite;

// The order of the matrices of a batch: row-major, or column-major.
enum class Order : uint8_t { kRows, kColumns };

// Copies matrices of `rows` x `columns` in the order `from` to `batch` of them in the order `to`;
// the `own` matrices are broadcast to `batch`.
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
// The same where an element is not positive and finite, or where infos[i], counted from 1, names a
// row without such a pivot, whose elements may be anything. Sets infos[i] to non-zero then.
absl::Status CheckDefinite(const Queue& queue, const MatrixSite& site, DType dtype, int64_t count,
                           int64_t n, const void* a, int32_t* infos);

// y: the lower (upper) triangles of row-major x, and zeros elsewhere; NaN for matrices that `bad`
// (may be null) marks. y may be x.
absl::Status CopyTriangles(const Queue& queue, DType dtype, int64_t count, int64_t n, bool upper,
                           const void* x, const int32_t* bad, void* y);

// The determinants of LU factors with pivots that count from 1. With null `logs`, `signs` gets the
// determinants; otherwise `signs` gets their signs and `logs` the logarithms of their absolute
// values.
absl::Status Determinants(const Queue& queue, DType dtype, int64_t count, int64_t n, const void* lu,
                          const int64_t* pivots, void* signs, void* logs);

// The addresses of `count` matrices that lie `bytes` apart, for functions that take batches.
absl::Status SetAddresses(const Queue& queue, int64_t count, const void* base, int64_t bytes,
                          void** to);
// Converts pivots of such functions to those that Determinants takes.
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
// The same for libraries that may never end on elements that are not finite: a matrix that has such
// elements is noted, becomes 0, and its number in `bad` becomes 1; that of the others is 0.
absl::Status CopyFinite(const Queue& queue, const MatrixSite& site, const MatrixPart& p,
                        const void* x, void* y, int32_t* bad);

// Copies vectors of matrices, each with the sign that makes the first of its largest elements
// positive; elements that differ only by rounding count as equal. The first `paired` vectors of
// `others` get the signs of the vectors with the same numbers, the rest keep theirs. All vectors of
// a matrix whose `bad` or `infos` is not 0 become NaN, and so do its `values`, as many as are
// paired.
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
// `site` says what is wrong with matrices of which only infos is not 0; the first of them is noted.
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
