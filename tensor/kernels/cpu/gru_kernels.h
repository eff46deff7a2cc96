#ifndef FIRN_TENSOR_KERNELS_CPU_GRU_KERNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_GRU_KERNELS_H_

#include <vector>

#include "firn/tensor/op.h"

namespace firn::cpu {

// For gru_layer and gru_layer_grad, for every dtype.
std::vector<Kernel> GruKernels();
std::vector<Kernel> GruGradKernels();

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GRU_KERNELS_H_
