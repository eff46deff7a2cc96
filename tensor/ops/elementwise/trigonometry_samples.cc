#include <cmath>

#include "tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(sin) {
  s.Reference([](double x) { return std::sin(x); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 3.140625, 100, 30000, -6e4})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(cos) {
  s.Reference([](double x) { return std::cos(x); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 3.140625, 100, 30000, -6e4})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

}  // namespace
}  // namespace firn::testing
