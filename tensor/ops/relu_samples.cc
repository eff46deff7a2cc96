#include <algorithm>
#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/relu.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(relu) {
  s.Reference([](double x) { return std::isnan(x) ? x : std::max(x, 0.0); });
  AddUnary(s, Grid);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(relu_grad) {
  s.Reference([](double dy, double y) { return y <= 0 ? 0.0 : dy; });
  AddGradient(s, Grid);
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({0.0, -0.0, INFINITY, -INFINITY, NAN})})
      .check_gradient = false;
}

}  // namespace firn::testing
