#ifndef FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_
#define FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_

// What the operations that move parameters in place have in common. Their inputs are the learning
// rate, whether to skip the step, and then, for each parameter, the parameter, its gradient, state
// and count of steps: one call moves all parameters of a network.

#include <initializer_list>
#include <utility>

#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/kernels/cpu/multi_tensor.h"
#include "tensor/kernels/optimizer_inputs.h"
#include "tensor/op.h"

namespace firn {

// Refuses tensors (position and name in a parameter's `cycle` of inputs) whose shape is not that of
// the parameter, the first of the cycle.
inline absl::Status InferOptimizerStep(
    InferContext& c, int cycle, std::initializer_list<std::pair<int, const char*>> like_param) {
  for (int p = kFirstParam; p < c.num_inputs(); p += cycle) {
    for (const auto& [offset, name] : like_param) {
      const int i = p + offset;
      FIRN_RETURN_IF(c.has(i) && c.shape(i) != c.shape(p),
                     InvalidArgument(name, " ", c.shape(i).ToString(), " and param ",
                                     c.shape(p).ToString(), " differ"));
    }
  }
  return absl::OkStatus();
}

namespace cpu {

// The value of a 0-d floating input.
inline double ScalarOf(const KernelContext& k, int i) {
  double value = 0;
  VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
    value = static_cast<double>(static_cast<ComputeOf<T>>(*k.in<T>(i)));
  });
  return value;
}

inline bool SkipsStep(const KernelContext& k) {
  const bool* const skip = k.in<bool>(kSkip);
  return skip != nullptr && *skip;
}

// Adds 1 to the counts of steps (i64, may be absent), `offset` after each parameter.
inline void CountSteps(const KernelContext& k, int cycle, int offset) {
  for (int i = kFirstParam + offset; i < k.num_inputs(); i += cycle) {
    if (int64_t* step = k.inout<int64_t>(i)) ++*step;
  }
}

}  // namespace cpu
}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CPU_OPTIMIZER_STEP_H_
