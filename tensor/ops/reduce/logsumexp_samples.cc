#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/reduce/logsumexp.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(logsumexp) {
  s.Function([](In in, const ReduceAttrs& a) { return Logsumexp(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    double top = -1e300, sum = 0;
    for (double v : elements) {
      if (std::isinf(v) && v > 0) return v;
      top = std::max(top, v);
    }
    for (double v : elements) sum += std::exp(v - top);
    return std::log(sum) + (sum > 0 ? top : 0);
  }));
  AddReductionSamples(s, true);
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.Add("large values", {Uniform({3, 70}, -1000, 1000)}, ReduceAttrs{{1}}).check_gradient = false;
  s.Add("large values in columns", {Uniform({70, 3}, -1000, 1000)}, ReduceAttrs{{0}})
      .check_gradient = false;
  s.Add("large values in blocks", {Uniform({30001}, -90, 90)}, ReduceAttrs{}).check_gradient =
      false;
  s.Add("infinities and NaN",
        {Values({-INFINITY, -INFINITY, 1, -INFINITY, INFINITY, -1000, NAN, 1}, {4, 2})},
        ReduceAttrs{{1}})
      .check_gradient = false;
  s.Add("infinities in columns",
        {Values({-INFINITY, 1, INFINITY, 5, -INFINITY, -INFINITY, 1000, NAN}, {2, 4})},
        ReduceAttrs{{0}, true})
      .check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 8.4e6, 16.8e6);
  s.AddLarge("columns of 2048", {Normal({2048, 2048})}, ReduceAttrs{{0}}, 8.4e6, 16.8e6);
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
  s.AddError("int", {Integers({3}, 0, 5)}, ReduceAttrs{}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(logsumexp_grad) {
  s.Internal("the gradient of logsumexp");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) -> std::vector<RefTensor> {
    RefTensor dx(in[0].shape);
    int64_t line = 0;
    ForEachLine(dx.shape, attrs.get<DimAttrs>().dim, [&](int64_t n, int64_t first, int64_t step) {
      double top = -INFINITY, sum = 0;
      for (int64_t j = 0; j < n; ++j) top = std::max(top, in[0][first + j * step]);
      const double dy = in[1][line++];
      for (int64_t j = 0; j < n; ++j) sum += std::exp(in[0][first + j * step] - top);
      for (int64_t j = 0; j < n; ++j) {
        const int64_t i = first + j * step;
        dx[i] = std::isinf(top) ? 0 : std::exp(in[0][i] - top) / sum * dy;
      }
    });
    return {dx};
  });
  const auto add = [&](std::string name, const Shape& x, const Shape& lines,
                       int64_t dim) -> Sample& {
    return s.Add(std::move(name), {Normal(x), Normal(lines, 2)}, DimAttrs{dim});
  };
  add("a scalar", {}, {}, -1);
  add("a vector", {5}, {1}, 0);
  add("rows", {3, 5}, {3, 1}, 1);
  add("columns", {3, 5}, {1, 5}, 0);
  add("channels", {2, 3, 4, 8}, {2, 1, 4, 8}, -3);
  add("nothing", {3, 0}, {3, 1}, 1);
  add("rows of 200", {9, 200}, {9, 1}, 1).check_gradient = false;
  add("long rows", {2, 5000}, {2, 1}, 1).check_gradient = false;
  add("wide columns", {70, 300}, {1, 300}, 0).check_gradient = false;
  s.Add("large values", {Uniform({3, 70}, -1000, 1000), Normal({3, 1}, 2)}, DimAttrs{1})
      .check_gradient = false;
  s.Add("all -inf", {Values({-INFINITY, -INFINITY, 1, -INFINITY}, {2, 2}), Normal({2, 1}, 2)},
        DimAttrs{1})
      .check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048}), Normal({2048, 1}, 2)}, DimAttrs{1}, 5 * 4.2e6,
             33.6e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({1, 5})}, DimAttrs{1},
             "expected [3, 1] beside x [3, 5], got [1, 5]");
}

}  // namespace
}  // namespace firn::testing
