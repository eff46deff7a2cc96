#include <numeric>

#include "tensor/ops/reduce/reduction_samples.h"
#include "tensor/ops/reduce/sum.h"
#include "tensor/ops/shape/expand.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(sum) {
  s.Function([](In in, const ReduceAttrs& a) { return Sum(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return std::accumulate(elements.begin(), elements.end(), 0.0);
  }));
  AddReductionSamples(s, true);
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.Add("integers", {Integers({4, 3}, -9, 9)}, ReduceAttrs{{1}});
  s.Add("bool", {Booleans({4, 3})}, ReduceAttrs{{0}});
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddLarge("columns of 2048", {Normal({2048, 2048})}, ReduceAttrs{{0}}, 4.2e6, 16.8e6);
  s.AddLarge("64x128x16x16 by channel", {Normal({64, 128, 16, 16})}, ReduceAttrs{{0, 2, 3}}, 2.1e6,
             8.4e6);
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
  s.AddError("repeated", {Normal({3, 5})}, ReduceAttrs{{0, -2}},
             "dim -2 is given twice in [0, -2]");
}

FIRN_REGISTER_SAMPLES(mean) {
  s.Function([](In in, const ReduceAttrs& a) { return Mean(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return std::accumulate(elements.begin(), elements.end(), 0.0) /
           static_cast<double>(elements.size());
  }));
  AddReductionSamples(s, true);
  s.Add("of nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("int", {Integers({3, 5}, 0, 9)}, ReduceAttrs{},
             "x must be f32, f64, f16 or bf16, got i64 [3, 5]");
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{-3}}, "dim -3 is outside [3, 5]");
}

}  // namespace
}  // namespace firn::testing
