#ifndef FIRN_TENSOR_KERNELS_CUDA_LAYOUTS_H_
#define FIRN_TENSOR_KERNELS_CUDA_LAYOUTS_H_

// Which tensors are NHWC on CUDA devices: convolutions ask for it, and so does the gradient of an
// average over whole images; kernels that work channel by channel keep it, and reductions read it.
// CUDA kernels know no other blocks.

#include "firn/tensor/op.h"

namespace firn::cuda {

// LayoutRequest of kernels that know both orders: tensors with input 0's rank, batch and channels
// are NHWC when one of them comes so, all others row-major.
void ChannelLayouts(const KernelQuery& q, LayoutRequest& want);

// LayoutRequest of kernels that read input 0 by its strides: NHWC stays as it is.
void StridedLayouts(const KernelQuery& q, LayoutRequest& want);

// Whether convolutions of this dtype are faster with NHWC because they run on tensor cores: those
// of half types, and of f32 where it may be rounded to TF32. False with FIRN_CUDA_NHWC=0.
bool ConvWantsNhwc(DType dtype, bool tf32);
bool ConvWantsNhwc(DType dtype);  // as ConvMath() is now

// Makes all images and weights of a convolution NHWC. A weight's gradient stays row-major, like its
// parameter.
void RequestNhwc(const KernelQuery& q, bool weight_gradient, LayoutRequest& want);

// The LayoutRequests of convolutions that know both orders.
void ConvLayouts(const KernelQuery& q, LayoutRequest& want);
void ConvWeightGradLayouts(const KernelQuery& q, LayoutRequest& want);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_LAYOUTS_H_
