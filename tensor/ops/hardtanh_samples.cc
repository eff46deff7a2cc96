#include <algorithm>
#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/hardtanh.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(hardtanh) {
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
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const HardtanhAttrs& a = attrs.get<HardtanhAttrs>();
    return in[1] <= a.min || in[1] >= a.max ? 0.0 : in[0];
  });
  AddGradient(s, Grid, HardtanhAttrs{});
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({-1, 1, INFINITY, 0.0, NAN})}, HardtanhAttrs{})
      .check_gradient = false;
}

}  // namespace firn::testing
