#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(relu) {
  s.Function<Relu>();
  s.Reference([](double x) { return std::isnan(x) ? x : std::max(x, 0.0); });
  AddUnary(s, Grid);
  s.Add("integers", {Integers({9}, -9, 9)});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}).check_gradient = false;
  s.AddError("bool", {Booleans({3})}, {}, "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(relu_grad) {
  s.Internal("the gradient of relu");
  s.Reference([](double dy, double y) { return y <= 0 ? 0.0 : dy; });
  AddGradient(s, Grid);
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({0.0, -0.0, INFINITY, -INFINITY, NAN})})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(leaky_relu) {
  s.Function([](In in, const LeakyReluAttrs& a) { return LeakyRelu(in[0], a.alpha); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] > 0 ? in[0] : attrs.get<LeakyReluAttrs>().alpha * in[0];
  });
  AddUnary(s, Grid, LeakyReluAttrs{});
  s.Add("negative alpha", {Grid({3, 4}, 7)}, LeakyReluAttrs{-1.5});
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN})}, LeakyReluAttrs{0.25})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, LeakyReluAttrs{},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(leaky_relu_grad) {
  s.Internal("the gradient of leaky_relu");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[1] > 0 ? in[0] : attrs.get<LeakyReluAttrs>().alpha * in[0];
  });
  AddGradient(s, Grid, LeakyReluAttrs{0.25});
  s.Add("edges", {Values({1, 2, 3, 4}), Values({0.0, -0.0, INFINITY, -INFINITY})},
        LeakyReluAttrs{-2})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(prelu) {
  s.Function([](In in) { return Prelu(in[0], Flatten(in[1])); });
  s.Reference([](double x, double weight) { return x > 0 ? x : weight * x; });
  AddBinary(s, Grid, Normal);
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, -1}), Values({1, 2, -1, 2, 3, NAN})})
      .check_gradient = false;
  for (Sample& any : s.samples) any.check_function = false;  // which takes no other shapes
  s.large.clear();
  s.AddLarge("64x64x32x32", {Normal({64, 64, 32, 32}), Normal({64, 1, 1}, 2)}, {}, 4.2e6, 33.6e6);
  s.Add("a slope for each channel", {Grid({2, 8, 3, 3}, 7), Normal({8, 1, 1}, 8)});
}

FIRN_REGISTER_SAMPLES(threshold) {
  s.Function([](In in, const ThresholdAttrs& a) { return Threshold(in[0], a.threshold, a.value); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const ThresholdAttrs& a = attrs.get<ThresholdAttrs>();
    return in[0] <= a.threshold ? a.value : in[0];
  });
  AddUnary(s, Grid, ThresholdAttrs{});
  s.Add("other numbers", {Grid({3, 16}, 7)}, ThresholdAttrs{0.5, -20});
  s.Add("edges", {Values({0.0, -0.0, 1, INFINITY, -INFINITY, NAN})}, ThresholdAttrs{1, 2})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, ThresholdAttrs{},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(threshold_grad) {
  s.Internal("the gradient of threshold");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[1] <= attrs.get<ThresholdAttrs>().threshold ? 0.0 : in[0];
  });
  AddGradient(s, Grid, ThresholdAttrs{0.5, -20});
  s.Add("edges", {Values({1, 2, 3, 4, INFINITY}), Values({1, INFINITY, -INFINITY, NAN, 0.5})},
        ThresholdAttrs{1, 2})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(hardtanh) {
  s.Function([](In in, const HardtanhAttrs& a) { return Hardtanh(in[0], a.min, a.max); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const HardtanhAttrs& a = attrs.get<HardtanhAttrs>();
    return std::isnan(in[0]) ? in[0] : std::clamp(in[0], a.min, a.max);
  });
  AddUnary(s, Grid, HardtanhAttrs{});
  s.Add("other bounds", {Grid({3, 16}, 7)}, HardtanhAttrs{-0.5, 1.25});
  s.Add("edges", {Values({-1, 1, INFINITY, -INFINITY, NAN})}, HardtanhAttrs{}).check_gradient =
      false;
  s.AddError("bounds", {Normal({3})}, HardtanhAttrs{1, -1}, "min 1 must not be above max -1");
}

