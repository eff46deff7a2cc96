#ifndef FIRN_TENSOR_KERNELS_CUDA_FFT_H_
#define FIRN_TENSOR_KERNELS_CUDA_FFT_H_

// Fourier transforms by cuFFT.

#include <compare>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

enum class FftKind : uint8_t {
  kComplex,   // n complex numbers to n
  kFromReal,  // n real numbers to n / 2 + 1 complex ones
  kToReal,    // n / 2 + 1 complex numbers to n real ones
};

// `count` lines, one behind the other, without a divisor. f32 and f64; complex numbers are real and
// imaginary part.
struct FftLines {
  DType dtype;
  FftKind kind;
  int64_t n, count;
  auto operator<=>(const FftLines&) const = default;
};

// Bytes of workspace, aligned to kWorkspaceAlignment, for at least one line. Makes the plan on the
// device at first use. Errors: Unavailable where there is no cuFFT.
absl::StatusOr<size_t> FftWorkspace(Device device, const FftLines& lines);

// Queues the transforms of lines for which FftWorkspace was called. `inverse` matters only where
// both sides are complex. Lines are aligned for complex numbers (2 * SizeOf(dtype)), and those of
// kToReal may be overwritten.
absl::Status FftTransform(const Queue& queue, const FftLines& lines, bool inverse, const void* from,
                          void* to, void* workspace);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_FFT_H_
