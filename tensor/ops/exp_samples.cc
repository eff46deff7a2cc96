#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(exp) {
  s.Reference([](double x) { return std::exp(x); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 100, -110, 88.5, -87.5})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

}  // namespace firn::testing
