#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_FIRST_LAYER_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_FIRST_LAYER_H_

// The weight gradient of a network's first convolution: a few row-major channels in,
// channel-blocked channels out.

#include <cstddef>

#include "absl/status/status.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

absl::Status FirstLayerTakes(const ConvProblem& p);
size_t FirstLayerWorkspace(const ConvProblem& p);
// x: row-major; y: blocked by kChannelBlock; weight: row-major, overwritten.
void FirstLayerWeightGrad(const ConvProblem& p, const float* x, const float* y, float* weight,
                          float* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_FIRST_LAYER_H_
