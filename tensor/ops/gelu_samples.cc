#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/gelu.h"

namespace firn::testing::gelu {
namespace {

double Tanh(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }

double GeluOf(double x, GeluApproximate approximate) {
  if (approximate == GeluApproximate::kTanh) return 0.5 * x * (1 + Tanh(x));
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}

double SlopeOf(double x, GeluApproximate approximate) {
  if (approximate == GeluApproximate::kTanh) {
    const double t = Tanh(x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  }
  return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}

}  // namespace

FIRN_REGISTER_SAMPLES(gelu) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return GeluOf(in[0], attrs.get<GeluAttrs>().approximate);
  });
  AddUnary(s, Normal, GeluAttrs{});
  for (GeluApproximate a : {GeluApproximate::kNone, GeluApproximate::kTanh}) {
    s.Add("approximate", {Normal({3, 4}, 7)}, GeluAttrs{a});
    s.Add("edges", {Values({0.0, -0.0, INFINITY, NAN, 30, -30, -5})}, GeluAttrs{a}).check_gradient =
        false;
  }
  s.AddError("integers", {Integers({3}, 0, 9)}, GeluAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(gelu_grad) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] * SlopeOf(in[1], attrs.get<GeluAttrs>().approximate);
  });
  AddGradient(s, Normal, GeluAttrs{});
  for (GeluApproximate a : {GeluApproximate::kNone, GeluApproximate::kTanh}) {
    s.Add("approximate", {Normal({3, 4}), Normal({3, 4}, 7)}, GeluAttrs{a});
    s.Add("edges", {Values({1, 1, 1, 1, 1}), Values({0.0, 1000, NAN, 30, -30})}, GeluAttrs{a})
        .check_gradient = false;
  }
}

}  // namespace firn::testing::gelu
