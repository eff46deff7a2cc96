#include <algorithm>
#include <cmath>
#include <numeric>

#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::testing {
namespace {

double MeanOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

template <bool kRoot>
std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const VarAttrs& a = attrs.get<VarAttrs>();
  const auto var = [&](const std::vector<double>& v) {
    const double mean = MeanOf(v);
    double squares = 0;
    for (double x : v) squares += (x - mean) * (x - mean);
    const double result =
        squares / std::max(0.0, static_cast<double>(v.size()) - static_cast<double>(a.correction));
    return kRoot ? std::sqrt(result) : result;
  };
  return {ReduceReference(in[0], a.over, var), ReduceReference(in[0], a.over, MeanOf)};
}

void AddSamples(Samples& s) {
  s.Add("all", {Uniform({3, 5}, 1, 2)}, VarAttrs{});
  s.Add("rows", {Uniform({3, 5}, 1, 2)}, VarAttrs{{{1}, true}});
  s.Add("columns", {Uniform({7, 20}, 1, 2)}, VarAttrs{{{0}}});
  s.Add("per channel, biased", {Uniform({2, 3, 4, 2}, 1, 2)}, VarAttrs{{{0, 2, 3}}, 0});
  s.Add("large correction", {Uniform({2, 6}, 1, 2)}, VarAttrs{{{1}}, 3});
  s.Add("long", {Uniform({40001}, 1, 2)}, VarAttrs{}).check_gradient = false;
  s.Add("long columns", {Uniform({700, 18}, 1, 2)}, VarAttrs{{{0}}}).check_gradient = false;
  s.Add("columns side by side", {Uniform({3, 16}, 1, 2)}, VarAttrs{{{0}}});
  s.Add("dims in the middle", {Uniform({2, 3, 2, 16}, 1, 2)}, VarAttrs{{{1, 2}}});
  s.Add("far from 0", {Uniform({300}, 1000, 1001)}, VarAttrs{}).check_gradient = false;
  s.Add("equal elements", {Values(std::vector<double>(300, 0.7), {100, 3})}, VarAttrs{{{0}}})
      .check_gradient = false;
  s.Add("one element", {Uniform({3, 1}, 1, 2)}, VarAttrs{{{1}}}).check_gradient = false;
  s.Add("of nothing", {Normal({0, 3})}, VarAttrs{{{0}}}).check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, VarAttrs{{{1}}}, 4.2e6, 16.8e6);
  s.AddError("int", {Integers({3, 5}, 0, 9)}, VarAttrs{}, "x must be f32, f64, f16 or bf16");
  s.AddError("dim", {Normal({3, 5})}, VarAttrs{{{2}}}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(var) {
  s.Function([](In in, const VarAttrs& a) {
    return Var(in[0], a.over.dims, a.correction, a.over.keepdim);
  });
  s.Reference(Reference<false>);
  AddSamples(s);
}

FIRN_REGISTER_SAMPLES(std) {
  s.Function([](In in, const VarAttrs& a) {
    return Std(in[0], a.over.dims, a.correction, a.over.keepdim);
  });
  s.Reference(Reference<true>);
  AddSamples(s);
}

FIRN_REGISTER_SAMPLES(var_grad) {
  s.Internal("the gradient of var");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) -> std::vector<RefTensor> {
    RefTensor dx(in[0].shape);
    int64_t line = 0;
    ForEachLine(dx.shape, attrs.get<DimAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
      std::vector<double> x;
      for (int64_t j = 0; j < n; ++j) x.push_back(in[0][first + j * step]);
      const double mean = MeanOf(x), over = in[3].defined() ? in[3][line] : 1;
      const double scale = over == 0 ? 0 : in[2][line] / over;
      ++line;
      for (int64_t j = 0; j < n; ++j) dx[first + j * step] = (x[j] - mean) * scale;
    });
    return {dx};
  });
  s.atol_f32 = 2e-6;  // x - mean cancels
  const auto add = [&](std::string name, const Shape& x, const Shape& lines,
                       int64_t dim) -> Sample& {
    return s.Add(std::move(name),
                 {Uniform(x, 1, 2), Uniform(lines, 1, 2, 2), Normal(lines, 3), Tensor()},
                 DimAttrs{dim});
  };
  const auto add_over = [&](std::string name, const Shape& x, const Shape& lines, int64_t dim) {
    s.Add(std::move(name),
          {Uniform(x, 1, 2), Uniform(lines, 1, 2, 2), Normal(lines, 3), Uniform(lines, 1, 2, 4)},
          DimAttrs{dim});
  };
  add_over("rows, over numbers", {3, 5}, {3, 1}, 1);
  add_over("columns, over numbers", {7, 3}, {1, 3}, 0);
  s.Add("rows over 0",
        {Uniform({2, 3}, 1, 2), Values({1, 1}, {2, 1}), Values({2, 2}, {2, 1}),
         Values({0, 2}, {2, 1})},
        DimAttrs{1})
      .check_gradient = false;
  add("a scalar", {}, {}, -1);
  add("a vector", {5}, {1}, 0);
  add("rows", {3, 5}, {3, 1}, 1);
  add("columns", {3, 5}, {1, 5}, 0);
  add("channels", {2, 3, 4, 8}, {2, 1, 4, 8}, -3);
  add("nothing", {3, 0}, {3, 1}, 1);
  add("narrow columns", {300, 3}, {1, 3}, 0).check_gradient = false;
  add("blocks of narrow columns", {2, 171, 5}, {2, 1, 5}, 1).check_gradient = false;
  add("rows of 200", {9, 200}, {9, 1}, 1).check_gradient = false;
  add("long rows", {2, 5000}, {2, 1}, 1).check_gradient = false;
  add("wide columns", {70, 300}, {1, 300}, 0).check_gradient = false;
  s.AddLarge("rows of 2048",
             {Normal({2048, 2048}), Values(std::vector<double>(2048), {2048, 1}),
              Normal({2048, 1}, 2), Tensor()},
             DimAttrs{1}, 2 * 4.2e6, 33.6e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({3, 1}), Normal({1, 5}), Tensor()}, DimAttrs{1},
             "expected [3, 1] beside x [3, 5], got [1, 5]");
}

FIRN_REGISTER_COMPOSITE(var_mean) {
  s.Declare({{.name = "x", .dtypes = kFloating}},
            {{.name = "var", .same_dtype_as = "x"}, {.name = "mean", .same_dtype_as = "x"}});
  s.Function([](In in, const VarAttrs& a) -> std::vector<Tensor> {
    const VarMeanResult r = VarMean(in[0], a.over.dims, a.correction, a.over.keepdim);
    return {r.var, r.mean};
  });
  s.Reference(Reference<false>);
  AddSamples(s);
}

}  // namespace
}  // namespace firn::testing
