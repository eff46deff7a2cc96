#ifndef FIRN_TENSOR_KERNELS_OPTIMIZER_INPUTS_H_
#define FIRN_TENSOR_KERNELS_OPTIMIZER_INPUTS_H_

namespace firn {

// The inputs of an operation that moves parameters: these two, and then, for each parameter, the
// parameter itself, its gradient, state and count of steps.
enum OptimizerInput {
  kLearningRate,
  kSkip,  // bool, may be absent: where it is true, nothing changes
  kFirstParam
};

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_OPTIMIZER_INPUTS_H_
