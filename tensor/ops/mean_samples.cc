#include <numeric>

#include "tensor/ops/mean.h"
#include "tensor/reduction_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(mean) {
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

}  // namespace firn::testing
