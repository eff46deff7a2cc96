#include <cmath>

#include "tensor/ops/cast.h"
#include "tensor/ops/update_loss_scale.h"
#include "tensor/samples.h"

namespace firn::testing::update_loss_scale {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const UpdateLossScaleAttrs& a = attrs.get<UpdateLossScaleAttrs>();
  RefTensor scale = in[0], good = in[1];
  const bool found = in[3][0] != 0;
  good[0] = found ? 0 : good[0] + 1;
  const bool grows = good[0] == static_cast<double>(a.growth_interval);
  if (grows) good[0] = 0;
  const double next = scale[0] * (found ? a.backoff_factor : grows ? a.growth_factor : 1);
  if (std::isfinite(static_cast<float>(next))) scale[0] = next;
  return {scale, good, in[3]};
}

Tensor Scale(double scale) { return Cast(Values({scale}, Shape()), DType::kF32); }
Tensor Good(int64_t steps) { return Indices({steps}, Shape()); }
Tensor Flag(bool flag) { return Cast(Indices({flag ? 1 : 0}, Shape()), DType::kBool); }

}  // namespace

FIRN_REGISTER_SAMPLES(update_loss_scale) {
  s.Reference(Reference);
  const Tensor yes = Flag(true), no = Flag(false);
  const UpdateLossScaleAttrs three{
      .growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3};
  s.Add("good", {Scale(8), Good(0), no, no}, UpdateLossScaleAttrs{});
  s.Add("good after a bad one", {Scale(8), Good(0), yes, no}, three);
  s.Add("grows", {Scale(8), Good(2), no, no}, three);
  s.Add("cannot grow", {Scale(3e38), Good(2), no, no}, three);
  s.Add("backs off", {Scale(8), Good(2), no, yes}, three);
  s.AddError("no growth", {Scale(8), Good(2), no, no}, UpdateLossScaleAttrs{.growth_factor = 1},
             "growth_factor 1 (want > 1)");
  s.AddError("scale is f64", {Values({8}, Shape()), Good(2), no, no}, UpdateLossScaleAttrs{},
             "scale must be f32");
}

}  // namespace firn::testing::update_loss_scale
