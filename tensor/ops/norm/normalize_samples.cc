#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct NormalizeAttrs {
  double p = 2;
  DimList dims = 1;
  double eps = 1e-12;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("dims", dims);
    v.Field("eps", eps);
  }
};

// The place of the index's group: where it would lie were all sizes of `dims` (empty: all) 1.
std::vector<int64_t> GroupOf(absl::Span<const int64_t> at, const DimList& dims) {
  std::vector<int64_t> group(at.begin(), at.end());
  for (size_t i = 0; i < group.size(); ++i) {
    const auto n = static_cast<int64_t>(group.size()), d = static_cast<int64_t>(i);
    const bool in = dims.empty() || std::find(dims.begin(), dims.end(), d) != dims.end() ||
                    std::find(dims.begin(), dims.end(), d - n) != dims.end();
    if (in) group[i] = 0;
  }
  return group;
}

// Sums of f(x) by group, in a tensor of x's shape of which only the places of groups are used.
template <class F>
RefTensor SumsOf(const RefTensor& x, const DimList& dims, F f) {
  RefTensor sums(x.shape);
  ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) { sums.at(GroupOf(at, dims)) += f(at); });
  return sums;
}

FIRN_REGISTER_COMPOSITE(normalize) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const NormalizeAttrs& a) { return Normalize(in[0], a.p, a.dims, a.eps); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<NormalizeAttrs>();
    const RefTensor& x = in[0];
    RefTensor y(x.shape);
    const RefTensor sums = SumsOf(
        x, a.dims, [&](absl::Span<const int64_t> at) { return std::pow(std::abs(x.at(at)), a.p); });
    ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
      const double norm = std::pow(sums.at(GroupOf(at, a.dims)), 1 / a.p);
      y.at(at) = x.at(at) / std::max(norm, a.eps);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("rows", {Normal({3, 5})}, NormalizeAttrs{});
  s.Add("channels of images", {Normal({2, 8, 3, 2})}, NormalizeAttrs{});
  s.Add("rows of some length", {Normal({3, 140})}, NormalizeAttrs{});
  s.Add("rows of two dimensions", {Normal({2, 12, 12})}, NormalizeAttrs{.dims = {-1, -2}});
  s.Add("all", {Normal({2, 3})}, NormalizeAttrs{.dims = {}});
  s.Add("two dimensions, p 3", {Distinct({2, 3, 4})}, NormalizeAttrs{3, {0, -1}});
  s.Add("p 1", {Distinct({3, 4})}, NormalizeAttrs{1, -1});
  s.Add("below eps", {Normal({2, 3})}, NormalizeAttrs{.eps = 100});
  s.Add("zeros", {Values({0, 0, 3, 4}, {2, 2})}, NormalizeAttrs{}).check_gradient = false;
  s.Add("zeros of some length", {Values(std::vector<double>(280), {2, 140})}, NormalizeAttrs{})
      .check_gradient = false;
  s.Add("a norm that f16 lacks", {Values({60000, 60000, 0, 0, 60000, 60000}, {1, 6})},
        NormalizeAttrs{})
      .check_gradient = false;
  s.Add("nothing", {Normal({0, 3})}, NormalizeAttrs{});
  s.AddLarge("4096x1000", {Normal({4096, 1000})}, NormalizeAttrs{}, 3 * 4.1e6, 32.8e6);
  s.AddLarge("channels", {Normal({32, 64, 32, 32})}, NormalizeAttrs{}, 3 * 2.1e6, 16.8e6);
  s.AddError("eps", {Normal({2, 3})}, NormalizeAttrs{.eps = -1}, "eps must be 0 or more, got -1");
  s.AddError("dim", {Normal({2, 3})}, NormalizeAttrs{.dims = 2}, "2");
}

struct StandardizeAttrs {
  DimList dims;
  double eps = 1e-5;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
    v.Field("eps", eps);
  }
};

