#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
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

Tensor Call(In in, const GumbelAttrs& a) {
  if (in[1].num_elements() != 2) RaiseStatus(InvalidArgument("no state"), "gumbel_softmax");
  return DrawFrom(in[1], [&](RandomGenerator* g) {
    return GumbelSoftmax(in[0], {.tau = a.tau, .hard = a.hard, .dim = a.dim, .generator = g});
  });
}

// What the results are, tests/tensor/random_activations_test says: draws of f64 are others than
// those of f32, by which the suite would judge their gradients.
FIRN_REGISTER_COMPOSITE(gumbel_softmax) {
  s.random = true;
  s.captured = false;  // reads the generator's position on the host
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 1},
             {.name = "state", .dtypes = SetOf(DType::kI64), .inout = true}});
  s.Function(Call);
  const Tensor state = Indices({7, 100});
  s.Add("soft", {Normal({3, 5}), state}, GumbelAttrs{});
  s.Add("hard, of columns", {Normal({3, 5}), state}, GumbelAttrs{0.5, true, 0});
  s.Add("channels", {Normal({2, 8, 3}), state}, GumbelAttrs{2, true, 1});
  s.Add("no rows", {Normal({0, 5}), state}, GumbelAttrs{1, true, -1});
  s.AddLarge("8192x512", {Normal({8192, 512}), state}, GumbelAttrs{}, 40 * 4.2e6, 33.6e6);
  s.AddError("tau", {Normal({3}), state}, GumbelAttrs{0}, "tau must be above 0, got 0");
  s.AddError("dim", {Normal({3}), state}, GumbelAttrs{1, false, 1}, "dim 1");
  s.AddError("integers", {Integers({3}, 0, 9), state}, GumbelAttrs{}, "logits must be floating");
  s.WithoutVectors("random");
}

}  // namespace
}  // namespace firn::testing
