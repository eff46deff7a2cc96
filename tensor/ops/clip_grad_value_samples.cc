#include <algorithm>

#include "tensor/ops/clip_grad_value.h"
#include "tensor/samples.h"

namespace firn::testing::clip_grad_value {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const double limit = attrs.get<ClipGradValueAttrs>().limit;
  std::vector<RefTensor> result(in.begin(), in.end());
  for (RefTensor& t : result) {
    for (double& x : t.values) x = std::min(std::max(x, -limit), limit);
  }
  return result;
}

}  // namespace

FIRN_REGISTER_SAMPLES(clip_grad_value) {
  s.Reference(Reference);
  const Tensor a = Normal({3, 5}), b = Normal({4}, 2);
  s.Add("default", {a}, ClipGradValueAttrs{});
  s.Add("several", {a, b, Normal({0}), Normal({})}, ClipGradValueAttrs{.limit = 0.25});
  s.Add("to nothing", {a, b}, ClipGradValueAttrs{.limit = 0});
  s.AddLarge("4M", {Normal({2048, 2048})}, ClipGradValueAttrs{}, 8.4e6, 33.6e6);
  s.AddError("negative", {a}, ClipGradValueAttrs{.limit = -1},
             "limit is -1 (want a number that is not negative)");
}

}  // namespace firn::testing::clip_grad_value
