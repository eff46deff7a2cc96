#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(logical_not) {
  s.Reference([](double x) { return x == 0 ? 1.0 : 0.0; });
  AddUnary(s, Normal);
  s.Add("bool", {Booleans({9})});
  s.Add("integers", {Integers({9}, -2, 2)});
  s.Add("edges", {Values({0.0, -0.0, NAN, INFINITY, 1e-7})});
}

}  // namespace firn::testing
