// binomial, rand_gamma: one number of each distribution for each element of the parameters.
// distributions_body.h draws them, and computes the gradient of rand_gamma, for all devices; on the
// CPU the parameters are checked first. RandBeta is the sigmoid of the difference of two
// logarithms. They are computed in f64, where they are finite and accurate for any parameter of
// f32.

#include "firn/tensor/ops/random/distributions.h"

#include <cmath>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/random.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/random/distributions_body.h"
#include "firn/tensor/ops/random/random_rules.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

// OutOfRange where an element of input i, contiguous and floating, is not `good`: "count -1 at
// index 1 is WHAT".
template <class Good>
absl::Status CheckEach(const KernelContext& k, int i, std::string_view name, Good good,
                       std::string_view what) {
  const int64_t n = k.in_spec(i).num_elements();
  return VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    const T* const x = k.in<T>(i);
    for (int64_t e = 0; e < n; ++e) {
      const double v = static_cast<double>(x[e]);
      FIRN_RETURN_IF(!good(v), OutOfRange(name, " ", v, " at index ", e, " is ", what));
    }
    return absl::OkStatus();
  });
}

// The position of the counters, one for each element of the result, for bodies.
struct Position {
  explicit Position(KernelContext& k) {
    const PhiloxState at = cpu::TakeCounters(k, 0, k.out_spec().num_elements());
    state[0] = static_cast<int64_t>(at.seed);
    state[1] = static_cast<int64_t>(at.offset);
  }
  int64_t state[2];
};

absl::Status InferBinomial(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  FIRN_RETURN_IF(c.shape(1) != c.shape(2),
                 InvalidArgument("count ", c.shape(1).ToString(), " and prob ",
                                 c.shape(2).ToString(), " must have one shape"));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

absl::Status RunBinomial(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(CheckEach(
      k, 1, "count", [](double v) { return v >= 0 && std::isfinite(v); },
      "not 0 or more and finite"));
  FIRN_RETURN_IF_ERROR(CheckEach(
      k, 2, "prob", [](double v) { return v >= 0 && v <= 1; }, "outside [0, 1]"));
  const Position position(k);
  return DrawBinomial(cpu::Runner(k), k, position.state);
}

FIRN_REGISTER_OP(binomial) {
  return {
      .doc = "How many of `count` trials succeed with probability prob. Not differentiable.",
      .inputs = {GeneratorState(),
                 {.name = "count", .dtypes = kFloating},
                 {.name = "prob", .same_dtype_as = "count"}},
      .outputs = {{.name = "y"}},
      .infer = InferBinomial,
      .random = true,
      .kernels = {{.name = "loop", .run = RunBinomial}},
  };
}

absl::Status InferRandGamma(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckState(c, 0));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

absl::Status RunRandGamma(KernelContext& k) {
  const bool log = k.attrs<RandGammaAttrs>().log;
  FIRN_RETURN_IF_ERROR(CheckEach(
      k, 1, "shape_parameter", [log](double v) { return log ? v > 0 : v >= 0; },
      log ? "not positive" : "not 0 or more"));
  const Position position(k);
  return DrawGamma(cpu::Runner(k), k, position.state);
}

void GradRandGamma(GradContext& g) {
  if (!g.needs(1)) return;
  g.set_grad_input(1, Apply1(TheOp<"rand_gamma_grad">(), {g.grad_output(), g.input(1), g.output(0)},
                             g.attrs<RandGammaAttrs>()));
}

FIRN_REGISTER_OP(rand_gamma) {
  return {
      .doc = "Numbers of the gamma distribution, or their logarithms.",
      .inputs = {GeneratorState(), {.name = "shape_parameter", .dtypes = kFloating}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RandGammaAttrs>(),
      .infer = InferRandGamma,
      .grad = GradRandGamma,
      .saves = {Saved::Input(1), Saved::Output(0)},
      .random = true,
      .kernels = {{.name = "loop", .run = RunRandGamma}},
  };
}

absl::Status InferRandGammaGrad(InferContext& c) {
  for (int i : {1, 2}) {
    FIRN_RETURN_IF(c.shape(i) != c.shape(0),
                   InvalidArgument("shapes ", c.shape(0).ToString(), ", ", c.shape(1).ToString(),
                                   " and ", c.shape(2).ToString(), " differ"));
  }
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(rand_gamma_grad) {
  return {
      .doc = "The gradient of rand_gamma in its shape parameter. Not differentiable.",
      .inputs = {{.name = "dy", .dtypes = kFloating},
                 {.name = "shape_parameter", .same_dtype_as = "dy"},
                 {.name = "y", .same_dtype_as = "dy"}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<RandGammaAttrs>(),
      .infer = InferRandGammaGrad,
      .kernels = cpu::Portable<RandGammaGradKernel>(),
  };
}

// Converts both parameters to one floating dtype and shape.
struct Parameters {
  Parameters(const Tensor& first, const Tensor& second, std::string_view op) {
    const Promoted both = PromoteOperands(first, second, op, /*to_float=*/true);
    const absl::StatusOr<Shape> shape = BroadcastShapes(both.x().shape(), both.y().shape());
    if (!shape.ok()) RaiseStatus(shape.status(), op);
    x = Expand(both.x(), *shape);
    y = Expand(both.y(), *shape);
  }
  Tensor x, y;
};

Tensor DrawGamma(const Tensor& a, bool log, RandomGenerator* generator) {
  RandomGenerator& from = GeneratorOf({.device = a.device(), .generator = generator});
  return Apply1(TheOp<"rand_gamma">(), {from.state(), a}, RandGammaAttrs{log});
}

}  // namespace

Tensor Binomial(const Tensor& count, const Tensor& prob, RandomGenerator* generator) {
  const OpDef& op = TheOp<"binomial">();
  CheckDefined(count, op.name, "count");
  CheckDefined(prob, op.name, "prob");
  const Parameters p(count, prob, op.name);
  RandomGenerator& from = GeneratorOf({.device = p.x.device(), .generator = generator});
  return Apply1(op, {from.state(), p.x, p.y});
}

Tensor RandGamma(const Tensor& shape_parameter, const RandGammaOptions& options) {
  CheckDefined(shape_parameter, "rand_gamma", "shape_parameter");
  const Tensor a = IsFloating(shape_parameter.dtype()) ? shape_parameter
                                                       : AsDType(shape_parameter, kDefaultFloat);
  return DrawGamma(a, options.log, options.generator);
}

Tensor RandGamma(const Tensor& shape_parameter, const Tensor& scale,
                 const RandGammaOptions& options) {
  CheckDefined(shape_parameter, "rand_gamma", "shape_parameter");
  CheckDefined(scale, "rand_gamma", "scale");
  const Parameters p(shape_parameter, scale, "rand_gamma");
  const Tensor y = DrawGamma(p.x, options.log, options.generator);
  return options.log ? Add(y, Log(p.y)) : Mul(y, p.y);
}

Tensor RandBeta(const Tensor& a, const Tensor& b, RandomGenerator* generator) {
  CheckDefined(a, "rand_beta", "a");
  CheckDefined(b, "rand_beta", "b");
  const Parameters p(a, b, "rand_beta");
  const Tensor x = DrawGamma(Cast(p.x, DType::kF64), true, generator);
  const Tensor y = DrawGamma(Cast(p.y, DType::kF64), true, generator);
  return Cast(Sigmoid(Sub(x, y)), p.x.dtype());
}

}  // namespace firn
