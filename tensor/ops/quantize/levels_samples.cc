#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/quantize/levels.h"

// Gradients are straight-through and not derivatives: tests/tensor/quantize_test.cc has them.
// Beyond the range, where they are 0, both agree.

namespace firn::testing {
namespace {

const std::vector<double>& Edges() {
  static const std::vector<double> kEdges = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-30, -1e-30};
  return kEdges;
}

FIRN_REGISTER_SAMPLES(fixed_point_quantize) {
  s.Function([](In in, const FixedPointAttrs& a) { return FixedPointQuantize(in[0], a); });
  s.WithoutVectors("PyTorch's fake_quantize, which has vectors, rounds halves to even");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const auto& a = attrs.get<FixedPointAttrs>();
    const double most = std::pow(2.0, static_cast<double>(a.sign ? a.n - 1 : a.n)) - 1;
    const double steps = std::round(in[0] / a.delta);
    if (std::isnan(steps)) return steps;
    return std::clamp(steps, a.sign ? -most : 0.0, most) * a.delta;
  });
  AddUnary(s, Grid, FixedPointAttrs{});
  s.Add("coarse", {Grid({3, 16}, 5)}, FixedPointAttrs{true, 3, 0.25});
  s.Add("without sign", {Grid({3, 16}, 6)}, FixedPointAttrs{false, 2, 0.5});
  s.Add("the gradient everywhere", {Grid({3, 4}, 7)}, FixedPointAttrs{true, 2, 0.5, false});
  s.Add("halves", {Values({0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49})}, FixedPointAttrs{true, 8, 1});
  s.Add("edges", {Values(Edges())}, FixedPointAttrs{});
  for (Sample& sample : s.samples) sample.check_gradient = false;
  s.Add("beyond the range", {Values({3, -3, 100, -2.25})}, FixedPointAttrs{true, 3, 0.5});
  s.AddError("n", {Normal({3})}, FixedPointAttrs{true, 1},
             "n must be between 2 and 32 bits, got 1");
  s.AddError("more bits", {Normal({3})}, FixedPointAttrs{false, 33}, "between 1 and 32 bits");
  s.AddError("delta 0", {Normal({3})}, FixedPointAttrs{true, 8, 0},
             "delta must be a number above 0, got 0");
  s.AddError("delta NaN", {Normal({3})}, FixedPointAttrs{true, 8, NAN}, "above 0, got nan");
  s.AddError("integers", {Integers({3}, 0, 9)}, FixedPointAttrs{},
             "x must be f32, f64, f16 or bf16");
}

double Pow2Of(double x, const Pow2Attrs& a) {
  const auto bits = static_cast<double>(a.n - (a.sign ? 1 : 0) - (a.with_zero ? 1 : 0));
  const auto m = static_cast<double>(a.m);
  const double most = std::exp2(m), least = std::exp2(m - std::exp2(bits) + 1);
  if (std::isnan(x)) return x;
  const double size = std::abs(x), q = std::exp2(std::round(std::log2(size)));
  const double small = a.with_zero ? 0 : least;
  if (x < 0 && !a.sign) return small;
  const double held = q > most                      ? most
                      : q >= least                  ? q
                      : size < least / std::sqrt(2) ? small
                                                    : least;
  return x < 0 ? -held : held;
}

FIRN_REGISTER_SAMPLES(pow2_quantize) {
  s.Function([](In in, const Pow2Attrs& a) { return Pow2Quantize(in[0], a); });
  s.WithoutVectors("PyTorch does not have it");
  ElementReference(
      s, [](const double* in, AttrsRef attrs) { return Pow2Of(in[0], attrs.get<Pow2Attrs>()); });
  AddUnary(s, Grid, Pow2Attrs{true, true, 5});
  const Tensor steps = Values({0.05, -0.06, 0.09, -0.12, 0.3, 0.5, -0.7, 0.72, 1, -1.4, 1.5, 6});
  for (const bool sign : {true, false}) {
    for (const bool zero : {true, false}) {
      s.Add(sign   ? zero ? "sign, zero" : "sign"
            : zero ? "zero"
                   : "neither",
            {steps}, Pow2Attrs{sign, zero, 4, 1});
    }
  }
  s.Add("the gradient everywhere", {Grid({3, 4}, 7)}, Pow2Attrs{true, true, 4, 1, false});
  s.Add("edges", {Values(Edges())}, Pow2Attrs{true, true, 5});
  s.Add("edges without zero", {Values(Edges())}, Pow2Attrs{true, false, 4});
  for (Sample& sample : s.samples) sample.check_gradient = false;
  s.Add("beyond the range", {Values({3, -3, 100, -4})}, Pow2Attrs{true, true, 4, 1});
  s.AddError("n", {Normal({3})}, Pow2Attrs{true, true, 2},
             "n must be between 3 and 12 bits, of which sign and zero take 2, got 2");
  s.AddError("m", {Normal({3})}, Pow2Attrs{true, true, 8, 200}, "m must be between -63 and 127");
  s.AddError("integers", {Integers({3}, 0, 9)}, Pow2Attrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(pow2_quantize_grad) {
  s.Internal("the gradient of pow2_quantize");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const auto& a = attrs.get<Pow2Attrs>();
    const double end = std::exp2(static_cast<double>(a.m) + 0.5), x = in[1];
    return x < end && (a.sign ? x > -end : x >= 0) ? in[0] : 0.0;
  });
  AddGradient(s, Grid, Pow2Attrs{true, true, 4, 0});
  s.Add("without sign", {Normal({3, 16}), Grid({3, 16}, 3)}, Pow2Attrs{false, true, 4, 0});
  s.Add("edges",
        {Values({1, 2, 3, 4, 5, 6, INFINITY}), Values({0, -0.0, INFINITY, -INFINITY, NAN, 2, 1})},
        Pow2Attrs{false, true, 4, 0})
      .check_gradient = false;
  s.AddError("n", {Normal({3}), Normal({3})}, Pow2Attrs{true, true, 2}, "n must be between");
}

FIRN_REGISTER_SAMPLES(power_of_two) {
  s.Internal("the rounding of inq_quantize");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const double size = std::abs(in[0]);
    if (!(size > 0) || std::isinf(size)) return size;
    const double low = std::exp2(std::floor(std::log2(size)));
    return size >= attrs.get<PowerOfTwoAttrs>().up * low ? 2 * low : low;
  });
  AddUnary(s, Grid, PowerOfTwoAttrs{});
  for (Sample& sample : s.samples) sample.check_gradient = false;  // some lie on a threshold
  s.Add("between thresholds", {Values({1.1, -1.4, 1.9, -5, 0.3, 300})}, PowerOfTwoAttrs{});
  s.Add("thresholds", {Values({1, -1.5, 1.484375, 3, 2.9, 0.75, 0.7, 1024})}, PowerOfTwoAttrs{})
      .check_gradient = false;
  s.Add("another threshold", {Values({1.25, -1.3, 1.2, 2})}, PowerOfTwoAttrs{1.25}).check_gradient =
      false;
  s.Add("edges", {Values({0, -0.0, INFINITY, -INFINITY, NAN})}, PowerOfTwoAttrs{}).check_gradient =
      false;
  s.AddError("up", {Normal({3})}, PowerOfTwoAttrs{1}, "up must be above 1 and at most 2, got 1");
}

}  // namespace
}  // namespace firn::testing
