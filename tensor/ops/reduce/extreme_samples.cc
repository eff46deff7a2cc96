#include <algorithm>
#include <cmath>

#include "tensor/ops/reduce/extreme.h"
#include "tensor/ops/reduce/reduction_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(amax) {
  s.Function([](In in, const ReduceAttrs& a) { return Amax(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    for (double v : elements) {
      if (std::isnan(v)) return v;
    }
    return *std::max_element(elements.begin(), elements.end());
  }));
  AddReductionSamples(s);
  s.Add("integers", {Integers({4, 30}, -100, 100)}, ReduceAttrs{{1}});
  s.Add("bool", {Booleans({4, 3})}, ReduceAttrs{{0}});
  s.Add("ties", {Values({3, 1, 3, 2, 1, 1, 1, 1, 0, 0, 0, 4}, {3, 4})}, ReduceAttrs{{1}})
      .check_gradient = false;
  s.Add("NaN and infinities", {Values({NAN, 1, INFINITY, -INFINITY, 2, -INFINITY}, {3, 2})},
        ReduceAttrs{{1}, true})
      .check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("nothing", {Normal({3, 0})}, ReduceAttrs{{1}},
             "x [3, 0] has no elements to take the extreme of");
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(amin) {
  s.Function([](In in, const ReduceAttrs& a) { return Amin(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    for (double v : elements) {
      if (std::isnan(v)) return v;
    }
    return *std::min_element(elements.begin(), elements.end());
  }));
  AddReductionSamples(s);
  s.Add("integers", {Integers({4, 30}, -100, 100)}, ReduceAttrs{{1}});
  s.Add("bool", {Booleans({4, 3})}, ReduceAttrs{{0}});
  s.Add("ties", {Values({3, 1, 3, 2, 1, 1, 1, 1, 0, 0, 0, 4}, {3, 4})}, ReduceAttrs{{1}})
      .check_gradient = false;
  s.Add("NaN and infinities", {Values({NAN, 1, INFINITY, -INFINITY, 2, -INFINITY}, {3, 2})},
        ReduceAttrs{{1}, true})
      .check_gradient = false;
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("nothing", {Normal({3, 0})}, ReduceAttrs{{1}},
             "x [3, 0] has no elements to take the extreme of");
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
}

}  // namespace
}  // namespace firn::testing
