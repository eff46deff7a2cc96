#ifndef FIRN_TENSOR_KERNELS_CUDA_STEPS_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_STEPS_CUH_

#include <algorithm>
#include <cstdint>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/shape.h"

namespace firn::cuda {

// The place of element i, counted row-major, in memory with these strides.
struct Steps {
  int rank = 0;
  int64_t sizes[kMaxRank] = {}, strides[kMaxRank] = {};

  Steps() = default;
  // Takes the dimensions unchanged.
  Steps(const Dims& from_sizes, const Dims& from_strides) : rank(from_sizes.rank) {
    std::copy_n(from_sizes.d, rank, sizes);
    std::copy_n(from_strides.d, rank, strides);
  }
  // Appends a dimension, as part of the one before if it continues that.
  void Add(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (rank > 0 && strides[rank - 1] == stride * size) {
      sizes[rank - 1] *= size;
      strides[rank - 1] = stride;
    } else {
      sizes[rank] = size;
      strides[rank++] = stride;
    }
  }

  FIRN_HOST_DEVICE int64_t operator()(int64_t i) const { return Offset(i, rank); }
  // For the first element of run i; runs go along the last dimension.
  FIRN_HOST_DEVICE int64_t run(int64_t i) const { return Offset(i, rank - 1); }

 private:
  FIRN_HOST_DEVICE int64_t Offset(int64_t i, int dims) const {
    int64_t offset = 0;
#pragma unroll 1  // rarely more than one round
    for (int d = dims - 1; d > 0; --d) offset += TakeDigit(i, sizes[d]) * strides[d];
    return dims > 0 ? offset + i * strides[0] : 0;
  }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_STEPS_CUH_
