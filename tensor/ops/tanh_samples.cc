#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/tanh.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(tanh) {
  s.Reference([](double x) { return std::tanh(x); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 30, -30, 1e-4})}).check_gradient =
      false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(tanh_grad) {
  s.Reference([](double dy, double y) { return dy * (1 - y * y); });
  AddGradient(s, Grid);
}

}  // namespace firn::testing
