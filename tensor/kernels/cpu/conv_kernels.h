#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_KERNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_KERNELS_H_

#include <vector>

#include "tensor/kernels/cpu/winograd.h"
#include "tensor/op.h"

namespace firn::cpu {

// The CPU kernels of conv2d (kForward: x, weight, bias -> y), conv_transpose2d (kBackwardData:
// y, weight -> x) and conv2d_weight_grad (kBackwardWeight: x, y -> weight), in order of preference:
// Winograd where it wins, a loop for the first layer's weights, oneDNN, the definition.
std::vector<Kernel> ConvKernels(ConvPass pass, int dims);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_KERNELS_H_
