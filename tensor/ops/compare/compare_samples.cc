#include <cmath>

#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(eq) {
  s.Function<Eq>();
  s.Reference([](double x, double y) { return x == y ? 1.0 : 0.0; });
  AddBinary(s, Grid, Grid);
  s.Add("integers", {Integers({9}, -2, 2), Integers({9}, -2, 2, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges",
        {Values({0.0, NAN, INFINITY, -INFINITY, 1}), Values({-0.0, NAN, INFINITY, 0.0, 2})});
}

FIRN_REGISTER_SAMPLES(ne) {
  s.Function<Ne>();
  s.Reference([](double x, double y) { return x != y ? 1.0 : 0.0; });
  AddBinary(s, Grid, Grid);
  s.Add("integers", {Integers({9}, -2, 2), Integers({9}, -2, 2, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges",
        {Values({0.0, NAN, INFINITY, -INFINITY, 1}), Values({-0.0, NAN, INFINITY, 0.0, 2})});
}

FIRN_REGISTER_SAMPLES(lt) {
  s.Function<Lt>();
  s.Reference([](double x, double y) { return x < y ? 1.0 : 0.0; });
  AddBinary(s, Grid, Grid);
  s.Add("integers", {Integers({9}, -2, 2), Integers({9}, -2, 2, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges",
        {Values({0.0, NAN, INFINITY, -INFINITY, 1}), Values({-0.0, NAN, INFINITY, 0.0, 2})});
}

FIRN_REGISTER_SAMPLES(le) {
  s.Function<Le>();
  s.Reference([](double x, double y) { return x <= y ? 1.0 : 0.0; });
  AddBinary(s, Grid, Grid);
  s.Add("integers", {Integers({9}, -2, 2), Integers({9}, -2, 2, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges",
        {Values({0.0, NAN, INFINITY, -INFINITY, 1}), Values({-0.0, NAN, INFINITY, 0.0, 2})});
}

FIRN_REGISTER_SAMPLES(gt) {
  s.Function<Gt>();
  s.Reference([](double x, double y) { return x > y ? 1.0 : 0.0; });
  AddBinary(s, Grid, Grid);
  s.Add("integers", {Integers({9}, -2, 2), Integers({9}, -2, 2, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges",
        {Values({0.0, NAN, INFINITY, -INFINITY, 1}), Values({-0.0, NAN, INFINITY, 0.0, 2})});
}

FIRN_REGISTER_SAMPLES(ge) {
  s.Function<Ge>();
  s.Reference([](double x, double y) { return x >= y ? 1.0 : 0.0; });
  AddBinary(s, Grid, Grid);
  s.Add("integers", {Integers({9}, -2, 2), Integers({9}, -2, 2, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges",
        {Values({0.0, NAN, INFINITY, -INFINITY, 1}), Values({-0.0, NAN, INFINITY, 0.0, 2})});
}

}  // namespace
}  // namespace firn::testing
