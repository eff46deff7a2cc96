#ifndef FIRN_OPTIM_STEP_SAMPLES_H_
#define FIRN_OPTIM_STEP_SAMPLES_H_

#include <functional>
#include <vector>

#include "firn/tensor/testing/samples.h"

namespace firn::testing {

Tensor Lr(double lr);
Tensor Skip(bool skip);
Tensor Step(int64_t taken);

// One element's step, the slow way: changes `param` and what state[i] points to, null where state i
// is not given. `t` counts from 1; of a step that is not counted it is infinite.
template <class Attrs>
using StepOfElement = void (*)(const Attrs& a, double lr, double t, double& param, double grad,
                               double* const* state);

// One parameter's step, the slow way; as above.
template <class Attrs>
using StepOfParam = void (*)(const Attrs& a, double lr, double t, RefTensor& param,
                             const RefTensor& grad, const std::vector<RefTensor*>& state);

// The reference of an operation that is made of a rule (kernels/optimizer_rule.h).
ReferenceFn StepReference(
    size_t states, std::function<void(AttrsRef attrs, double lr, double t, RefTensor& param,
                                      const RefTensor& grad, const std::vector<RefTensor*>& state)>
                       f);
template <class Attrs>
ReferenceFn StepReference(size_t states, StepOfParam<Attrs> f) {
  return StepReference(states, [f](AttrsRef attrs, double lr, double t, RefTensor& param,
                                   const RefTensor& grad, const std::vector<RefTensor*>& state) {
    f(attrs.get<Attrs>(), lr, t, param, grad, state);
  });
}
ReferenceFn StepReference(size_t states,
                          std::function<void(AttrsRef attrs, double lr, double t, double& param,
                                             double grad, double* const* state)>
                              f);
template <class Attrs>
ReferenceFn StepReference(size_t states, StepOfElement<Attrs> f) {
  return StepReference(
      states, [f](AttrsRef attrs, double lr, double t, double& param, double grad,
                  double* const* state) { f(attrs.get<Attrs>(), lr, t, param, grad, state); });
}

// The inputs of one parameter: elements differ for each `seed`, and states are positive; bit i of
// `given` tells whether state i is given.
std::vector<Tensor> StepInputsOf(const Shape& shape, size_t states, unsigned given, Tensor step,
                                 uint64_t seed = 1);
// The call's inputs.
std::vector<Tensor> StepCall(double lr, std::vector<std::vector<Tensor>> params,
                             Tensor skip = Tensor());

// Calls that every rule must serve: skipped or not, a scalar, a parameter without elements, and
// several parameters with different counts of steps, which fill two whole blocks of the loop; and
// one for timing.
void AddStepSamples(Samples& s, size_t states, unsigned given, AttrsRef attrs, double flops);

}  // namespace firn::testing

#endif  // FIRN_OPTIM_STEP_SAMPLES_H_
