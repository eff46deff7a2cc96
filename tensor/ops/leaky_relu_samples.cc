#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/leaky_relu.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(leaky_relu) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] > 0 ? in[0] : attrs.get<LeakyReluAttrs>().alpha * in[0];
  });
  AddUnary(s, Grid, LeakyReluAttrs{});
  s.Add("negative alpha", {Grid({3, 4}, 7)}, LeakyReluAttrs{-1.5});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}, LeakyReluAttrs{0.25})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, LeakyReluAttrs{},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(leaky_relu_grad) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[1] > 0 ? in[0] : attrs.get<LeakyReluAttrs>().alpha * in[0];
  });
  AddGradient(s, Grid, LeakyReluAttrs{0.25});
  s.Add("edges", {Values({1, 2, 3, 4}), Values({0.0, -0.0, INFINITY, -INFINITY})},
        LeakyReluAttrs{-2})
      .check_gradient = false;
}

}  // namespace firn::testing
