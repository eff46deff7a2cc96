#include <cmath>

#include "tensor/elementwise_samples.h"
#include "tensor/ops/sub.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(sub) {
  ElementReference(s, [](const double* in, AttrsRef attrs) {
    return in[0] - attrs.get<SubAttrs>().alpha * in[1];
  });
  AddBinary(s, Normal, Normal, SubAttrs{});
  s.Add("alpha", {Normal({2, 3}), Normal({2, 3}, 2)}, SubAttrs{-0.5});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)}, SubAttrs{});
  s.Add("integers and alpha", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)}, SubAttrs{3});
  s.AddError("half of integers", {Integers({3}, 0, 9), Integers({3}, 0, 9)}, SubAttrs{0.5},
             "alpha must be whole for integers, got 0.5");
  s.AddError("bool", {Booleans({3}), Booleans({3})}, SubAttrs{},
             "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

}  // namespace firn::testing
