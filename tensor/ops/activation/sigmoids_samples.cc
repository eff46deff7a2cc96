#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(sigmoid) {
  s.Function<Sigmoid>();
  AddFloatUnary(s, [](double x) { return 1 / (1 + std::exp(-x)); }, Normal, {30, -30, -95});
}

FIRN_REGISTER_SAMPLES(sigmoid_grad) {
  s.Internal("the gradient of sigmoid");
  s.Reference([](double dy, double y) { return dy * y * (1 - y); });
  AddGradient(s, Positive);
}

FIRN_REGISTER_SAMPLES(log_sigmoid) {
  s.Function<LogSigmoid>();
  AddFloatUnary(
      s, [](double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); },
      Normal, {30, -30, 95, -95, 6e4, -6e4});
}

FIRN_REGISTER_SAMPLES(tanh) {
  s.Function<Tanh>();
  AddFloatUnary(s, [](double x) { return std::tanh(x); }, Normal, {30, -30, 1e-4});
}

FIRN_REGISTER_SAMPLES(tanh_grad) {
  s.Internal("the gradient of tanh");
  s.Reference([](double dy, double y) { return dy * (1 - y * y); });
  AddGradient(s, Grid);
}

FIRN_REGISTER_SAMPLES(softsign) {
  s.Function<Softsign>();
  AddFloatUnary(s, [](double x) { return x / (1 + std::abs(x)); }, Grid, {1, -1, 6e4, 1e-4});
}

FIRN_REGISTER_SAMPLES(silu) {
  s.Function<Silu>();
  s.Reference([](double x) { return x / (1 + std::exp(-x)); });
  AddUnary(s, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, NAN, 30, -30, -95})}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(log_sigmoid_grad) {
  s.Internal("the gradient of log_sigmoid");
  ElementReference(s, [](const double* in, AttrsRef) { return in[0] / (1 + std::exp(in[1])); });
  AddGradient(s, Grid);
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({0.0, 90, -90, -INFINITY, NAN})}).check_gradient =
      false;
}

FIRN_REGISTER_SAMPLES(silu_grad) {
  s.Internal("the gradient of silu");
  s.Reference([](double dy, double x) {
    const double y = 1 / (1 + std::exp(-x));
    return dy * (y + x * y * (1 - y));
  });
  AddGradient(s, Normal);
  s.Add("edges", {Values({1, 1, 1, 1}), Values({0.0, 95, -30, NAN})}).check_gradient = false;
}

FIRN_REGISTER_SAMPLES(mish_grad) {
  s.Internal("the gradient of mish");
  s.Reference([](double dy, double x) {
    const double t = std::tanh(std::log1p(std::exp(x))), y = 1 / (1 + std::exp(-x));
    return dy * (t + x * y * (1 - t * t));
  });
  AddGradient(s, Normal);
  s.Add("edges", {Values({1, 1, 1, 1, 1, 1}), Values({0.0, 95, 21, -30, -95, NAN})})
      .check_gradient = false;
}

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

FIRN_REGISTER_SAMPLES(gelu) {
  s.Function([](In in, const GeluAttrs& a) { return Gelu(in[0], a.approximate); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return GeluOf(in[0], attrs.get<GeluAttrs>().approximate);
  });
  AddUnary(s, Normal, GeluAttrs{});
  for (GeluApproximate a : {GeluApproximate::kNone, GeluApproximate::kTanh}) {
    const std::string form = a == GeluApproximate::kTanh ? "by tanh" : "exact";
    s.Add(form, {Normal({3, 4}, 7)}, GeluAttrs{a});
    s.Add("edges, " + form, {Values({0.0, -0.0, INFINITY, NAN, 30, -30, -5})}, GeluAttrs{a})
        .check_gradient = false;
  }
  s.AddError("integers", {Integers({3}, 0, 9)}, GeluAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(gelu_grad) {
  s.Internal("the gradient of gelu");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] * SlopeOf(in[1], attrs.get<GeluAttrs>().approximate);
  });
  AddGradient(s, Normal, GeluAttrs{});
  for (GeluApproximate a : {GeluApproximate::kNone, GeluApproximate::kTanh}) {
    const std::string form = a == GeluApproximate::kTanh ? "by tanh" : "exact";
    s.Add(form, {Normal({3, 4}), Normal({3, 4}, 7)}, GeluAttrs{a});
    s.Add("edges, " + form, {Values({1, 1, 1, 1, 1}), Values({0.0, 1000, NAN, 30, -30})},
          GeluAttrs{a})
        .check_gradient = false;
  }
}

