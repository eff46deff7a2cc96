#include <cmath>

#include "firn/tensor/ops/activation/shrink.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

void AddShrink(Samples& s) {
  AddUnary(s, Grid, ShrinkAttrs{});
  s.Add("another lambda", {Grid({3, 16}, 7)}, ShrinkAttrs{1});
  s.Add("lambda 0", {Grid({3, 4}, 8)}, ShrinkAttrs{0});
  s.Add("edges", {Values({0.5, -0.5, 0.0, -0.0, INFINITY, -INFINITY, NAN})}, ShrinkAttrs{})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, ShrinkAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(hardshrink) {
  s.Function([](In in, const ShrinkAttrs& a) { return Hardshrink(in[0], a.lambda); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return std::abs(in[0]) <= attrs.get<ShrinkAttrs>().lambda ? 0.0 : in[0];
  });
  AddShrink(s);
  s.Add("negative lambda", {Grid({3, 4}, 9)}, ShrinkAttrs{-1});
}

FIRN_REGISTER_SAMPLES(softshrink) {
  s.Function([](In in, const ShrinkAttrs& a) { return Softshrink(in[0], a.lambda); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const double size = std::abs(in[0]) - attrs.get<ShrinkAttrs>().lambda;
    return size <= 0 ? 0.0 : std::copysign(size, in[0]);
  });
  AddShrink(s);
  s.AddError("negative lambda", {Normal({3})}, ShrinkAttrs{-1},
             "lambda must not be negative, got -1");
}

FIRN_REGISTER_SAMPLES(shrink_grad) {
  s.Internal("the gradient of hardshrink and softshrink");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return std::abs(in[1]) <= attrs.get<ShrinkAttrs>().lambda ? 0.0 : in[0];
  });
  AddGradient(s, Grid, ShrinkAttrs{});
  s.Add(
       "edges",
       {Values({1, 2, 3, 4, 5, 6, INFINITY}), Values({0.5, -0.5, 0.75, -INFINITY, NAN, -0.0, 0.0})},
       ShrinkAttrs{})
      .check_gradient = false;
}

FIRN_REGISTER_COMPOSITE(tanhshrink) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function<Tanhshrink>();
  s.Reference([](double x) { return x - std::tanh(x); });
  // Not near 0, where half types lose all digits.
  AddUnary(s, [](const Shape& shape, uint64_t seed) { return Uniform(shape, 1, 3, seed); });
}

}  // namespace
}  // namespace firn::testing
