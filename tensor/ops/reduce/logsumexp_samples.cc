#include <algorithm>
#include <cmath>

#include "tensor/ops/reduce/logsumexp.h"
#include "tensor/ops/reduce/reduction_samples.h"

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

}  // namespace
}  // namespace firn::testing
