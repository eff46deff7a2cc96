#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(square) {
  s.Reference([](double x) { return x * x; });
  AddUnary(s, Normal);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

}  // namespace firn::testing
