#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(reciprocal) {
  s.Reference([](double x) { return 1 / x; });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -4, 8})}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

}  // namespace firn::testing
