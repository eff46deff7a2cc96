#ifndef FIRN_TENSOR_KERNELS_CPU_RECURRENT_AGAIN_H_
#define FIRN_TENSOR_KERNELS_CPU_RECURRENT_AGAIN_H_

#include <vector>

#include "firn/tensor/op.h"

namespace firn::cpu {

// For recurrent_layer and recurrent_layer_grad, for every dtype.
std::vector<Kernel> RecurrentAgainKernels();
std::vector<Kernel> RecurrentAgainGradKernels();

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RECURRENT_AGAIN_H_
