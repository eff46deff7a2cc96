#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/elu.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(elu) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const EluAttrs& a = attrs.get<EluAttrs>();
    return a.scale * (in[0] > 0 || std::isnan(in[0])
                          ? in[0]
                          : a.alpha * (std::exp(in[0] * a.input_scale) - 1));
  });
  AddUnary(s, Grid, EluAttrs{});
  s.Add("alpha", {Grid({3, 4}, 7)}, EluAttrs{.alpha = 0.5});
  s.Add("negative alpha", {Grid({3, 4}, 8)}, EluAttrs{.alpha = -0.5});
  s.Add("selu", {Grid({3, 4}, 9)},
        EluAttrs{.alpha = 1.6732632423543772, .scale = 1.0507009873554805});
  s.Add("celu", {Grid({3, 4}, 10)}, EluAttrs{.alpha = 2, .input_scale = 0.5});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 200, -200})}, EluAttrs{})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, EluAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(elu_grad) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const EluAttrs& a = attrs.get<EluAttrs>();
    const double left = a.alpha * a.input_scale * std::exp(in[1] * a.input_scale);
    return in[0] * a.scale * (in[1] <= 0 ? left : 1);
  });
  AddGradient(s, Grid, EluAttrs{.alpha = 1.5, .scale = 2, .input_scale = 0.5});
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({0.0, -0.0, INFINITY, -INFINITY, 200})},
        EluAttrs{})
      .check_gradient = false;
}

}  // namespace firn::testing
