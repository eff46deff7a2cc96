#include <algorithm>
#include <cmath>

#include "tensor/elementwise_samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(maximum) {
  s.Reference(
      [](double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y); });
  AddBinary(s, Normal, Normal);
  s.Add("integers", {Integers({9}, -9, 9), Integers({9}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges", {Values({1, NAN, 1, INFINITY, -INFINITY}), Values({1, 1, NAN, 0.0, 3})})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(maximum_grad) {
  ElementReference(s, [](const double* in, AttrsRef) {
    return in[1] < in[2] ? 0.0 : in[1] == in[2] ? in[0] / 2 : in[0];
  });
  s.Add("vectors", {Normal({7}), Normal({7}, 2), Normal({7}, 3)});
  s.Add("a scalar", {Normal({3, 5}), Normal({3, 5}, 2), Normal({}, 3)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Normal({2, 8, 3, 3}, 3)});
  s.Add("rows and columns", {Normal({2, 3}), Normal({2, 1}, 2), Normal({3}, 3)});
  s.Add("edges", {Values({1, 2, 3, 4}), Values({1, NAN, 1, 0.0}), Values({1, 1, NAN, -0.0})})
      .check_gradient = false;
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2), Normal({2048, 2048}, 3)}, {},
             8.4e6, 67.1e6);
  s.AddError("undefined", {Normal({3}), Normal({3}), Tensor()}, {}, "y is an undefined tensor");
}

}  // namespace firn::testing
