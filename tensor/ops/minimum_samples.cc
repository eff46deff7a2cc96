#include <algorithm>
#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(minimum) {
  s.Reference(
      [](double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y); });
  AddBinary(s, Normal, Normal);
  s.Add("integers", {Integers({9}, -9, 9), Integers({9}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges", {Values({1, NAN, 1, INFINITY, -INFINITY}), Values({1, 1, NAN, 0.0, 3})})
      .check_gradient = false;
}

}  // namespace firn::testing
