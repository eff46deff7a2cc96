#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/quantize/min_max.h"
#include "firn/tensor/testing/samples.h"

// Gradients, and what is learnt: tests/nn/min_max_quantize_test.cc.

namespace firn::testing {
namespace {

struct MinMaxAttrs {
  double decay = 0.999;
  bool x_min_max = false, ema = false, ste_fine_grained = true;
  double eps = 0.01;
  template <class V>
  void Visit(V& v) {
    v.Field("decay", decay);
    v.Field("x_min_max", x_min_max);
    v.Field("ema", ema);
    v.Field("ste_fine_grained", ste_fine_grained);
    v.Field("eps", eps);
  }
};

double Rounded(double x) { return std::floor(x + 0.5); }

// The place in t, of x's rank with sizes 1 or of one element, that belongs to the element `at`.
int64_t PlaceIn(const RefTensor& t, absl::Span<const int64_t> at) {
  int64_t place = 0;
  if (t.size() == 1) return place;
  for (int d = 0; d < t.shape.rank(); ++d) {
    place = place * t.shape[d] + (t.shape[d] == 1 ? 0 : at[static_cast<size_t>(d)]);
  }
  return place;
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const MinMaxAttrs& a = attrs.get<MinMaxAttrs>();
  RefTensor low = in[1], high = in[2], y = in[0];
  if (a.x_min_max && y.size() > 0) {
    RefTensor least(low.shape, INFINITY), most(low.shape, -INFINITY);
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const int64_t i = PlaceIn(low, at);
      least[i] = std::min(least[i], in[0].at(at));
      most[i] = std::max(most[i], in[0].at(at));
    });
    const double decay = a.ema ? a.decay : 0;
    for (int64_t i = 0; i < low.size(); ++i) {
      low[i] = decay * low[i] + (1 - decay) * least[i];
      high[i] = std::max(decay * high[i] + (1 - decay) * most[i], low[i] + a.eps);
    }
  }
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    const int64_t i = PlaceIn(low, at);
    const double first = in[3][0], last = in[4][0];
    const double scale = (std::max(high[i], low[i] + a.eps) - low[i]) / (last - first);
    const double zero = std::clamp(Rounded(first - low[i] / scale), first, last);
    const double from = (first - zero) * scale, to = (last - zero) * scale;
    y.at(at) = Rounded((std::clamp(in[0].at(at), from, to) - from) / scale) * scale + from;
  });
  return {low, high, y};
}

FIRN_REGISTER_COMPOSITE(min_max_quantize) {
  s.gradient_is_derivative = false;
  const auto of_x = [](const char* name, bool inout) {
    return ArgDecl{.name = name, .same_dtype_as = "x", .wide = true, .inout = inout};
  };
  s.Declare({{.name = "x", .dtypes = kFloating},
             of_x("qr_min", true),
             of_x("qr_max", true),
             of_x("ql_min", false),
             of_x("ql_max", false)});
  s.Function([](In in, const MinMaxAttrs& a) {
    return MinMaxQuantize(in[0], in[1], in[2], in[3], in[4],
                          {.decay = a.decay,
                           .x_min_max = a.x_min_max,
                           .ema = a.ema,
                           .ste_fine_grained = a.ste_fine_grained,
                           .eps = a.eps});
  });
  s.WithoutVectors("PyTorch does not have it");
  s.Reference(Reference);
  // Levels have no gradient.
  const auto add = [&](const char* name, const Tensor& x, const Tensor& low, const Tensor& high,
                       const MinMaxAttrs& a) {
    s.Add(name, {x, low, high, Values({0}), Values({15})}, a).constant_inputs = {3, 4};
  };
  const Tensor low = Values({-0.875}, {}), high = Values({1.25}, {});
  const Tensor lows = Uniform({1, 8, 1, 1}, -2, -1, 5), highs = Uniform({1, 8, 1, 1}, 1, 2, 6);
  add("learnt", Normal({3, 7}), low, high, MinMaxAttrs{});
  add("learnt, all through", Normal({3, 7}), low, high, MinMaxAttrs{.ste_fine_grained = false});
  add("held", Normal({2, 8, 3, 2}), lows, highs, MinMaxAttrs{.ema = true});
  add("extremes", Normal({2, 8, 3, 2}), lows, highs, MinMaxAttrs{.x_min_max = true});
  add("averages", Normal({3, 7}), low, high,
      MinMaxAttrs{.decay = 0.75, .x_min_max = true, .ema = true});
  add("a short range", Normal({5}), Values({0.5}), Values({0.5}), MinMaxAttrs{.eps = 0.25});
  add("nothing", Normal({0, 3}), low, high, MinMaxAttrs{});
  for (const bool follow : {false, true}) {
    s.AddLarge(follow ? "averages" : "learnt",
               {Normal({2048, 2048}), low, high, Values({0}), Values({255})},
               MinMaxAttrs{.x_min_max = follow, .ema = follow}, 8 * 4.2e6, 33.6e6)
        .constant_inputs = {3, 4};
  }
  const auto add_error = [&](const char* name, const Tensor& x, const MinMaxAttrs& a,
                             const char* message) {
    s.AddError(name, {x, Values({-1, 0}), Values({1, 1}), Values({0}), Values({15})}, a, message);
  };
  add_error("range", Normal({3}), MinMaxAttrs{}, "must be f64 of one shape, one element or sizes");
  add_error("integers", Integers({2}, 0, 9), MinMaxAttrs{}, "x must be f32, f64");
  add_error("decay", Normal({2}), MinMaxAttrs{2}, "decay must lie in [0, 1] and eps above 0");
}

}  // namespace
}  // namespace firn::testing