FIRN_REGISTER_COMPOSITE(standardize) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const StandardizeAttrs& a) { return Standardize(in[0], a.dims, a.eps); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<StandardizeAttrs>();
    const RefTensor& x = in[0];
    using At = absl::Span<const int64_t>;
    const RefTensor n = SumsOf(x, a.dims, [](At) { return 1; });
    const RefTensor sum = SumsOf(x, a.dims, [&](At at) { return x.at(at); });
    const auto centred = [&](At at) {
      const auto group = GroupOf(at, a.dims);
      return x.at(at) - sum.at(group) / n.at(group);
    };
    const RefTensor squares = SumsOf(x, a.dims, [&](At at) { return centred(at) * centred(at); });
    RefTensor y(x.shape);
    ForEachIndex(x.shape, [&](At at) {
      const auto group = GroupOf(at, a.dims);
      y.at(at) = centred(at) / std::sqrt(squares.at(group) / n.at(group) + a.eps);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("all", {Normal({3, 4})}, StandardizeAttrs{});
  s.Add("rows", {Normal({3, 5})}, StandardizeAttrs{1, 0.1});
  s.Add("each channel", {Normal({2, 3, 2, 2})}, StandardizeAttrs{{0, 2, 3}});
  s.Add("each sample of blocked channels", {Normal({2, 16, 2, 2})}, StandardizeAttrs{{1, -2, -1}});
  s.Add("leading", {Normal({4, 3})}, StandardizeAttrs{0});
  s.Add("nothing", {Normal({0, 3})}, StandardizeAttrs{1});
  s.AddLarge("4096x1000", {Normal({4096, 1000})}, StandardizeAttrs{1}, 7 * 4.1e6, 32.8e6);
  s.AddLarge("channels", {Normal({32, 64, 32, 32})}, StandardizeAttrs{{0, 2, 3}}, 7 * 2.1e6,
             16.8e6);
  s.AddError("repeated", {Normal({2, 3})}, StandardizeAttrs{{1, -1}}, "standardize");
  s.AddError("eps", {Normal({2, 3})}, StandardizeAttrs{1, -0.5}, "eps must be 0 or more, got -0.5");
}

// Attributes have no value for a missing dim; -100 stands for it.
struct WeightNormAttrs {
  int64_t dim = 0;
  double eps = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("eps", eps);
  }
};

FIRN_REGISTER_COMPOSITE(weight_norm) {
  s.Declare({{.name = "v", .dtypes = kFloating}, {.name = "g", .same_dtype_as = "v"}},
            {{.name = "y", .same_dtype_as = "v"}});
  s.Function([](In in, const WeightNormAttrs& a) {
    WeightNormOptions options{.eps = a.eps};
    options.dim = a.dim == -100 ? std::nullopt : std::optional(a.dim);
    return WeightNorm(in[0], in[1], options);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<WeightNormAttrs>();
    const RefTensor &v = in[0], &g = in[1];
    const int64_t dim = a.dim == -100 ? -1 : a.dim < 0 ? a.dim + v.shape.rank() : a.dim;
    const auto row = [&](absl::Span<const int64_t> at) {
      return dim < 0 ? 0 : static_cast<size_t>(at[static_cast<size_t>(dim)]);
    };
    std::vector<double> squares(dim < 0 ? 1 : static_cast<size_t>(v.shape[static_cast<int>(dim)]));
    ForEachIndex(v.shape,
                 [&](absl::Span<const int64_t> at) { squares[row(at)] += v.at(at) * v.at(at); });
    RefTensor y(v.shape);
    ForEachIndex(v.shape, [&](absl::Span<const int64_t> at) {
      y.at(at) = v.at(at) * g[static_cast<int64_t>(row(at))] / std::sqrt(squares[row(at)] + a.eps);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("rows", {Normal({3, 5}), Normal({3}, 2)}, WeightNormAttrs{});
  s.Add("rows of some length", {Normal({3, 140}), Normal({3}, 2)}, WeightNormAttrs{});
  s.Add("filters, eps", {Normal({2, 16, 3, 3}), Normal({2, 1, 1, 1}, 2)}, WeightNormAttrs{0, 0.5});
  s.Add("kept sizes", {Normal({3, 2, 2}), Normal({3, 1, 1}, 2)}, WeightNormAttrs{});
  s.Add("columns, eps", {Normal({3, 5}), Normal({1, 5}, 2)}, WeightNormAttrs{-1, 0.5});
  s.Add("the whole", {Normal({3, 5}), Normal({1, 1}, 2)}, WeightNormAttrs{.dim = -100});
  s.Add("one element", {Normal({2, 3}), Normal({}, 2)}, WeightNormAttrs{.dim = -100});
  s.Add("vector", {Distinct({4}), Normal({4}, 2)}, WeightNormAttrs{});
  s.AddLarge("1024x4096", {Normal({1024, 4096}), Normal({1024}, 2)}, WeightNormAttrs{}, 3 * 4.2e6,
             33.6e6);
  s.AddLarge("columns of 1024x4096", {Normal({1024, 4096}), Normal({1, 4096}, 2)},
             WeightNormAttrs{-1}, 3 * 4.2e6, 33.6e6);
  s.AddError("g", {Normal({3, 5}), Normal({5}, 2)}, WeightNormAttrs{},
             "g [5] does not fit v [3, 5]: expected [3, 1] or one element for each index of dim");
  s.AddError("dim", {Normal({3, 5}), Normal({3}, 2)}, WeightNormAttrs{2}, "weight_norm");
}

}  // namespace
}  // namespace firn::testing
