#ifndef FIRN_TENSOR_KERNELS_CPU_BATCH_NORM_KERNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_BATCH_NORM_KERNELS_H_

#include "firn/tensor/op.h"

namespace firn::cpu {

// For batch_norm_train, batch_norm_act_train and batch_norm_grad: x row-major, in blocks of
// kChannelBlock or channels-last.
Kernel BatchNormKernel();
Kernel BatchNormGradKernel();

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_BATCH_NORM_KERNELS_H_
