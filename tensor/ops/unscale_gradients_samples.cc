#include <cmath>
#include <limits>

#include "tensor/ops/unscale_gradients.h"
#include "tensor/samples.h"

namespace firn::testing::unscale_gradients {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef) {
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

Tensor Scale(double scale) { return Values({scale}, Shape()); }

}  // namespace

FIRN_REGISTER_SAMPLES(unscale_gradients) {
  s.Reference(Reference);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Tensor a = Normal({3, 5}), b = Normal({4}, 2);
  s.Add("one", {Scale(4), a});
  s.Add("several", {Scale(1024), a, b, Normal({0}), Normal({}, 3)});
  s.Add("a small scale", {Scale(0.25), a});
  s.Add("infinite", {Scale(4), a, Values({1, kInfinity, 2})});
  s.Add("infinite below", {Scale(4), Values({1, -kInfinity}), b});
  s.Add("NaN", {Scale(4), Values({kNaN}), a});
  // Two whole blocks of the loop, cut inside the second tensor.
  s.Add("large", {Scale(2), Normal({300, 300}), Normal({50000}, 2)});
  s.AddLarge("4M", {Scale(2), Normal({2048, 2048})}, {}, 4.2e6, 33.6e6);
  s.AddError("scale is a vector", {Values({2, 3}), a}, {}, "scale must have 0 dimensions");
  s.AddError("integers", {Scale(2), Integers({3}, 0, 5)}, {},
             "grads must be f32, f64, f16 or bf16");
}

}  // namespace firn::testing::unscale_gradients
