#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(mul) {
  s.Reference([](double x, double y) { return x * y; });
  s.Add("vectors", {Normal({7}), Normal({7}, 2)});
  s.Add("a scalar", {Normal({3, 5}), Normal({}, 2)});
  s.Add("rows and columns", {Normal({4, 1, 3}), Normal({2, 1}, 2)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2)});
  s.Add("empty", {Normal({0, 3}), Normal({3}, 2)});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, {}, 4.2e6, 50.3e6);
  s.AddError("shapes", {Normal({3}), Normal({4})}, {}, "shapes [3] and [4] do not broadcast");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, {}, "x is f64 but y is i64");
}

}  // namespace firn::testing
