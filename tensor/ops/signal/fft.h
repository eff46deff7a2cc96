#ifndef FIRN_TENSOR_OPS_SIGNAL_FFT_H_
#define FIRN_TENSOR_OPS_SIGNAL_FFT_H_

#include <cstdint>
#include <optional>

#include "firn/device/enum_words.h"
#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The divisor of a transform of n numbers.
enum class FftNorm : uint8_t {
  kBackward,  // the inverse transform by n
  kOrtho,     // both by the root of n
  kForward,   // the forward transform by n
};

constexpr auto WordsOf(FftNorm) {
  return inner::EnumWords<FftNorm>({{FftNorm::kBackward, "backward"},
                                    {FftNorm::kOrtho, "ortho"},
                                    {FftNorm::kForward, "forward"}});
}

namespace inner {
struct FftAttrs {
  int64_t dim = -1;
  FftNorm norm = FftNorm::kBackward;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("norm", norm);
  }
};
struct IrfftAttrs {
  int64_t size = 0;
  int64_t dim = -1;
  FftNorm norm = FftNorm::kBackward;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("dim", dim);
    v.Field("norm", norm);
  }
};
}  // namespace inner

// Discrete Fourier transforms, like torch.fft. Complex numbers are the last dimension, of size 2:
// real and imaginary part, PyTorch's view_as_real. Dimensions to transform do not count this one:
// -1 is the one before it. Transforms of several dimensions are made one dimension after the other;
// no dims: all of them. f32 and f64, any length from 1 to 2^27. Gradients of any order. Throw where
// a dimension is out of range, named twice or empty.

// y[k] = sum over t of x[t] exp(-2 pi i k t / n)
//   x: [..., n, 2]      result: the same shape
Tensor Fft(const Tensor& x, const DimList& dims = {-1}, FftNorm norm = FftNorm::kBackward);

// The inverse: x[t] = sum over k of y[k] exp(2 pi i k t / n) / n
//   y: [..., n, 2]      result: the same shape
Tensor Ifft(const Tensor& y, const DimList& dims = {-1}, FftNorm norm = FftNorm::kBackward);

// Fft of real numbers: the first n / 2 + 1 coefficients of the last one of `dims`, whose others are
// their mirror image.
//   x: [..., n]      result: [..., n / 2 + 1, 2]
Tensor Rfft(const Tensor& x, const DimList& dims = {-1}, FftNorm norm = FftNorm::kBackward);

// The inverse of Rfft: real numbers, `size` of them in the last one of `dims` (absent: 2 (m - 1)).
// Coefficients beyond size / 2 are left out, missing ones 0, and the imaginary parts of the first
// one and, for an even size, the last one do not count.
//   y: [..., m, 2]      result: [..., size]
Tensor Irfft(const Tensor& y, std::optional<int64_t> size = {}, const DimList& dims = {-1},
             FftNorm norm = FftNorm::kBackward);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGNAL_FFT_H_
