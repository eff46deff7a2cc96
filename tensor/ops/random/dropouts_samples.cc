#include "firn/tensor/ops/random/dropouts.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/testing/samples.h"

// tests/tensor/dropouts_test.cc tests what is dropped, and how often.

namespace firn::testing {
namespace {

struct DropAttrs {
  double p = 0.5;
  bool training = true, together = true;  // by channels or by rows
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("training", training);
    v.Field("together", together);
  }
};

template <class F>
void AddDropout(Samples& s, F f) {
  AddDrawing<DropAttrs>(s, {{.name = "x", .dtypes = kFloating}}, f);
  s.Add("channels", {Normal({2, 8, 3, 2}), State()}, DropAttrs{});
  s.Add("rarely", {Normal({3, 5}), State()}, DropAttrs{0.1});
  s.Add("all", {Normal({3, 5}), State()}, DropAttrs{1});
  s.Add("none", {Normal({3, 5}), State()}, DropAttrs{0});
  s.Add("evaluation", {Normal({3, 5}), State()}, DropAttrs{0.5, false});
  s.Add("nothing", {Normal({0, 3}), State()}, DropAttrs{});
  s.AddLarge("64x64x32x32", {Normal({64, 64, 32, 32}), State()}, DropAttrs{}, 4.2e6, 33.6e6);
  s.AddError("p", {Normal({3, 5}), State()}, DropAttrs{1.5}, "p 1.5 is outside [0, 1]");
  s.AddError("integers", {Integers({3, 5}, 0, 9), State()}, DropAttrs{}, "x must be f32, f64");
}

FIRN_REGISTER_COMPOSITE(feature_dropout) {
  AddDropout(s, [](In in, const DropAttrs& a, RandomGenerator* g) {
    return FeatureDropout(in[0], a.p, a.training, g);
  });
  s.AddError("rank", {Normal({3}), State()}, DropAttrs{}, "x must be [n, c, ...], got [3]");
}

FIRN_REGISTER_COMPOSITE(alpha_dropout) {
  AddDropout(s, [](In in, const DropAttrs& a, RandomGenerator* g) {
    return AlphaDropout(in[0], a.p, a.training, a.together, g);
  });
  s.Add("each element", {Normal({37}), State()}, DropAttrs{0.5, true, false});
  s.AddLarge("elements", {Normal({64, 64, 32, 32}), State()}, DropAttrs{0.5, true, false}, 12.6e6,
             33.6e6);
  s.AddError("rank", {Normal({3}), State()}, DropAttrs{}, "x must be [n, c, ...], got [3]");
}

FIRN_REGISTER_COMPOSITE(stochastic_depth) {
  AddDropout(s, [](In in, const DropAttrs& a, RandomGenerator* g) {
    return StochasticDepth(in[0], a.p, a.together, a.training, g);
  });
  s.Add("all or nothing", {Normal({37}), State()}, DropAttrs{0.5, true, false});
}

}  // namespace
}  // namespace firn::testing
