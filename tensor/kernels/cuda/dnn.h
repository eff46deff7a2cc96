#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_H_

#include <vector>

#include "firn/tensor/op.h"

namespace firn::cuda {

// The operations that cuDNN computes as one convolution.
enum class DnnConv {
  kForward,            // conv1d, 2d, 3d: x, weight, bias -> y
  kForwardActivation,  // conv2d_act: the same and an activation
  kBackwardData,       // conv_transpose1d, 2d, 3d: y, weight -> x
  kBackwardWeight,     // conv1d_weight_grad, 2d, 3d: x, y -> weight
};

// The kernels by cuDNN. They refuse calls that no engine of cuDNN takes. Those whose name ends in
// "_timed" run the fastest plan; they take calls only under a TuningScope (tensor/tuning.h).
std::vector<Kernel> DnnConvKernels(DnnConv conv);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_H_
