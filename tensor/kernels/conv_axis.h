#ifndef FIRN_TENSOR_KERNELS_CONV_AXIS_H_
#define FIRN_TENSOR_KERNELS_CONV_AXIS_H_

// Where the taps of kernels meet images, for bodies.

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/divide.h"

namespace firn {

// One axis of a convolution: output o meets tap k of the kernel at input
// o * stride - padding + k * dilation.
struct ConvAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;

  // The input that output o meets at tap k, -1 for padding.
  FIRN_HOST_DEVICE int64_t Input(int64_t o, int64_t k) const {
    const int64_t i = o * stride - padding + k * dilation;
    return i < in ? i : -1;  // negative: padding too
  }
  // The output that input i meets at tap k, -1 for none.
  FIRN_HOST_DEVICE int64_t Output(int64_t i, int64_t k) const {
    int64_t o = i + padding - k * dilation;
    if (o < 0 || TakeDigit(o, stride) != 0) return -1;
    return o < out ? o : -1;
  }
  // The outputs that meet inputs [first, last) at tap k: `begin` up to `end`.
  struct Outputs {
    int64_t begin, end;
  };
  FIRN_HOST_DEVICE Outputs OutputsOf(int64_t first, int64_t last, int64_t k) const {
    const int64_t begin = OutputFrom(first, k), end = OutputFrom(last, k);
    return {begin, end < out ? end : out};
  }

 private:
  // The first output that meets inputs from i on at tap k.
  FIRN_HOST_DEVICE int64_t OutputFrom(int64_t i, int64_t k) const {
    const int64_t o = i + padding - k * dilation;
    if (o <= 0 || stride == 1) return o > 0 ? o : 0;
    int64_t rounded_up = o + stride - 1;
    TakeDigit(rounded_up, stride);
    return rounded_up;
  }
};

// A place in an image of three dimensions.
struct ConvPlace {
  int64_t d, h, w;
};

// Takes the place in an image of these sizes from the last digits of `i`, like TakeDigit.
FIRN_HOST_DEVICE inline ConvPlace TakePlace(int64_t& i, int64_t depth, int64_t height,
                                            int64_t width) {
  ConvPlace p;
  p.w = TakeDigit(i, width);
  p.h = TakeDigit(i, height);
  p.d = depth == 1 ? 0 : TakeDigit(i, depth);
  return p;
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CONV_AXIS_H_
