#include <algorithm>
#include <cmath>

#include "firn/device/philox.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/ops/random/sampling.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> ReferenceRandperm(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const int64_t n = attrs.get<RandpermAttrs>().n;
  RefTensor state = in[0];
  const PhiloxState at{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
  RefTensor y({n});
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<double>(i);
  for (int64_t i = 0; i < n; ++i) {
    const PhiloxResult r = PhiloxAt(at, static_cast<uint64_t>(i / 2));
    const long double u = (r.v[i % 2 * 2] * 0x1p32L + r.v[i % 2 * 2 + 1]) * 0x1p-64L;
    std::swap(y[i], y[i + static_cast<int64_t>(u * static_cast<long double>(n - i))]);
  }
  state[1] += static_cast<double>((n + 1) / 2);
  return {state, y};
}

FIRN_REGISTER_SAMPLES(randperm) {
  s.Function([](In in, const RandpermAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) { return Randperm(a.n, {.generator = g}); });
  });
  s.Reference(ReferenceRandperm);
  const Tensor state = Indices({7, 100});
  s.Add("ten", {state}, RandpermAttrs{10});
  s.Add("odd", {state}, RandpermAttrs{101});
  s.Add("one", {state}, RandpermAttrs{1});
  s.Add("none", {state}, RandpermAttrs{0});
  s.AddLarge("60000", {state}, RandpermAttrs{60000}, 0, 0.48e6);
  s.AddError("negative", {state}, RandpermAttrs{-1}, "-1");
}

std::vector<RefTensor> ReferenceMultinomial(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const MultinomialAttrs& a = attrs.get<MultinomialAttrs>();
  RefTensor state = in[0];
  const PhiloxState at{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
  const auto uniform = [&](int64_t e) {
    const PhiloxResult r = PhiloxAt(at, static_cast<uint64_t>(e / 2));
    return UniformDouble(r.v[e % 2 * 2], r.v[e % 2 * 2 + 1]);
  };
  std::vector<int64_t> sizes(in[1].shape.begin(), in[1].shape.end());
  const int64_t c = sizes.back(), rows = in[1].size() / c;
  sizes.back() = a.n;
  RefTensor y{Shape(sizes)};
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> weights(in[1].values.begin() + r * c, in[1].values.begin() + (r + 1) * c);
    std::vector<double> clocks;
    for (int64_t i = 0; i < c; ++i) {
      clocks.push_back(-std::log(1 - uniform(r * c + i)) / weights[static_cast<size_t>(i)]);
    }
    for (int64_t j = 0; j < a.n; ++j) {
      if (a.replacement) {
        double sum = 0, total = 0;
        for (double w : weights) total += w;
        int64_t i = -1;
        while (sum <= uniform(r * a.n + j) * total) sum += weights[static_cast<size_t>(++i)];
        y[r * a.n + j] = static_cast<double>(i);
      } else {
        const auto first = std::min_element(clocks.begin(), clocks.end());
        y[r * a.n + j] = static_cast<double>(first - clocks.begin());
        *first = INFINITY;
      }
    }
  }
  state[1] += static_cast<double>((rows * (a.replacement ? a.n : c) + 1) / 2);
  return {state, y};
}

FIRN_REGISTER_SAMPLES(multinomial) {
  s.Function([](In in, const MultinomialAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) {
      return Multinomial(in[1], a.n, {.replacement = a.replacement, .generator = g});
    });
  });
  s.Reference(ReferenceMultinomial);
  const Tensor state = Indices({7, 100});
  const Tensor dice = Values({1, 2, 3, 4, 0, 2});
  // Weights that every dtype holds, so that all draw the same.
  const Tensor rows = Values({1, 0, 2, 4, 1, 1, 0, 0, 3, 0.5, 0.25, 1}, {3, 4});
  s.Add("with replacement", {state, dice}, MultinomialAttrs{20, true});
  s.Add("rows with replacement", {state, rows}, MultinomialAttrs{7, true});
  s.Add("without replacement", {state, dice}, MultinomialAttrs{3});
  s.Add("all of them", {state, Values({1, 2, 3, 4})}, MultinomialAttrs{4});
  s.Add("rows without replacement", {state, rows}, MultinomialAttrs{2});
  s.Add("no draws", {state, dice}, MultinomialAttrs{0});
  s.AddLarge("1000 rows of 1000", {state, Uniform({1000, 1000}, 0, 1)}, MultinomialAttrs{1, true},
             0, 4e6);
  s.AddError("negative", {state, Values({1, -1})}, MultinomialAttrs{1},
             "weight -1 of category 1 in row 0 is negative or not finite");
  s.AddError("zeros", {state, Values({0, 0})}, MultinomialAttrs{1}, "row 0 add up to 0");
  s.AddError("too many", {state, dice}, MultinomialAttrs{7}, "cannot draw 7 of 6 categories");
  s.AddError("too few positive", {state, dice}, MultinomialAttrs{6},
             "row 0 has 5 categories to draw 6 from");
}

struct ChoiceAttrs {
  std::vector<int64_t> shape = {};
  bool replacement = true;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("replacement", replacement);
  }
};

// tests/tensor/dropouts_test.cc tests that weights decide how often elements are drawn.
FIRN_REGISTER_COMPOSITE(random_choice) {
  AddDrawing<ChoiceAttrs>(s,
                          {{.name = "x", .min_rank = 1}, {.name = "weights", .dtypes = kFloating}},
                          [](In in, const ChoiceAttrs& a, RandomGenerator* g) {
                            return RandomChoice(in[0], in[1], Shape(a.shape),
                                                {.replacement = a.replacement, .generator = g});
                          });
  const Tensor rows = Values({1, 0, 2, 4, 1, 1, 0, 0, 3, 0.5, 0.25, 1}, {3, 4}), state = State();
  // Weights have no gradient.
  const auto add = [&](const char* name, const Tensor& x, const Tensor& weights,
                       const ChoiceAttrs& a) {
    s.Add(name, {x, weights, state}, a).constant_inputs = {1};
  };
  add("with replacement", Normal({3, 4}), rows, ChoiceAttrs{{2, 3}});
  add("without replacement", Normal({3, 4}), rows, ChoiceAttrs{{2}, false});
  add("a number", Normal({4}), Values({1, 2, 3, 4}), ChoiceAttrs{});
  add("images", Normal({2, 8, 3, 2}), Uniform({2, 8, 3, 2}, 1, 2), ChoiceAttrs{{3}});
  add("integers", Integers({3, 4}, 0, 9), rows, ChoiceAttrs{{2}});
  add("bool", Booleans({3, 4}), rows, ChoiceAttrs{{2}});
  add("nothing", Normal({3, 4}), rows, ChoiceAttrs{{0}});
  s.AddLarge("64 of 4096 in 1024 rows", {Normal({1024, 4096}), Uniform({1024, 4096}, 0, 1), state},
             ChoiceAttrs{{64}}, 0, 16.8e6)
      .constant_inputs = {1};
  s.AddError("weights", {Normal({3}), Values({1, 2}), state}, ChoiceAttrs{},
             "x and weights must be [..., n] of one shape, got [3] and [2]");
  s.AddError("too many", {Normal({2}), Values({1, 2}), state}, ChoiceAttrs{{3}, false},
             "cannot draw 3 of 2 categories");
}

}  // namespace
}  // namespace firn::testing
