#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/silu.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(silu) {
  s.Reference([](double x) { return x / (1 + std::exp(-x)); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, NAN, 30, -30, -95})}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(silu_grad) {
  s.Reference([](double dy, double x) {
    const double y = 1 / (1 + std::exp(-x));
    return dy * (y + x * y * (1 - y));
  });
  AddGradient(s, Normal);
  s.Add("edges", {Values({1, 1, 1, 1}), Values({0.0, 95, -30, NAN})}).check_gradient = false;
}

}  // namespace firn::testing
