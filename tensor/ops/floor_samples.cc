#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(floor) {
  s.Reference([](double x) { return std::floor(x); });
  AddUnary(s, [](const Shape& shape, uint64_t seed) { return Distinct(shape, 0.2, seed); });
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5, -1.5, 2, -2, 1e4})})
      .check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

}  // namespace firn::testing
