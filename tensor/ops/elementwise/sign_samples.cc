#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/sign.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(abs) {
  s.Function<Abs>();
  s.Reference([](double x) { return std::abs(x); });
  AddUnary(s, Grid);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(neg) {
  s.Function<Neg>();
  s.Reference([](double x) { return -x; });
  AddUnary(s, [](const Shape& shape, uint64_t seed) { return Normal(shape, seed); });
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(sign) {
  s.Function<Sign>();
  s.Reference([](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; });
  AddUnary(s, Grid);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(copysign) {
  s.Function<Copysign>();
  s.Reference([](double x, double y) { return std::copysign(x, y); });
  AddBinary(s, Grid, Grid);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, 1, NAN}), Values({-0.0, 1, -INFINITY, -0.0, -1})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9), Integers({3}, 0, 9)}, {}, "x must be f32");
}

}  // namespace
}  // namespace firn::testing
