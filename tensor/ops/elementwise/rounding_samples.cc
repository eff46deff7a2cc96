#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/rounding.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(ceil) {
  s.Function<Ceil>();
  s.Reference([](double x) { return std::ceil(x); });
  AddUnary(s, [](const Shape& shape, uint64_t seed) { return Distinct(shape, 0.2, seed); });
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5, -1.5, 2, -2, 1e4})})
      .check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(floor) {
  s.Function<Floor>();
  s.Reference([](double x) { return std::floor(x); });
  AddUnary(s, [](const Shape& shape, uint64_t seed) { return Distinct(shape, 0.2, seed); });
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5, -1.5, 2, -2, 1e4})})
      .check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(round) {
  s.Function([](In in, const RoundAttrs& a) { return Round(in[0], a); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const RoundAttrs& a = attrs.get<RoundAttrs>();
    const double scale = std::pow(10.0, static_cast<double>(a.decimals)), x = in[0] * scale;
    const double away = std::round(x);
    const bool tie = std::abs(x - std::trunc(x)) == 0.5;
    return (tie && a.ties == RoundTies::kEven ? 2 * std::round(x / 2) : away) / scale;
  });
  AddUnary(
      s, [](const Shape& shape, uint64_t seed) { return Distinct(shape, 0.3, seed); },
      RoundAttrs{});
  const Tensor ties = Values({0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.25, -0.75, 2, 1e4, 0.0});
  s.Add("ties to even", {ties}, RoundAttrs{}).check_gradient = false;
  s.Add("ties away", {ties}, RoundAttrs{.ties = RoundTies::kAway}).check_gradient = false;
  s.Add("edges", {Values({0.0, INFINITY, -INFINITY, NAN})}, RoundAttrs{}).check_gradient = false;
  // Values that no dtype's own rounding moves across a tie.
  s.Add("one place", {Values({1.26, -3.32, 0.04, 7.88})}, RoundAttrs{.decimals = 1});
  s.Add("tens", {Values({126, -332, 4, 788})}, RoundAttrs{.decimals = -1});
  s.Add("integers", {Integers({9}, -9, 9)}, RoundAttrs{.decimals = 2});
  s.AddError("tens of integers", {Integers({3}, 0, 9)}, RoundAttrs{.decimals = -1},
             "decimals must not be negative for integers, got -1");
}

FIRN_REGISTER_SAMPLES(trunc) {
  s.Function<Trunc>();
  s.Reference([](double x) { return std::trunc(x); });
  AddUnary(s, [](const Shape& shape, uint64_t seed) { return Distinct(shape, 0.2, seed); });
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5, -1.5, 2, -2, 1e4})})
      .check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(frac) {
  s.Function<Frac>();
  s.Reference([](double x) { return x - std::trunc(x); });
  AddUnary(s, Grid);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -2.5, 7, INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

}  // namespace
}  // namespace firn::testing
