#ifndef FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_

// What the loops of the three convolution passes share.

#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/layouts.h"
#include "tensor/kernels/divide.h"
#include "tensor/ops/conv/conv_problem.h"

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

// Of problems with up to three dimensions, as one of three.
struct ConvSizes {
  explicit ConvSizes(const ConvProblem& problem)
      : batch(problem.batch),
        in(problem.in),
        out(problem.out),
        in_per_group(problem.in_per_group()),
        out_per_group(problem.out_per_group()) {
    const ConvProblem p = problem.Lifted(Sizes::kMost);
    ConvAxis* const axes[] = {&d, &h, &w};
    for (int i = 0; i < Sizes::kMost; ++i) {
      *axes[i] = {p.in_size[i],      p.out_size[i],      p.kernel[i],
                  p.attrs.stride[i], p.attrs.padding[i], p.attrs.dilation[i]};
    }
  }

  int64_t batch, in, out, in_per_group, out_per_group;
  ConvAxis d, h, w;

  FIRN_HOST_DEVICE int64_t pixels() const { return d.out * h.out * w.out; }
};

// A place in an image of three dimensions.
struct ConvPlace {
  int64_t d, h, w;
};

// A tensor of rank 3 to 5, row-major or with its channels last: images, or weights with their
// outputs, inputs and taps.
template <class T>
struct ConvTensor {
  T* data;
  int64_t n, c, d, h, w;  // strides

  ConvTensor(const TensorSpec& spec, T* at) : data(at) {
    const Dims strides = StridesOf(spec);
    const auto spatial = [&](int i) {  // counted from the last dimension
      return strides.rank - i > 2 ? strides[strides.rank - 1 - i] : 0;
    };
    n = strides[0];
    c = strides[1];
    d = spatial(2);
    h = spatial(1);
    w = spatial(0);
  }
  FIRN_HOST_DEVICE T* at(int64_t image, int64_t channel, const ConvPlace& p) const {
    return data + image * n + channel * c + p.d * d + p.h * h + p.w * w;
  }
};

// The next place of an image of these sizes, taken from the end of a position.
FIRN_HOST_DEVICE inline ConvPlace TakePlace(int64_t& i, int64_t depth, int64_t height,
                                            int64_t width) {
  ConvPlace p;
  p.w = TakeDigit(i, width);
  p.h = TakeDigit(i, height);
  p.d = depth == 1 ? 0 : TakeDigit(i, depth);
  return p;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_
