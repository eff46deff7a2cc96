#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/optimizer/scale.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> ReferenceUnscaleGradients(absl::Span<const RefTensor> in, AttrsRef) {
  RefTensor found{Shape()};
  std::vector<RefTensor> result(in.begin() + 1, in.end());
  for (RefTensor& t : result) {
    for (double& x : t.values) {
      if (!std::isfinite(x)) found[0] = 1;
      x /= in[0][0];
    }
  }
  result.push_back(found);
  return result;
}

Tensor ScaleUnscaleGradients(double scale) { return Values({scale}, Shape()); }

FIRN_REGISTER_SAMPLES(unscale_gradients) {
  s.WithoutVectors("changes a list in place");
  s.Function([](In in) { return UnscaleGradients(in.From(1), in[0]); });
  s.Reference(ReferenceUnscaleGradients);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Tensor a = Normal({3, 5}), b = Normal({4}, 2);
  s.Add("one", {ScaleUnscaleGradients(4), a});
  s.Add("several", {ScaleUnscaleGradients(1024), a, b, Normal({0}), Normal({}, 3)});
  s.Add("a small scale", {ScaleUnscaleGradients(0.25), a});
  s.Add("infinite", {ScaleUnscaleGradients(4), a, Values({1, kInfinity, 2})});
  s.Add("infinite below", {ScaleUnscaleGradients(4), Values({1, -kInfinity}), b});
  s.Add("NaN", {ScaleUnscaleGradients(4), Values({kNaN}), a});
  // Two whole blocks of the loop, cut inside the second tensor.
  s.Add("large", {ScaleUnscaleGradients(2), Normal({300, 300}), Normal({50000}, 2)});
  s.AddLarge("4M", {ScaleUnscaleGradients(2), Normal({2048, 2048})}, {}, 4.2e6, 33.6e6);
  s.AddError("scale is a vector", {Values({2, 3}), a}, {}, "scale must have 0 dimensions");
  s.AddError("integers", {ScaleUnscaleGradients(2), Integers({3}, 0, 5)}, {},
             "grads must be f32, f64, f16 or bf16");
}

std::vector<RefTensor> ReferenceUpdateLossScale(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const UpdateLossScaleAttrs& a = attrs.get<UpdateLossScaleAttrs>();
  RefTensor scale = in[0], good = in[1];
  const bool found = in[3][0] != 0;
  good[0] = found ? 0 : good[0] + 1;
  const bool grows = good[0] == static_cast<double>(a.growth_interval);
  if (grows) good[0] = 0;
  double next = scale[0] * (found ? a.backoff_factor : grows ? a.growth_factor : 1);
  if (found) next = std::max(next, std::min(scale[0], a.min_scale));
  if (std::isfinite(static_cast<float>(next))) scale[0] = next;
  return {scale, good, in[3]};
}

Tensor ScaleUpdateLossScale(double scale) { return Cast(Values({scale}, Shape()), DType::kF32); }
Tensor Good(int64_t steps) { return Indices({steps}, Shape()); }
Tensor Flag(bool flag) { return Cast(Indices({flag ? 1 : 0}, Shape()), DType::kBool); }

FIRN_REGISTER_SAMPLES(update_loss_scale) {
  s.WithoutVectors("its rule is a few numbers");
  s.Function(
      [](In in, const UpdateLossScaleAttrs& a) { UpdateLossScale(in[0], in[1], in[2], in[3], a); });
  s.Reference(ReferenceUpdateLossScale);
  const Tensor yes = Flag(true), no = Flag(false);
  const UpdateLossScaleAttrs three{
      .growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3};
  s.Add("good", {ScaleUpdateLossScale(8), Good(0), no, no}, UpdateLossScaleAttrs{});
  s.Add("good after a bad one", {ScaleUpdateLossScale(8), Good(0), yes, no}, three);
  s.Add("grows", {ScaleUpdateLossScale(8), Good(2), no, no}, three);
  s.Add("cannot grow", {ScaleUpdateLossScale(3e38), Good(2), no, no}, three);
  s.Add("backs off", {ScaleUpdateLossScale(8), Good(2), no, yes}, three);
  UpdateLossScaleAttrs least = three;
  least.min_scale = 4;
  s.Add("backs off to the least", {ScaleUpdateLossScale(8), Good(2), no, yes}, least);
  s.Add("is below the least", {ScaleUpdateLossScale(3), Good(2), no, yes}, least);
  s.AddError("no growth", {ScaleUpdateLossScale(8), Good(2), no, no},
             UpdateLossScaleAttrs{.growth_factor = 1}, "growth_factor 1 (want > 1)");
  s.AddError("scale is f64", {Values({8}, Shape()), Good(2), no, no}, UpdateLossScaleAttrs{},
             "scale must be f32");
}

}  // namespace
}  // namespace firn::testing
