#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/reduce/reduction_samples.h"
#include "firn/tensor/ops/reduce/truth.h"

namespace firn::testing {
namespace {

// `n` values, all of them 1 - v but the one at `at`, which is v.
std::vector<double> OneOther(size_t n, size_t at, double v) {
  std::vector<double> values(n, 1 - v);
  values[at] = v;
  return values;
}

// `one` is what an element must be for the result to be that, whatever others are.
void AddTruths(Samples& s, double one) {
  s.Add("all", {Booleans({3, 5})}, ReduceAttrs{});
  s.Add("rows", {Booleans({9, 2})}, ReduceAttrs{{1}});
  s.Add("columns", {Booleans({2, 40})}, ReduceAttrs{{0}, true});
  s.Add("long rows", {Integers({4, 300}, 0, 2)}, ReduceAttrs{{1}});
  s.Add("floats", {Values({0, 0, 1e-30, 0, std::nan(""), 0, -0.0, 0.0}, {4, 2})}, ReduceAttrs{{1}});
  s.Add("one differs", {Values(OneOther(1200, 7, one), {400, 3})}, ReduceAttrs{{0}});
  s.Add("a scalar", {Booleans({})}, ReduceAttrs{});
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.AddLarge("4M", {Normal({2048, 2048})}, ReduceAttrs{}, 4.2e6, 16.8e6);
  s.AddError("dim", {Booleans({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(all) {
  s.Function([](In in, const ReduceAttrs& a) { return All(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return std::all_of(elements.begin(), elements.end(), [](double v) { return v != 0; }) ? 1.0
                                                                                          : 0.0;
  }));
  AddTruths(s, 0);
}

FIRN_REGISTER_SAMPLES(any) {
  s.Function([](In in, const ReduceAttrs& a) { return Any(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return std::any_of(elements.begin(), elements.end(), [](double v) { return v != 0; }) ? 1.0
                                                                                          : 0.0;
  }));
  AddTruths(s, 1);
}

}  // namespace
}  // namespace firn::testing
