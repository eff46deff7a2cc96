#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_H_

#include <vector>

#include "tensor/kernels/cpu/winograd.h"
#include "tensor/op.h"

namespace firn::cuda {

// The kernels by cuDNN of conv2d (kForward: x, weight, bias -> y), conv_transpose2d (kBackwardData:
// y, weight -> x) and conv2d_weight_grad (kBackwardWeight: x, y -> weight). They refuse calls that
// no engine of cuDNN takes.
std::vector<Kernel> DnnConvKernels(ConvPass pass);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_H_
