#include <cmath>

#include "absl/strings/str_cat.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/power.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(pow) {
  s.Function<Pow>();
  s.Reference([](double x, double y) { return std::pow(x, y); });
  AddBinary(s, Positive, Normal);
  s.Add("integers", {Integers({9}, -3, 3), Indices({0, 1, 2, 3, 4, 0, 1, 2, 3})});
  s.Add("edges", {Values({0.0, 0.0, 0.0, -2, -2, INFINITY, NAN, 1}),
                  Values({0.0, 2, -1, 3, 0.5, -1, 0.0, NAN})})
      .check_gradient = false;
  s.AddError("bool", {Booleans({3}), Booleans({3})}, {},
             "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(pow_number) {
  s.Function([](In in, const PowNumberAttrs& a) { return PowNumber(in[0], a.exponent); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return std::pow(in[0], attrs.get<PowNumberAttrs>().exponent);
  });
  AddUnary(s, Positive, PowNumberAttrs{2.5});
  for (double p : {0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0, -1.75}) {
    s.Add(absl::StrCat("to the power ", p), {Positive({3, 4}, 7)}, PowNumberAttrs{p});
  }
  s.Add("negative bases", {Values({-2, -0.5, 0.0, 3})}, PowNumberAttrs{3});
  s.Add("an odd exponent that f32 does not hold",
        {Values({-1, 1, 0.0, -0.0, -0.5, -2, -INFINITY, NAN})}, PowNumberAttrs{0x1p24 + 1})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 1, 9)}, PowNumberAttrs{},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(square) {
  s.Function<Square>();
  s.Reference([](double x) { return x * x; });
  AddUnary(s, Normal);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(sqrt) {
  s.Function<Sqrt>();
  s.Reference([](double x) { return std::sqrt(x); });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -1, 1, 1e-6})}).check_gradient =
      false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(rsqrt) {
  s.Function<Rsqrt>();
  s.Reference([](double x) { return 1 / std::sqrt(x); });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, INFINITY, -INFINITY, NAN, -1, 1, 1e-4})}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(reciprocal) {
  s.Function<Reciprocal>();
  s.Reference([](double x) { return 1 / x; });
  AddUnary(s, Positive);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -4, 8})}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(hypot) {
  s.Function<Hypot>();
  s.Reference([](double x, double y) { return std::hypot(x, y); });
  AddBinary(s, Grid, Grid);
  s.Add("edges",
        {Values({0.0, INFINITY, NAN, -INFINITY, NAN, 0}), Values({0.0, NAN, -INFINITY, 1, 2, -3})})
      .check_gradient = false;
  s.Add("far", {Values({3e200, 3e-200}), Values({4e200, 4e-200})}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9), Integers({3}, 0, 9)}, {}, "x must be f32");
}

}  // namespace
}  // namespace firn::testing
