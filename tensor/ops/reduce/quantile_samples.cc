#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "firn/tensor/ops/reduce/quantile.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using Rule = QuantileInterpolation;

struct QuantileAttrs {
  double q = 0.5;
  bool flat = false;  // of all elements
  int64_t dim = -1;
  bool keepdim = false;
  Rule interpolation = Rule::kLinear;
  QuantileOptions options() const {
    return {.dim = flat ? std::optional<int64_t>() : dim,
            .keepdim = keepdim,
            .interpolation = interpolation};
  }
  template <class V>
  void Visit(V& v) {
    v.Field("q", q);
    v.Field("flat", flat);
    v.Field("dim", dim);
    v.Field("keepdim", keepdim);
    v.Field("interpolation", interpolation);
  }
};

double QuantileOf(std::vector<double> line, double q, Rule rule) {
  std::sort(line.begin(), line.end());
  const double place = q * static_cast<double>(line.size() - 1);
  const double low = line[static_cast<size_t>(std::floor(place))];
  const double high = line[static_cast<size_t>(std::ceil(place))];
  if (rule == Rule::kLower) return low;
  if (rule == Rule::kHigher) return high;
  if (rule == Rule::kNearest) return line[static_cast<size_t>(std::nearbyint(place))];
  if (rule == Rule::kMidpoint) return (low + high) / 2;
  return low + (high - low) * (place - std::floor(place));
}

// of(line) for each line, or for all elements.
template <class F>
std::vector<RefTensor> OfLines(const RefTensor& x, const QuantileAttrs& a, F of) {
  const bool flat = a.flat || x.shape.rank() == 0;
  const Shape in = flat ? Shape({x.size()}) : x.shape;
  const int64_t dim = flat ? 0 : a.dim < 0 ? a.dim + in.rank() : a.dim;
  Dims shape;
  for (int d = 0; d < x.shape.rank(); ++d) {
    const bool reduced = flat || d == dim;
    if (!reduced) shape.push_back(x.shape[d]);
    if (reduced && a.keepdim) shape.push_back(1);
  }
  RefTensor y(Shape::Trusted(shape));
  int64_t i = 0;
  ForEachLine(in, dim, [&](int64_t length, int64_t first, int64_t step) {
    std::vector<double> line;
    for (int64_t j = 0; j < length; ++j) line.push_back(x[first + j * step]);
    y[i++] = of(std::move(line));
  });
  return {y};
}

void AddCalls(Samples& s) {
  for (const Rule rule :
       {Rule::kLinear, Rule::kLower, Rule::kHigher, Rule::kNearest, Rule::kMidpoint}) {
    s.Add("rows, " + std::string(WordFor(rule)), {Distinct({3, 5}, 0.1)},
          QuantileAttrs{.q = 0.3, .interpolation = rule});
  }
  s.Add("all", {Distinct({3, 5}, 0.1)}, QuantileAttrs{.q = 0.8, .flat = true});
  s.Add("all, kept", {Distinct({3, 2}, 0.1)},
        QuantileAttrs{.q = 0.25, .flat = true, .keepdim = true});
  s.Add("columns, kept", {Distinct({4, 3}, 0.1)}, QuantileAttrs{.dim = 0, .keepdim = true});
  s.Add("channels", {Distinct({2, 8, 3, 2}, 0.01)}, QuantileAttrs{.q = 0.9, .dim = 1});
  s.Add("the least", {Distinct({3, 5}, 0.1)}, QuantileAttrs{.q = 0});
  s.Add("the largest", {Distinct({3, 5}, 0.1)}, QuantileAttrs{.q = 1});
  s.Add("one", {Distinct({3, 1}, 0.1)}, QuantileAttrs{});
  s.Add("a scalar", {Normal({})}, QuantileAttrs{});
  s.Add("no rows", {Normal({0, 3})}, QuantileAttrs{});
  s.Add("NaN", {Values({1, NAN, 0, NAN, 5, 2, 3, 4, NAN, NAN, NAN, NAN}, {3, 4})},
        QuantileAttrs{.q = 0.4})
      .check_gradient = false;
  s.AddLarge("1024x4096", {Normal({1024, 4096})}, QuantileAttrs{.q = 0.9}, 50e6, 16.8e6);
  s.AddError("nothing", {Normal({3, 0})}, QuantileAttrs{}, "x [3, 0] has no elements in dim 1");
  s.AddError("nothing at all", {Normal({3, 0})}, QuantileAttrs{.flat = true},
             "x [3, 0] has no elements");
  s.AddError("integers", {Integers({3}, 0, 9)}, QuantileAttrs{}, "x must be floating, got i64 [3]");
  s.AddError("q", {Normal({3})}, QuantileAttrs{.q = 1.5}, "q must be from 0 to 1, got 1.5");
  s.AddError("q of NaN", {Normal({3})}, QuantileAttrs{.q = NAN}, "q must be from 0 to 1, got nan");
}

FIRN_REGISTER_COMPOSITE(quantile) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const QuantileAttrs& a) { return Quantile(in[0], a.q, a.options()); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const QuantileAttrs& a = attrs.get<QuantileAttrs>();
    return OfLines(in[0], a, [&](std::vector<double> line) {
      const bool nan = std::any_of(line.begin(), line.end(), [](double v) { return v != v; });
      return nan ? NAN : QuantileOf(std::move(line), a.q, a.interpolation);
    });
  });
  AddCalls(s);
}

FIRN_REGISTER_COMPOSITE(nanquantile) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const QuantileAttrs& a) { return Nanquantile(in[0], a.q, a.options()); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const QuantileAttrs& a = attrs.get<QuantileAttrs>();
    return OfLines(in[0], a, [&](std::vector<double> line) {
      std::erase_if(line, [](double v) { return v != v; });
      return line.empty() ? NAN : QuantileOf(std::move(line), a.q, a.interpolation);
    });
  });
  AddCalls(s);
}

// One number is an option, several are a tensor.
template <class One, class Several>
Tensor Call(GoldenArgs& args, One one, Several several) {
  const Tensor x = args["x"];
  QuantileOptions options;
  if (args.Has("dim")) options.dim = args.Int("dim", 0);
  options.keepdim = args.Flag("keepdim", false);
  options.interpolation = static_cast<Rule>(
      args.Enumerator("interpolation", inner::kWordsOf<Rule>, static_cast<int64_t>(Rule::kLinear)));
  if (args.Has("q")) return one(x, args.Number("q", 0), options);
  return several(x, args["q"].To(DType::kF64).ToVector<double>(), options);
}

using OfOne = Tensor (*)(const Tensor&, Real, const QuantileOptions&);
using OfSeveral = Tensor (*)(const Tensor&, const std::vector<double>&, const QuantileOptions&);

FIRN_REGISTER_GOLDEN(quantile) { return Call(args, OfOne(Quantile), OfSeveral(Quantile)); }
FIRN_REGISTER_GOLDEN(nanquantile) { return Call(args, OfOne(Nanquantile), OfSeveral(Nanquantile)); }

}  // namespace
}  // namespace firn::testing
