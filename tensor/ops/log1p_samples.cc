#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(log1p) {
  s.Reference([](double x) { return std::log1p(x); });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -1, -2, -0.75, 1e-4, 6e4})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

}  // namespace firn::testing
