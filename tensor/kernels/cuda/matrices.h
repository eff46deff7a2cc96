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

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_MATRICES_H_
