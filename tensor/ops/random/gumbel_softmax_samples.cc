#include "firn/tensor/ops/random/gumbel_softmax.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct GumbelAttrs {
  double tau = 1;
  bool hard = false;
  int64_t dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("tau", tau);
    v.Field("hard", hard);
    v.Field("dim", dim);
  }
};

// tests/tensor/random_activations_test tests the results.
FIRN_REGISTER_COMPOSITE(gumbel_softmax) {
  AddDrawing<GumbelAttrs>(
      s, {{.name = "x", .dtypes = kFloating, .min_rank = 1}},
      [](In in, const GumbelAttrs& a, RandomGenerator* g) {
        return GumbelSoftmax(in[0], {.tau = a.tau, .hard = a.hard, .dim = a.dim, .generator = g});
      });
  const Tensor state = State();
  s.Add("soft", {Normal({3, 5}), state}, GumbelAttrs{});
  s.Add("soft, of channels", {Normal({2, 8, 3}), state}, GumbelAttrs{2, false, 1});
  // Hard samples have the gradient of the soft ones.
  const auto add_hard = [&](const char* name, const Tensor& x, const GumbelAttrs& a) {
    s.Add(name, {x, state}, a).check_gradient = false;
  };
  add_hard("hard, of columns", Normal({3, 5}), GumbelAttrs{0.5, true, 0});
  add_hard("hard, of channels", Normal({2, 8, 3}), GumbelAttrs{2, true, 1});
  add_hard("no rows", Normal({0, 5}), GumbelAttrs{1, true, -1});
  s.AddLarge("8192x512", {Normal({8192, 512}), state}, GumbelAttrs{}, 40 * 4.2e6, 33.6e6);
  s.AddError("tau", {Normal({3}), state}, GumbelAttrs{0}, "tau must be above 0, got 0");
  s.AddError("dim", {Normal({3}), state}, GumbelAttrs{1, false, 1}, "dim 1");
  s.AddError("integers", {Integers({3}, 0, 9), state}, GumbelAttrs{}, "logits must be floating");
}

}  // namespace
}  // namespace firn::testing