FIRN_REGISTER_SAMPLES(hardtanh_grad) {
  s.Internal("the gradient of hardtanh");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const HardtanhAttrs& a = attrs.get<HardtanhAttrs>();
    return in[1] <= a.min || in[1] >= a.max ? 0.0 : in[0];
  });
  AddGradient(s, Grid, HardtanhAttrs{});
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({-1, 1, INFINITY, 0.0, NAN})}, HardtanhAttrs{})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(hardsigmoid) {
  s.Function([](In in, const HardsigmoidAttrs& a) { return Hardsigmoid(in[0], a.alpha, a.beta); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const HardsigmoidAttrs& a = attrs.get<HardsigmoidAttrs>();
    return std::isnan(in[0]) ? in[0] : std::clamp(a.alpha * in[0] + a.beta, 0.0, 1.0);
  });
  AddUnary(s, Grid, HardsigmoidAttrs{});
  s.Add("other numbers", {Grid({3, 16}, 7)}, HardsigmoidAttrs{0.2, 0.4});
  s.Add("edges", {Values({-3, 3, INFINITY, -INFINITY, NAN})}, HardsigmoidAttrs{}).check_gradient =
      false;
  s.AddError("integers", {Integers({3}, 0, 9)}, HardsigmoidAttrs{},
             "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(hardsigmoid_grad) {
  s.Internal("the gradient of hardsigmoid");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const HardsigmoidAttrs& a = attrs.get<HardsigmoidAttrs>();
    const double y = a.alpha * in[1] + a.beta;
    return y <= 0 || y >= 1 ? 0.0 : a.alpha * in[0];
  });
  AddGradient(s, Grid, HardsigmoidAttrs{0.25, 0.5});
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({-2, 2, INFINITY, -INFINITY, NAN})},
        HardsigmoidAttrs{0.25, 0.5})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(hardswish) {
  s.Function<Hardswish>();
  AddFloatUnary(s, [](double x) { return x * std::max(std::min(x + 3, 6.0), 0.0) / 6; }, Grid,
                {3, -3, 2.5});
}

FIRN_REGISTER_SAMPLES(hardswish_grad) {
  s.Internal("the gradient of hardswish");
  ElementReference(s, [](const double* in, AttrsRef) {
    if (in[1] <= -3) return 0.0;
    return in[1] >= 3 ? in[0] : in[0] * (2 * in[1] + 3) / 6;
  });
  AddGradient(s, Grid);
  s.Add("edges", {Values({1, 2, 3, 4, 5, 6}), Values({-3, 3, INFINITY, -INFINITY, NAN, 2.5})})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(elu) {
  s.Function([](In in, const EluAttrs& a) { return Elu(in[0], a.alpha); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const EluAttrs& a = attrs.get<EluAttrs>();
    return a.scale * (in[0] > 0 || std::isnan(in[0])
                          ? in[0]
                          : a.alpha * (std::exp(in[0] * a.input_scale) - 1));
  });
  AddUnary(s, Grid, EluAttrs{});
  s.Add("alpha", {Grid({3, 4}, 7)}, EluAttrs{.alpha = 0.5});
  s.Add("negative alpha", {Grid({3, 4}, 8)}, EluAttrs{.alpha = -0.5});
  s.Add("selu", {Grid({3, 4}, 9)},
        EluAttrs{.alpha = 1.6732632423543772, .scale = 1.0507009873554805})
      .check_function = false;  // the form that Selu calls
  s.Add("celu", {Grid({3, 4}, 10)}, EluAttrs{.alpha = 2, .input_scale = 0.5}).check_function =
      false;
  s.Add("edges", {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 200, -200})}, EluAttrs{})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, EluAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(elu_grad) {
  s.Internal("the gradient of elu");
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const EluAttrs& a = attrs.get<EluAttrs>();
    const double left = a.alpha * a.input_scale * std::exp(in[1] * a.input_scale);
    return in[0] * a.scale * (in[1] <= 0 ? left : 1);
  });
  AddGradient(s, Grid, EluAttrs{.alpha = 1.5, .scale = 2, .input_scale = 0.5});
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({0.0, -0.0, INFINITY, -INFINITY, 200})},
        EluAttrs{})
      .check_gradient = false;
}

FIRN_REGISTER_COMPOSITE(selu) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function<Selu>();
  s.Reference([](double x) {
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
  });
  AddUnary(s, Grid);
}

FIRN_REGISTER_COMPOSITE(relu6) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function<Relu6>();
  s.Reference([](double x) { return std::clamp(x, 0.0, 6.0); });
  AddUnary(s, Grid);
  s.Add("both sides", {Grid({3, 96}, 7)});
}

