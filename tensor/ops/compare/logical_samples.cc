#include <cmath>

#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(logical_and) {
  s.Function<LogicalAnd>();
  s.Reference([](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; });
  AddBinary(s, Normal, Normal);
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("integers", {Integers({9}, -1, 2), Integers({9}, -1, 2, 2)});
  s.Add("edges", {Values({0.0, -0.0, NAN, 0.0}), Values({1, 0.0, 0.0, NAN})});
}

FIRN_REGISTER_SAMPLES(logical_or) {
  s.Function<LogicalOr>();
  s.Reference([](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; });
  AddBinary(s, Normal, Normal);
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("integers", {Integers({9}, -1, 2), Integers({9}, -1, 2, 2)});
  s.Add("edges", {Values({0.0, -0.0, NAN, 0.0}), Values({1, 0.0, 0.0, NAN})});
}

FIRN_REGISTER_SAMPLES(logical_xor) {
  s.Function<LogicalXor>();
  s.Reference([](double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; });
  AddBinary(s, Normal, Normal);
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("integers", {Integers({9}, -1, 2), Integers({9}, -1, 2, 2)});
  s.Add("edges", {Values({0.0, -0.0, NAN, 0.0}), Values({1, 0.0, 0.0, NAN})});
}

FIRN_REGISTER_SAMPLES(logical_not) {
  s.Function<LogicalNot>();
  s.Reference([](double x) { return x == 0 ? 1.0 : 0.0; });
  AddUnary(s, Normal);
  s.Add("bool", {Booleans({9})});
  s.Add("integers", {Integers({9}, -2, 2)});
  s.Add("edges", {Values({0.0, -0.0, NAN, INFINITY, 1e-7})});
}

}  // namespace
}  // namespace firn::testing
