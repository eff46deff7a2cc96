#include <algorithm>
#include <cmath>
#include <string>

#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Calls f(element of `out` that the index names, element of source) in order.
template <class F>
void ForEachScattered(const RefTensor& indices, const RefTensor& source, int64_t dim,
                      RefTensor& out, F f) {
  const auto d = static_cast<size_t>(dim < 0 ? dim + out.shape.rank() : dim);
  ForEachIndex(indices.shape, [&](absl::Span<const int64_t> at) {
    std::vector<int64_t> to(at.begin(), at.end());
    const auto i = static_cast<int64_t>(indices.at(at));
    to[d] = i < 0 ? i + out.shape[static_cast<int>(d)] : i;
    f(out.at(to), source.at(at));
  });
}

FIRN_REGISTER_SAMPLES(scatter) {
  s.Function([](In in, const DimAttrs& a) { return Scatter(in[0], a.dim, in[1], in[2]); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor out = in[0];
    ForEachScattered(in[1], in[2], attrs.get<DimAttrs>().dim, out,
                     [](double& to, double v) { to = v; });
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Normal({5}), Indices({4, 0, 1}), Normal({3}, 2)}, DimAttrs{0});
  s.Add("rows", {Normal({4, 3}), Indices({3, -4, 1, 1, 2, 0}, {2, 3}), Normal({2, 3}, 2)},
        DimAttrs{0});
  s.Add("in the middle",
        {Normal({2, 8, 3}), Indices({5, 0, -1, 1, 2, 7}, {2, 1, 3}), Normal({2, 1, 3}, 2)},
        DimAttrs{1});
  s.Add("one place twice", {Normal({3}), Indices({1, 1}), Normal({2}, 2)}, DimAttrs{0})
      .check_gradient = false;
  s.Add("no indices", {Normal({3, 5}), Indices({}, {3, 0}), Normal({3, 0})}, DimAttrs{1});
  s.Add("integers", {Integers({3}, 0, 9), Indices({2, 0}), Integers({2}, 0, 9)}, DimAttrs{0});
  s.Add("bool", {Booleans({3}), Indices({2, 0}), Booleans({2})}, DimAttrs{0});
  s.AddLarge("4M", {Normal({2048, 2048}), Integers({2048, 2048}, 0, 2048), Normal({2048, 2048}, 2)},
             DimAttrs{1}, 0, 84e6);
  s.AddError("index", {Normal({2, 3}), Indices({3}, {1, 1}), Normal({1, 1})}, DimAttrs{1},
             "indices 3 at index 0 is outside [-3, 3)");
  s.AddError("source", {Normal({2, 3}), Integers({2, 2}, 0, 2), Normal({2, 1})}, DimAttrs{1},
             "source [2, 1] must have the shape of indices [2, 2]");
}

FIRN_REGISTER_GOLDEN(scatter) {
  return Scatter(args["x"], args.Int("dim", 0), args["indices"], args["source"]);
}

double Met(double to, double v, ScatterReduction reduce) {
  if (reduce == ScatterReduction::kProd) return to * v;
  if (std::isnan(to) || std::isnan(v)) return NAN;
  if (reduce == ScatterReduction::kAmax) return std::max(to, v);
  return reduce == ScatterReduction::kAmin ? std::min(to, v) : to + v;
}

FIRN_REGISTER_SAMPLES(scatter_reduce) {
  s.Function([](In in, const ScatterReduceAttrs& a) {
    return ScatterReduce(in[0], a.dim, in[1], in[2], a.reduce);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const ScatterReduceAttrs& a = attrs.get<ScatterReduceAttrs>();
    RefTensor out = in[0];
    ForEachScattered(in[1], in[2], a.dim, out,
                     [&](double& to, double v) { to = Met(to, v, a.reduce); });
    return std::vector<RefTensor>{out};
  });
  const Tensor rows = Indices({3, -4, 1, 1, 1, 0}, {2, 3});
  for (ScatterReduction r :
       {ScatterReduction::kProd, ScatterReduction::kAmax, ScatterReduction::kAmin}) {
    const std::string name = WordFor(r);
    s.Add(name, {Distinct({5}, 0.3), Indices({4, 0, 0}), Distinct({3}, 0.7, 2)},
          ScatterReduceAttrs{0, r});
    s.Add(name + " of rows", {Distinct({4, 3}, 0.3), rows, Distinct({2, 3}, 0.7, 2)},
          ScatterReduceAttrs{0, r});
    s.Add(name + " in the middle",
          {Distinct({2, 8, 3}, 0.3), Indices({5, 0, -1, 1, 2, 7}, {2, 1, 3}),
           Distinct({2, 1, 3}, 0.7, 2)},
          ScatterReduceAttrs{1, r});
    s.Add(name + " of integers", {Integers({3}, 1, 4), Indices({2, 2}), Integers({2}, 1, 4, 2)},
          ScatterReduceAttrs{0, r});
    s.Add(name + " with NaN", {Values({1, NAN, 2}), Indices({0, 1, 2}), Values({NAN, 1, 3})},
          ScatterReduceAttrs{0, r})
        .check_gradient = false;
    s.Add(name + " of nothing", {Normal({3, 5}), Indices({}, {3, 0}), Normal({3, 0})},
          ScatterReduceAttrs{1, r});
  }
  s.AddLarge("4M", {Normal({2048, 2048}), Integers({2048, 2048}, 0, 2048), Normal({2048, 2048}, 2)},
             ScatterReduceAttrs{1, ScatterReduction::kAmax}, 4.2e6, 84e6);
  s.AddError("reduce", {Normal({3}), Indices({0}), Normal({1})},
             ScatterReduceAttrs{0, ScatterReduction::kSum}, "reduce must be prod, amax or amin");
}

FIRN_REGISTER_GOLDEN(scatter_reduce) {
  return ScatterReduce(args["x"], args.Int("dim", 0), args["indices"], args["source"],
                       static_cast<ScatterReduction>(args.Int("reduction", 0)),
                       args.Flag("include_self", true));
}

}  // namespace
}  // namespace firn::testing
