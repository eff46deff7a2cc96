#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/extremes.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(maximum) {
  s.Function<Maximum>();
  s.Reference(
      [](double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y); });
  AddBinary(s, Normal, Normal);
  s.Add("integers", {Integers({9}, -9, 9), Integers({9}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges", {Values({1, NAN, 1, INFINITY, -INFINITY}), Values({1, 1, NAN, 0.0, 3})})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(maximum_grad) {
  s.Internal("the gradient of maximum");
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

FIRN_REGISTER_SAMPLES(minimum) {
  s.Function<Minimum>();
  s.Reference(
      [](double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y); });
  AddBinary(s, Normal, Normal);
  s.Add("integers", {Integers({9}, -9, 9), Integers({9}, -9, 9, 2)});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)});
  s.Add("edges", {Values({1, NAN, 1, INFINITY, -INFINITY}), Values({1, 1, NAN, 0.0, 3})})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(clamp) {
  s.Function<Clamp>();
  ElementReference(s, [](const double* in, AttrsRef) {
    double y = in[0];
    if (in[1] > y) y = in[1];
    if (in[2] < y) y = in[2];
    return y;
  });
  const Tensor x = Grid({3, 16}, 1);
  s.Add("both", {x, Values({-0.5}, {}), Values({1}, {})});
  s.Add("min", {x, Values({-0.5}, {}), Tensor()});
  s.Add("max", {x, Tensor(), Values({0.75}, {})});
  s.Add("crossed", {x, Values({1}, {}), Values({-1}, {})});
  s.Add("tensors", {Grid({7}, 2), Values({-1, -1, -1, -0.25, 1, 2, 0.0}),
                    Values({1, 2, 0.0, 0.5, 0.5, 3, 0.25})});
  s.Add("rows and columns", {Grid({4, 1, 3}, 3), Uniform({2, 1}, -1, 0, 4), Uniform({3}, 0, 1, 5)});
  s.Add("channels", {Grid({2, 8, 3, 3}, 6), Values({-1}, {}), Values({1}, {})});
  s.Add("channels and tensors", {Grid({2, 8, 3, 3}, 7), Uniform({2, 8, 3, 3}, -2, 0, 8), Tensor()});
  s.Add("nothing", {Normal({0, 3}), Values({-1}, {}), Tensor()});
  s.Add("integers", {Integers({9}, -9, 9), Indices({-3}, {}), Indices({4}, {})});
  s.Add("edges", {Values({-1, 1, INFINITY, -INFINITY, NAN}), Values({-1}, {}), Values({1}, {})})
      .check_gradient = false;
  s.AddLarge("4M", {Normal({2048, 2048}), Values({-1}, {}), Values({1}, {})}, {}, 8.4e6, 33.6e6);
  s.AddError("no bound", {Normal({3}), Tensor(), Tensor()}, {}, "give min, max or both");
  s.AddError("dtypes", {Normal({3}), Indices({1}, {}), Tensor()}, {}, "x is f64 but min is i64");
  s.AddError("bool", {Booleans({3}), Booleans({}), Tensor()}, {},
             "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(clamp_grad) {
  s.Internal("the gradient of clamp");
  ElementReference(s, [](const double* in, AttrsRef) {
    return in[1] < in[2] || in[1] > in[3] || std::isnan(in[1]) ? 0.0 : in[0];
  });
  const Tensor dy = Normal({3, 16}), x = Grid({3, 16}, 1);
  s.Add("both", {dy, x, Values({-0.5}, {}), Values({1}, {})});
  s.Add("min", {dy, x, Values({-0.5}, {}), Tensor()});
  s.Add("max", {dy, x, Tensor(), Values({0.75}, {})});
  s.Add("tensors",
        {Normal({2, 3}), Grid({2, 3}, 2), Uniform({2, 1}, -1, 0, 4), Uniform({3}, 0, 1, 5)});
  s.Add("channels",
        {Normal({2, 8, 3, 3}), Grid({2, 8, 3, 3}, 6), Values({-1}, {}), Values({1}, {})});
  s.Add("edges", {Values({1, 2, 3, 4, 5}), Values({-1, 1, INFINITY, -INFINITY, NAN}),
                  Values({-1}, {}), Values({1}, {})})
      .check_gradient = false;
  s.AddLarge("4M",
             {Normal({2048, 2048}), Normal({2048, 2048}, 2), Values({-1}, {}), Values({1}, {})}, {},
             8.4e6, 50.3e6);
  s.AddError("no bound", {Normal({3}), Normal({3}), Tensor(), Tensor()}, {},
             "give min, max or both");
}

}  // namespace
}  // namespace firn::testing
