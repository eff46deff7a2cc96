#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/sigmoid.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(sigmoid) {
  s.Reference([](double x) { return 1 / (1 + std::exp(-x)); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 30, -30, -95})}).check_gradient =
      false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(sigmoid_grad) {
  s.Reference([](double dy, double y) { return dy * y * (1 - y); });
  AddGradient(s, Positive);
}

}  // namespace firn::testing
