#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(logical_and) {
  s.Reference([](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; });
  AddBinary(s, Normal, Normal);
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("integers", {Integers({9}, -1, 2), Integers({9}, -1, 2, 2)});
  s.Add("edges", {Values({0.0, -0.0, NAN, 0.0}), Values({1, 0.0, 0.0, NAN})});
}

}  // namespace firn::testing