FIRN_REGISTER_SAMPLES(softplus) {
  s.Function([](In in, const SoftplusAttrs& a) { return Softplus(in[0], a.beta, a.threshold); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const SoftplusAttrs& a = attrs.get<SoftplusAttrs>();
    const double u = in[0] * a.beta;
    return u > a.threshold
               ? in[0]
               : (u > 0 ? u + std::log1p(std::exp(-u)) : std::log1p(std::exp(u))) / a.beta;
  });
  AddUnary(s, Normal, SoftplusAttrs{});
  s.Add("beta and threshold", {Grid({3, 16}, 7)}, SoftplusAttrs{2, 1.03});
  s.Add("no threshold", {Values({500, -500, 30, -30, 0.0, 1})}, SoftplusAttrs{1, INFINITY})
      .check_gradient = false;
  s.Add("edges", {Values({0.0, INFINITY, -INFINITY, NAN, 19.5, 20.5, -95})}, SoftplusAttrs{})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, SoftplusAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(softplus_grad) {
  s.Internal("the gradient of softplus");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const SoftplusAttrs& a = attrs.get<SoftplusAttrs>();
    const double u = in[1] * a.beta;
    return in[0] * (u > a.threshold ? 1 : 1 / (1 + std::exp(-u)));
  });
  AddGradient(s, Normal, SoftplusAttrs{});
  s.Add("beta and threshold", {Normal({3, 16}), Grid({3, 16}, 7)}, SoftplusAttrs{2, 1.03});
  s.Add("at the threshold", {Values({1, 1, 1}), Values({0.5, 0.75, 1})}, SoftplusAttrs{2, 1.5})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(mish) {
  s.Function<Mish>();
  AddFloatUnary(s, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, Normal,
                {19.5, 20.5, 30, -30, 95, -95, 1e-4, 6e4});
}

FIRN_REGISTER_COMPOSITE(glu) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const DimAttrs& a) { return Glu(in[0], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t given = attrs.get<DimAttrs>().dim;
    const auto dim = static_cast<size_t>(given < 0 ? given + in[0].shape.rank() : given);
    std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end());
    sizes[dim] /= 2;
    RefTensor y{Shape(sizes)};
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> gate(at.begin(), at.end());
      gate[dim] += sizes[dim];
      y.at(at) = in[0].at(at) / (1 + std::exp(-in[0].at(gate)));
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("a vector", {Normal({6})}, DimAttrs{0});
  s.Add("rows", {Normal({3, 4})}, DimAttrs{});
  s.Add("channels", {Normal({2, 16, 3, 2})}, DimAttrs{1});
  s.Add("nothing", {Normal({0, 4})}, DimAttrs{});
  s.AddLarge("2048x2048", {Normal({2048, 2048})}, DimAttrs{}, 5 * 2.1e6, 25e6);
  s.AddError("odd", {Normal({3, 5})}, DimAttrs{1}, "x [3, 5] must have an even size in dim 1");
  s.AddError("dim", {Normal({4})}, DimAttrs{1}, "dim 1 is outside");
}

Tensor CallLogit(In in, const LogitAttrs& a) {
  return Logit(in[0], a.eps < 0 ? std::optional<double>() : a.eps);
}

FIRN_REGISTER_SAMPLES(logit) {
  s.Function(CallLogit);
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const double eps = attrs.get<LogitAttrs>().eps;
    const double x = eps < 0 ? in[0] : std::min(std::max(in[0], eps), 1 - eps);
    return std::log(x / (1 - x));
  });
  AddUnary(
      s, [](const Shape& shape, uint64_t seed) { return Uniform(shape, 0.05, 0.45, seed); },
      LogitAttrs{});
  s.Add("near 1", {Values({0.625, 0.75, 0.875, 0.9375})}, LogitAttrs{});
  s.Add("eps", {Values({-1, 0.0625, 0.3125, 0.75, 0.9375, 2})}, LogitAttrs{0.125});
  s.Add("ends", {Values({0, 1, -1, 2, NAN})}, LogitAttrs{}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, LogitAttrs{}, "x must be f32, f64, f16 or bf16");
  s.AddError("eps", {Normal({3})}, LogitAttrs{0.75}, "eps must be in [0, 0.5], got 0.75");
}

FIRN_REGISTER_SAMPLES(logit_grad) {
  s.Internal("the gradient of logit");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const double eps = attrs.get<LogitAttrs>().eps, x = in[1];
    return eps >= 0 && (x < eps || x > 1 - eps) ? 0 : in[0] / (x * (1 - x));
  });
  AddGradient(
      s, [](const Shape& shape, uint64_t seed) { return Uniform(shape, 0.125, 0.875, seed); },
      LogitAttrs{});
  s.Add("eps", {Normal({6}), Values({-1, 0.0625, 0.3125, 0.75, 0.9375, 2})}, LogitAttrs{0.125});
  s.Add("ends", {Values({1, 1, 1, 1}), Values({0.125, 0.875, 0.5, NAN})}, LogitAttrs{0.125})
      .check_gradient = false;
}

}  // namespace
}  // namespace firn::testing
