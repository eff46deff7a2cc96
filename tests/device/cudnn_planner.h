#ifndef FIRN_TESTS_DEVICE_CUDNN_PLANNER_H_
#define FIRN_TESTS_DEVICE_CUDNN_PLANNER_H_

#include <string>

#include "firn/tensor/kernels/cuda/dnn_attention.h"

namespace firn {

// cuDNN itself, not a stand-in, plans for a device that is not there: from 9.8 on it takes a
// description in its place, which NVIDIA calls deviceless ahead-of-time compilation.

// Whether it can be asked: cuDNN, and a driver's library or the stub of it that a toolkit has.
bool CudnnPlans();

// Why it has no engine for a call's graph on a device of this capability (80, 90 or 100, times 10
// of the first number), or what is wrong with the engine; "" if it has a right one.
std::string WhyCudnnRefuses(const cuda::DnnAttentionCall& call, int capability);

}  // namespace firn

#endif  // FIRN_TESTS_DEVICE_CUDNN_PLANNER_H_
