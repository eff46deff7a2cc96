#include <cmath>

#include "tensor/ops/elementwise/elementwise_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(where) {
  ElementReference(s, [](const double* in, AttrsRef) { return in[0] != 0 ? in[1] : in[2]; });
  s.Add("vectors", {Booleans({7}), Normal({7}, 2), Normal({7}, 3)});
  s.Add("a matrix and scalars", {Booleans({3, 5}), Normal({}, 2), Normal({}, 3)});
  s.Add("a scalar condition", {Booleans({}), Normal({4}, 2), Normal({4}, 3)});
  s.Add("rows and columns", {Booleans({4, 1, 3}), Normal({2, 1}, 2), Normal({3}, 3)});
  s.Add("channels", {Booleans({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({2, 8, 3, 3}, 3)});
  s.Add("channels and a number", {Booleans({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({}, 3)});
  s.Add("nothing", {Booleans({0, 3}), Normal({3}, 2), Normal({3}, 3)});
  s.Add("integers", {Booleans({9}), Integers({9}, -9, 9), Integers({9}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2), Booleans({9}, 3)});
  s.Add("NaN not chosen", {Booleans({3}), Values({NAN, NAN, NAN}), Values({1, 2, 3})})
      .check_gradient = false;
  s.AddLarge("4M", {Booleans({2048, 2048}), Normal({2048, 2048}, 2), Normal({2048, 2048}, 3)}, {},
             4.2e6, 54.5e6);
  s.AddError("condition", {Normal({3}), Normal({3}), Normal({3})}, {}, "condition must be bool");
  s.AddError("shapes", {Booleans({2}), Normal({3}), Normal({3})}, {},
             "shapes [2] and [3] do not broadcast");
  s.AddError("dtypes", {Booleans({3}), Normal({3}), Integers({3}, 0, 9)}, {},
             "x is f64 but y is i64");
  s.AddError("undefined", {Booleans({3}), Normal({3}), Tensor()}, {}, "y is an undefined tensor");
}

}  // namespace
}  // namespace firn::testing
