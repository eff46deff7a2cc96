#include <cmath>

#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

void AddKinds(Samples& s, AttrsRef attrs = {}) {
  AddUnary(s, Normal, attrs);
  s.Add("edges", {Values({0.0, -0.0, NAN, INFINITY, -INFINITY, 6e4, -6e4, 1e-7})}, attrs);
  s.Add("integers", {Integers({9}, -9, 9)}, attrs);
  s.Add("bool", {Booleans({9})}, attrs);
}

FIRN_REGISTER_SAMPLES(isnan) {
  s.Function<Isnan>();
  s.Reference([](double x) { return std::isnan(x) ? 1.0 : 0.0; });
  AddKinds(s);
}

FIRN_REGISTER_SAMPLES(isinf) {
  s.Function([](In in, const IsinfAttrs& a) { return Isinf(in[0], a); });
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    const IsinfAttrs& a = attrs.get<IsinfAttrs>();
    return std::isinf(in[0]) && (in[0] > 0 ? a.positive : a.negative) ? 1.0 : 0.0;
  });
  AddKinds(s, IsinfAttrs{});
  const Tensor both = Values({NAN, INFINITY, -INFINITY, 1});
  s.Add("positive", {both}, IsinfAttrs{.negative = false});
  s.Add("negative", {both}, IsinfAttrs{.positive = false});
  s.Add("neither", {both}, IsinfAttrs{false, false});
}

FIRN_REGISTER_SAMPLES(isfinite) {
  s.Function<Isfinite>();
  s.Reference([](double x) { return std::isfinite(x) ? 1.0 : 0.0; });
  AddKinds(s);
}

}  // namespace
}  // namespace firn::testing
