#ifndef FIRN_AUTOGRAD_GRADCHECK_H_
#define FIRN_AUTOGRAD_GRADCHECK_H_

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct GradCheckOptions {
  double eps = 1e-6;   // step of the differences
  double atol = 1e-5;  // a gradient g passes against a difference d when
  double rtol = 1e-3;  // |g - d| <= atol + rtol * |d|
  // At most so many elements of each input, spread evenly; 0: all of them.
  int64_t max_elements = 0;
};

// A function to check: results of any shape, several of them if need be. It must give the same
// values for the same inputs, and be differentiable at them: a kink within eps shows up as a wrong
// gradient.
using GradCheckFn = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

// Compares the gradients of `fn` with central differences: of sum_i <w_i, fn(inputs)_i> for fixed
// pseudo-random weights w_i, so that errors cannot cancel. It checks the inputs that require a
// gradient, or all floating ones when none does; these must be f64, since differences of f32 values
// tell nothing. The inputs themselves are neither changed nor given gradients.
//
// Returns InvalidArgument that names the worst element and both numbers when gradients are wrong.
// Throws what `fn` throws.
absl::Status GradCheck(const GradCheckFn& fn, const std::vector<Tensor>& inputs,
                       const GradCheckOptions& options = {});

// The same for second derivatives: checks the gradients that backward computes for `fn` as a
// function of the inputs and of the gradients coming in.
absl::Status GradGradCheck(const GradCheckFn& fn, const std::vector<Tensor>& inputs,
                           const GradCheckOptions& options = {});

// For functions of one tensor: GradCheck([](const Tensor& x) { return Tanh(x); }, x).
template <class F>
requires(std::is_invocable_r_v<Tensor, F, const Tensor&>) absl::Status
    GradCheck(const F& fn, const Tensor& input, const GradCheckOptions& options = {}) {
  const GradCheckFn list = [&fn](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{fn(in[0])};
  };
  return GradCheck(list, std::vector<Tensor>{input}, options);
}
template <class F>
requires(std::is_invocable_r_v<Tensor, F, const Tensor&>) absl::Status
    GradGradCheck(const F& fn, const Tensor& input, const GradCheckOptions& options = {}) {
  const GradCheckFn list = [&fn](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{fn(in[0])};
  };
  return GradGradCheck(list, std::vector<Tensor>{input}, options);
}

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRADCHECK_H_