struct CeluAttrs {
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};

FIRN_REGISTER_COMPOSITE(celu) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const CeluAttrs& a) { return Celu(in[0], a.alpha); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const double alpha = attrs.get<CeluAttrs>().alpha;
    return std::max(in[0], 0.0) + std::min(alpha * std::expm1(in[0] / alpha), 0.0);
  });
  AddUnary(s, Grid, CeluAttrs{});
  s.Add("alpha", {Grid({3, 4}, 7)}, CeluAttrs{2});
  s.AddError("alpha", {Normal({3})}, CeluAttrs{0}, "alpha must not be 0");
}

struct RreluAttrs {
  double lower = 1.0 / 8, upper = 1.0 / 3;
  bool training = false;  // only in tests/tensor/random_activations_test
  template <class V>
  void Visit(V& v) {
    v.Field("lower", lower);
    v.Field("upper", upper);
    v.Field("training", training);
  }
};

FIRN_REGISTER_COMPOSITE(rrelu) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const RreluAttrs& a) { return Rrelu(in[0], a.lower, a.upper, a.training); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const RreluAttrs& a = attrs.get<RreluAttrs>();
    return in[0] > 0 ? in[0] : in[0] * (a.lower + a.upper) / 2;
  });
  AddUnary(s, Grid, RreluAttrs{});
  s.Add("other slopes", {Grid({7}, 2)}, RreluAttrs{-0.5, 0.25});
  s.AddError("slopes", {Normal({3})}, RreluAttrs{0.5, 0.25},
             "lower 0.5 must not be above upper 0.25");
}

struct ConcatEluAttrs {
  double alpha = 1;
  int64_t dim = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("dim", dim);
  }
};

// f(x) and f(-x) one behind the other along `dim`.
std::vector<RefTensor> Doubled(const RefTensor& x, int64_t dim, double (*f)(double, double),
                               double alpha) {
  Dims shape = x.shape.dims();
  const int at = static_cast<int>(dim < 0 ? dim + shape.rank : dim);
  shape[at] *= 2;
  RefTensor y(Shape::Trusted(shape));
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> index) {
    std::vector<int64_t> from(index.begin(), index.end());
    int64_t& place = from[static_cast<size_t>(at)];
    const bool second = place >= x.shape[at];
    if (second) place -= x.shape[at];
    y.at(index) = f(second ? -x.at(from) : x.at(from), alpha);
  });
  return {y};
}

FIRN_REGISTER_COMPOSITE(concat_elu) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 1}});
  s.Function([](In in, const ConcatEluAttrs& a) { return ConcatElu(in[0], a.alpha, a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const ConcatEluAttrs& a = attrs.get<ConcatEluAttrs>();
    return Doubled(
        in[0], a.dim, [](double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); },
        a.alpha);
  });
  s.Add("channels", {Grid({2, 8, 3}, 1)}, ConcatEluAttrs{});
  s.Add("alpha, last dimension", {Grid({3, 4}, 2)}, ConcatEluAttrs{0.5, -1});
  s.Add("nothing", {Grid({0, 3}, 3)}, ConcatEluAttrs{});
  s.AddLarge("4M", {Normal({64, 64, 1024})}, ConcatEluAttrs{}, 10 * 8.4e6, 50.3e6);
  s.AddError("dim", {Normal({3})}, ConcatEluAttrs{}, "dim 1");
  s.WithoutVectors("PyTorch does not have it");
}

FIRN_REGISTER_COMPOSITE(concat_relu) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 1}});
  s.Function([](In in, const DimAttrs& a) { return ConcatRelu(in[0], a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return Doubled(
        in[0], attrs.get<DimAttrs>().dim, [](double x, double) { return x > 0 ? x : 0.0; }, 0);
  });
  s.Add("channels", {Grid({2, 8, 3}, 1)}, DimAttrs{1});
  s.Add("last dimension", {Grid({3, 4}, 2)}, DimAttrs{-1});
  s.AddLarge("4M", {Normal({64, 64, 1024})}, DimAttrs{1}, 2 * 8.4e6, 50.3e6);
  s.AddError("bool", {Booleans({3, 4})}, DimAttrs{1}, "bool");
  s.WithoutVectors("PyTorch does not have it");
}

}  // namespace
}  // namespace firn::testing
