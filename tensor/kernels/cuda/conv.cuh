#ifndef FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_

// What the loops of the three convolution passes share.

#include "tensor/ops/conv/conv_problem.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/layouts.h"

namespace firn::cuda {

// One axis of a convolution: output o meets tap k of the kernel at input
// o * stride - padding + k * dilation.
struct ConvAxis {
  int64_t in, out, kernel, stride, padding, dilation;

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
};

struct ConvSizes {
  explicit ConvSizes(const ConvProblem& p)
      : batch(p.batch),
        in(p.in),
        out(p.out),
        in_per_group(p.in_per_group()),
        out_per_group(p.out_per_group()),
        h{p.in_size.h,      p.out_size.h,      p.kernel.h,
          p.attrs.stride.h, p.attrs.padding.h, p.attrs.dilation.h},
        w{p.in_size.w,      p.out_size.w,      p.kernel.w,
          p.attrs.stride.w, p.attrs.padding.w, p.attrs.dilation.w} {}

  int64_t batch, in, out, in_per_group, out_per_group;
  ConvAxis h, w;

  FIRN_HOST_DEVICE int64_t pixels() const { return h.out * w.out; }
};

// A tensor of rank 4, row-major or NHWC: images, or weights with their outputs, inputs and taps.
template <class T>
struct ConvTensor {
  T* data;
  int64_t n, c, h, w;  // strides

  ConvTensor(const TensorSpec& spec, T* at) : data(at) {
    const Dims strides = StridesOf(spec);
    n = strides[0];
    c = strides[1];
    h = strides[2];
    w = strides[3];
  }
  FIRN_HOST_DEVICE T* at(int64_t image, int64_t channel, int64_t row, int64_t col) const {
    return data + image * n + channel * c + row * h + col * w;
  }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_
