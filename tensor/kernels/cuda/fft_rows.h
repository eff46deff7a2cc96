#ifndef FIRN_TENSOR_KERNELS_CUDA_FFT_ROWS_H_
#define FIRN_TENSOR_KERNELS_CUDA_FFT_ROWS_H_

// Copies lines along any dimension of a tensor to rows that lie one behind the other, and back.

#include <cstdint>

#include "absl/status/status.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// Number t of line (o, i) is [o][t][i] of a tensor; `parts` elements each: 2 for a complex one.
struct FftPlaces {
  int64_t outer, length, inner;
  int64_t parts;
  int64_t lines() const { return outer * inner; }
};

// rows[line][t] for t < count: the number of x, and 0 from `length` on. `real_size` > 0: the
// rows are coefficients of so many real numbers, and those that are their own mirror image (the
// first and, where the size is even, the last one) get no imaginary part.
absl::Status ReadFftRows(const Queue& queue, DType dtype, const FftPlaces& places, const void* x,
                         int64_t count, int64_t real_size, void* rows);

// y's numbers: `factor` times those of rows[line][length], which may be y where inner is 1.
absl::Status WriteFftRows(const Queue& queue, DType dtype, const FftPlaces& places, double factor,
                          const void* rows, void* y);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_FFT_ROWS_H_
