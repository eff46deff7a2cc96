#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/pow.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(pow) {
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
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return std::pow(in[0], attrs.get<PowNumberAttrs>().exponent);
  });
  AddUnary(s, Positive, PowNumberAttrs{2.5});
  for (double p : {0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0, -1.75}) {
    s.Add("one of the powers", {Positive({3, 4}, 7)}, PowNumberAttrs{p});
  }
  s.Add("negative bases", {Values({-2, -0.5, 0.0, 3})}, PowNumberAttrs{3});
  s.AddError("integers", {Integers({3}, 1, 9)}, PowNumberAttrs{},
             "x must be f32, f64, f16 or bf16");
}

}  // namespace firn::testing
