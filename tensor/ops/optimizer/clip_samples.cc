#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/optimizer/clip.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> ReferenceClipGradNorm(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const ClipGradNormAttrs& a = attrs.get<ClipGradNormAttrs>();
  double norm = 0;
  for (const RefTensor& t : in) {
    for (double x : t.values) {
      norm = std::isinf(a.p) ? std::max(norm, std::fabs(x)) : norm + std::pow(std::fabs(x), a.p);
    }
  }
  if (!std::isinf(a.p)) norm = std::pow(norm, 1 / a.p);
  std::vector<RefTensor> result(in.begin(), in.end());
  for (RefTensor& t : result) {
    for (double& x : t.values) x *= std::min(1.0, a.max_norm / (norm + 1e-6));
  }
  result.emplace_back(Shape(), norm);
  return result;
}

FIRN_REGISTER_SAMPLES(clip_grad_norm) {
  s.Function(
      [](In in, const ClipGradNormAttrs& a) { return ClipGradNorm(in.all(), a.max_norm, a.p); });
  s.Reference(ReferenceClipGradNorm);
  const Tensor a = Normal({3, 5}), b = Normal({4}, 2), c = Normal({}, 3);
  const double infinity = std::numeric_limits<double>::infinity();
  s.Add("default", {a}, ClipGradNormAttrs{});
  s.Add("several", {a, b, Normal({0}), c}, ClipGradNormAttrs{.max_norm = 0.5});
  s.Add("small enough", {a, b}, ClipGradNormAttrs{.max_norm = 100});
  s.Add("to nothing", {a, b}, ClipGradNormAttrs{.max_norm = 0});
  s.Add("absolute values", {a, b}, ClipGradNormAttrs{.p = 1});
  s.Add("cubes", {a, b}, ClipGradNormAttrs{.p = 3});
  s.Add("largest", {b, a}, ClipGradNormAttrs{.max_norm = 0.25, .p = infinity});
  s.Add("nothing", {Normal({0})}, ClipGradNormAttrs{});
  s.Add("blocks", {Normal({300, 211}), Normal({7}, 2), Normal({300, 300}, 3)},
        ClipGradNormAttrs{.max_norm = 2});
  s.AddLarge("16M", {Normal({2048, 2048}), Normal({4096, 3072})}, ClipGradNormAttrs{}, 5.0e7,
             2.0e8);
  s.AddError("negative", {a}, ClipGradNormAttrs{.max_norm = -1},
             "max_norm is -1 (want a number that is not negative)");
  s.AddError("p", {a}, ClipGradNormAttrs{.p = 0}, "p is 0 (want a positive number)");
}

std::vector<RefTensor> ReferenceClipGradValue(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const double limit = attrs.get<ClipGradValueAttrs>().limit;
  std::vector<RefTensor> result(in.begin(), in.end());
  for (RefTensor& t : result) {
    for (double& x : t.values) x = std::min(std::max(x, -limit), limit);
  }
  return result;
}

FIRN_REGISTER_SAMPLES(clip_grad_value) {
  s.Function([](In in, const ClipGradValueAttrs& a) { ClipGradValue(in.all(), a.limit); });
  s.Reference(ReferenceClipGradValue);
  const Tensor a = Normal({3, 5}), b = Normal({4}, 2);
  s.Add("default", {a}, ClipGradValueAttrs{});
  s.Add("several", {a, b, Normal({0}), Normal({})}, ClipGradValueAttrs{.limit = 0.25});
  s.Add("to nothing", {a, b}, ClipGradValueAttrs{.limit = 0});
  s.AddLarge("4M", {Normal({2048, 2048})}, ClipGradValueAttrs{}, 8.4e6, 33.6e6);
  s.AddError("negative", {a}, ClipGradValueAttrs{.limit = -1},
             "limit is -1 (want a number that is not negative)");
}

}  // namespace
}  // namespace firn::testing
