#ifndef FIRN_TENSOR_KERNELS_VECTOR_SIGN_H_
#define FIRN_TENSOR_KERNELS_VECTOR_SIGN_H_

namespace firn {

// Vectors whose sign is free get the one that makes their largest element positive, on every
// device. Elements of at least this part of the largest count as equal to it, and the first of them
// decides: in (1, -1, -1), rounding would decide otherwise.
inline constexpr double kAsLarge = 1 - 1.0 / 4096;

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_VECTOR_SIGN_H_
