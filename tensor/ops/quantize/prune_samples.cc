#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/quantize/prune.h"
#include "firn/tensor/testing/samples.h"

// Gradients and inq_quantize, which counts its calls, are in tests/tensor/quantize_state_test.cc.

namespace firn::testing {
namespace {

struct PruneAttrs {
  double rate = 0.9;
  template <class V>
  void Visit(V& v) {
    v.Field("rate", rate);
  }
};

FIRN_REGISTER_COMPOSITE(magnitude_prune) {
  s.gradient_is_derivative = false;  // tests/tensor/quantize_state_test
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.WithoutVectors("PyTorch prunes modules, by masks");
  s.Function([](In in, const PruneAttrs& a) { return MagnitudePrune(in[0], a.rate); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const double rate = attrs.get<PruneAttrs>().rate;
    RefTensor y = in[0];
    std::vector<double> sizes;
    for (const double v : y.values) sizes.push_back(std::abs(v));
    std::sort(sizes.begin(), sizes.end());
    const auto n = static_cast<double>(sizes.size());
    for (double& v : y.values) {
      if (rate == 1 || std::abs(v) < sizes[static_cast<size_t>((n - 1) * rate)]) v = 0;
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("matrix", {Distinct({3, 7})}, PruneAttrs{});
  s.Add("filters", {Distinct({2, 8, 3, 2})}, PruneAttrs{0.5});
  s.Add("equal sizes", {Values({1, -1, 2, -2, 1, 3})}, PruneAttrs{0.5});
  s.Add("number", {Values({-2}, {})}, PruneAttrs{});
  s.Add("none", {Distinct({5})}, PruneAttrs{0});
  s.Add("all", {Distinct({5})}, PruneAttrs{1});
  s.Add("nothing", {Normal({0, 3})}, PruneAttrs{});
  s.AddError("rate", {Normal({3})}, PruneAttrs{1.5}, "rate must lie in [0, 1], got 1.5");
  s.AddError("NaN", {Normal({3})}, PruneAttrs{NAN}, "rate must lie in [0, 1], got nan");
  s.AddError("integers", {Integers({3}, 0, 9)}, PruneAttrs{}, "x must be f32, f64, f16 or bf16");
}

}  // namespace
}  // namespace firn::testing
