#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_STEPS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_STEPS_H_

// Steps of optimizers (tensor/kernels/optimizer_rule.h) as nodes. A rule computes the step of one
// parameter. Changed states are new values, which become the file's outputs "<name>.next".

#include <functional>
#include <vector>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {

// One parameter. Elements are f32, of f64 parameters f64.
struct OnnxStep {
  OnnxValue p, g;                // the parameter, and its gradient
  std::vector<OnnxValue> state;  // absent where the call has none
  OnnxValue lr;                  // 0-d f64, as all numbers of a step are
  OnnxValue t;                   // the number of this step, from 1 on; 0 without a count

  bool has(size_t i) const { return !state[i].name.empty(); }
  // A number of the step, as elements use it.
  OnnxValue Of(const OnnxValue& number) const;
  // g += l2 p
  void Decay(double l2);
  // state[i] = keep state[i] + (1 - keep) x
  void Average(size_t i, double keep, const OnnxValue& x);
  // base^t, and 1 - base^t
  OnnxValue Powered(double base) const;
  OnnxValue Corrected(double base) const;
};

// Calls the rule with each parameter of the call, of so many states, and writes what it changed,
// unless the call says to skip the step. Counts the step.
void WriteSteps(OnnxExportCall& n, size_t states, const std::function<void(OnnxStep& s)>& rule);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_STEPS_H_
