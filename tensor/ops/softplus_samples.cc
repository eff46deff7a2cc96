#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/softplus.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(softplus) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const SoftplusAttrs& a = attrs.get<SoftplusAttrs>();
    const double u = in[0] * a.beta;
    return u > a.threshold
               ? in[0]
               : (u > 0 ? u + std::log1p(std::exp(-u)) : std::log1p(std::exp(u))) / a.beta;
  });
  AddUnary(s, Normal, SoftplusAttrs{});
  s.Add("beta and threshold", {Grid({3, 16}, 7)}, SoftplusAttrs{2, 1.03});
  s.Add("no threshold", {Values({500, -500, 30, -30, 0.0, 1})}, SoftplusAttrs{1, INFINITY})
      .check_gradient = false;
  s.Add("edges", {Values({0.0, INFINITY, -INFINITY, NAN, 19.5, 20.5, -95})}, SoftplusAttrs{})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, SoftplusAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(softplus_grad) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const SoftplusAttrs& a = attrs.get<SoftplusAttrs>();
    const double u = in[1] * a.beta;
    return in[0] * (u > a.threshold ? 1 : 1 / (1 + std::exp(-u)));
  });
  AddGradient(s, Normal, SoftplusAttrs{});
  s.Add("beta and threshold", {Normal({3, 16}), Grid({3, 16}, 7)}, SoftplusAttrs{2, 1.03});
  s.Add("at the threshold", {Values({1, 1, 1}), Values({0.5, 0.75, 1})}, SoftplusAttrs{2, 1.5})
      .check_gradient = false;
}

}  // namespace firn::testing
