#ifndef FIRN_TENSOR_KERNELS_CPU_RNN_KERNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_RNN_KERNELS_H_

#include <vector>

#include "firn/tensor/op.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::cpu {

// For rnn_tanh_layer, rnn_relu_layer and their gradients, for every dtype.
std::vector<Kernel> RnnKernels(RnnNonlinearity nonlinearity);
std::vector<Kernel> RnnGradKernels(RnnNonlinearity nonlinearity);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RNN_KERNELS_H_
