#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_KERNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_KERNELS_H_

#include <vector>

#include "firn/tensor/kernels/cpu/winograd.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// The CPU kernels of convolutions (kForward: x, weight, bias -> y), transposed ones
// (kBackwardData: y, weight -> x) and weight gradients (kBackwardWeight: x, y -> weight) of 1 to 3
// dimensions, in order of preference: sums of shifted rows for few channels a group, Winograd where
// it wins, a loop for the first layer's weights, oneDNN, all of these in f32 for half types,
// products of columns for f64, the definition.
std::vector<Kernel> ConvKernels(ConvPass pass, int dims);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_KERNELS_H_
