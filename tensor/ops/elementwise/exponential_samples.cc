#include <cmath>

#include "tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(exp) {
  s.Reference([](double x) { return std::exp(x); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 100, -110, 88.5, -87.5})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(expm1) {
  s.Reference([](double x) { return std::expm1(x); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 100, -110, 1e-4})}).check_gradient =
      false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(log) {
  s.Reference([](double x) { return std::log(x); });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -1, 1, 1e-6, 6e4})}).check_gradient =
      false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(log1p) {
  s.Reference([](double x) { return std::log1p(x); });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -1, -2, -0.75, 1e-4, 6e4})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

}  // namespace
}  // namespace firn::testing
