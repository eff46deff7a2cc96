#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"

namespace firn::testing {
namespace {

double NormOf(const std::vector<double>& elements, double p) {
  double sum = 0, low = INFINITY, high = 0;
  for (double v : elements) {
    sum += p == 0 ? (v != 0 ? 1.0 : 0.0) : std::pow(std::abs(v), p);
    low = std::min(low, std::abs(v));
    high = std::max(high, std::abs(v));
  }
  if (std::isinf(p)) return p > 0 ? high : low;
  return p == 0 ? sum : std::pow(sum, 1 / p);
}

FIRN_REGISTER_SAMPLES(norm) {
  s.Function(
      [](In in, const NormAttrs& a) { return Norm(in[0], a.p, a.over.dims, a.over.keepdim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const NormAttrs& a = attrs.get<NormAttrs>();
    return std::vector<RefTensor>{ReduceReference(
        in[0], a.over, [&](const std::vector<double>& v) { return NormOf(v, a.p); })};
  });
  const Tensor x = Distinct({3, 4});  // nothing near 0
  s.Add("all", {x}, NormAttrs{});
  s.Add("rows", {x}, NormAttrs{2, {{1}, true}});
  s.Add("Frobenius", {Distinct({2, 3, 4})}, NormAttrs{2, {{-2, -1}}});
  s.Add("1", {x}, NormAttrs{1, {{0}}});
  s.Add("0", {Values({0, 1, -2, 0, 0, 3}, {2, 3})}, NormAttrs{0, {{1}}}).check_gradient = false;
  s.Add("3", {x}, NormAttrs{3, {{1}}});
  s.Add("1.5", {x}, NormAttrs{1.5, {{0}, true}});
  s.Add("0.5", {x}, NormAttrs{0.5, {{1}}});
  s.Add("infinity", {x}, NormAttrs{INFINITY, {{1}}});
  s.Add("-infinity", {x}, NormAttrs{-INFINITY, {{0}}});
  s.Add("a scalar", {Values({-2.5}, {})}, NormAttrs{});
  s.Add("zeros", {Values({0, 0, 0, 0}, {2, 2})}, NormAttrs{2, {{1}}}).check_gradient = false;
  s.Add("of nothing", {Normal({0, 3})}, NormAttrs{2, {{0}}});
  s.Add("long", {Distinct({30001}, 1e-4)}, NormAttrs{}).check_gradient = false;
  s.AddLarge("4M", {Normal({2048, 2048})}, NormAttrs{}, 8.4e6, 16.8e6);
  s.AddError("p", {x}, NormAttrs{-1, {}}, "p must be at least 0, or infinite; got -1");
  s.AddError("int", {Integers({3}, 0, 5)}, NormAttrs{}, "x must be f32, f64, f16 or bf16");
  s.AddError("nothing", {Normal({3, 0})}, NormAttrs{INFINITY, {{1}}},
             "x [3, 0] has no elements to take an infinite norm of");
}

}  // namespace
}  // namespace firn::testing
