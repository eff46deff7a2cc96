// The common part of the samples of optimizers' steps.

#include "firn/optim/step_samples.h"

#include <limits>
#include <utility>

#include "firn/tensor/ops/shape/convert.h"

namespace firn::testing {

Tensor Lr(double lr) { return Values({lr}, Shape()); }
Tensor Skip(bool skip) { return Cast(Indices({skip ? 1 : 0}, Shape()), DType::kBool); }
Tensor Step(int64_t taken) { return Indices({taken}, Shape()); }

ReferenceFn StepReference(
    size_t states, std::function<void(AttrsRef attrs, double lr, double t, RefTensor& param,
                                      const RefTensor& grad, const std::vector<RefTensor*>& state)>
                       f) {
  return [states, f = std::move(f)](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const double lr = in[0][0];
    const bool skip = in[1].defined() && in[1][0] != 0;
    std::vector<RefTensor> result;
    for (size_t at = 2; at < in.size(); at += states + 3) {
      std::vector<RefTensor> moved(in.begin() + static_cast<std::ptrdiff_t>(at),
                                   in.begin() + static_cast<std::ptrdiff_t>(at + states + 3));
      RefTensor& step = moved.back();
      if (step.defined() && !skip) step[0] += 1;
      const double t = step.defined() ? step[0] : std::numeric_limits<double>::infinity();
      std::vector<RefTensor*> state(states);
      for (size_t s = 0; s < states; ++s) {
        state[s] = moved[2 + s].defined() ? &moved[2 + s] : nullptr;
      }
      if (!skip) f(attrs, lr, t, moved[0], moved[1], state);
      for (size_t i = 0; i < moved.size(); ++i) {
        if (i != 1 && moved[i].defined()) result.push_back(moved[i]);
      }
    }
    return result;
  };
}

ReferenceFn StepReference(size_t states,
                          std::function<void(AttrsRef attrs, double lr, double t, double& param,
                                             double grad, double* const* state)>
                              f) {
  return StepReference(
      states, [f = std::move(f)](AttrsRef attrs, double lr, double t, RefTensor& param,
                                 const RefTensor& grad, const std::vector<RefTensor*>& state) {
        std::vector<double*> of_element(state.size());
        for (int64_t i = 0; i < param.size(); ++i) {
          for (size_t s = 0; s < state.size(); ++s) {
            of_element[s] = state[s] != nullptr ? &(*state[s])[i] : nullptr;
          }
          f(attrs, lr, t, param[i], grad[i], of_element.data());
        }
      });
}

std::vector<Tensor> StepInputsOf(const Shape& shape, size_t states, unsigned given, Tensor step,
                                 uint64_t seed) {
  std::vector<Tensor> inputs = {Normal(shape, seed), Normal(shape, seed + 1)};
  for (size_t s = 0; s < states; ++s) {
    // If a later state is a mean, the first one is a mean of squares, and at least the square of
    // that mean.
    const double low = s == 0 ? 4 : 0.25, high = s == 0 ? 8 : 1;
    inputs.push_back((given >> s & 1u) != 0 ? Uniform(shape, low, high, seed + 2 + s) : Tensor());
  }
  inputs.push_back(std::move(step));
  return inputs;
}

std::vector<Tensor> StepCall(double lr, std::vector<std::vector<Tensor>> params, Tensor skip) {
  std::vector<Tensor> inputs = {Lr(lr), std::move(skip)};
  for (const std::vector<Tensor>& p : params) inputs.insert(inputs.end(), p.begin(), p.end());
  return inputs;
}

void AddStepSamples(Samples& s, size_t states, unsigned given, AttrsRef attrs, double flops) {
  const auto param = [&](const Shape& shape, int64_t taken, uint64_t seed = 1) {
    return StepInputsOf(shape, states, given, Step(taken), seed);
  };
  s.Add("a step", StepCall(0.1, {param({3, 5}, 3)}), attrs);
  s.Add("first step", StepCall(0.1, {param({3, 5}, 0)}), attrs);
  s.Add("skipped", StepCall(0.1, {param({3, 5}, 3)}, Skip(true)), attrs).check_function =
      false;  // the functions never skip
  s.Add("not skipped", StepCall(0.1, {param({3, 5}, 3)}, Skip(false)), attrs).check_function =
      false;
  s.Add("scalar", StepCall(1, {param({}, 1)}), attrs);
  s.Add("nothing", StepCall(1, {param({0}, 2)}), attrs);
  s.Add("several", StepCall(0.1, {param({3, 5}, 3), param({300, 300}, 0), param({50000}, 7, 9)}),
        attrs);
  const double tensors = 3 + 2 * static_cast<double>(states);  // read or written
  s.AddLarge("4M", StepCall(0.1, {param({2048, 2048}, 1)}), attrs, flops * 2048 * 2048,
             tensors * 4 * 2048 * 2048);
  std::vector<Tensor> wrong = StepCall(0.1, {param({3, 5}, 3)});
  wrong[3] = Normal({5});
  s.AddError("shapes", std::move(wrong), attrs, "grad [5] and param [3, 5] differ");
  s.AddError(
      "lr is a vector",
      [&] {
        std::vector<Tensor> inputs = StepCall(0.1, {param({3, 5}, 3)});
        inputs[0] = Values({0.1});
        return inputs;
      }(),
      attrs, "lr must have 0 dimensions");
}

}  // namespace firn::testing
