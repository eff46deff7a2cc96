#ifndef FIRN_TENSOR_KERNELS_CPU_LSTM_KERNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_LSTM_KERNELS_H_

#include <vector>

#include "firn/tensor/op.h"

namespace firn::cpu {

// For lstm_layer and lstm_layer_grad, for every dtype.
std::vector<Kernel> LstmKernels();
std::vector<Kernel> LstmGradKernels();

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_LSTM_KERNELS_H_
