#ifndef FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_

// Parts shared by the loops of the three convolution passes.

#include "firn/tensor/kernels/conv_axis.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cuda {

// Sizes of problems with up to three dimensions, written as three.
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

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CONV_CUH_
