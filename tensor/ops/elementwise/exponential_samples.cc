#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/exponential.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(exp) {
  s.Function<Exp>();
  AddFloatUnary(s, [](double x) { return std::exp(x); }, Normal, {100, -110, 88.5, -87.5});
}

FIRN_REGISTER_SAMPLES(exp2) {
  s.Function<Exp2>();
  AddFloatUnary(s, [](double x) { return std::exp2(x); }, Normal,
                {10, -10, 0.5, 128, 127.75, -126.5, -148.75, -152, 1024, -1074, -1080});
}

FIRN_REGISTER_SAMPLES(expm1) {
  s.Function<Expm1>();
  AddFloatUnary(s, [](double x) { return std::expm1(x); }, Normal, {100, -110, 1e-4});
}

FIRN_REGISTER_SAMPLES(log) {
  s.Function<Log>();
  AddFloatUnary(s, [](double x) { return std::log(x); }, Positive, {-1, 1, 1e-6, 6e4});
}

FIRN_REGISTER_SAMPLES(log1p) {
  s.Function<Log1p>();
  AddFloatUnary(s, [](double x) { return std::log1p(x); }, Positive, {-1, -2, -0.75, 1e-4, 6e4});
}

FIRN_REGISTER_SAMPLES(log2) {
  s.Function<Log2>();
  AddFloatUnary(s, [](double x) { return std::log2(x); }, Positive, {-1, 1, 8, 1e-6, 6e4});
}

FIRN_REGISTER_SAMPLES(log10) {
  s.Function<Log10>();
  AddFloatUnary(s, [](double x) { return std::log10(x); }, Positive, {-1, 1, 100, 1e-6, 6e4});
}

FIRN_REGISTER_SAMPLES(logaddexp) {
  s.Function<Logaddexp>();
  s.Reference([](double x, double y) {
    return x == y ? x + std::log(2) : std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
  });
  AddBinary(s, Normal, Normal);
  s.Add("large", {Values({300, -300, 250, 0.0}), Values({301, -300.5, -250, 30})});
  s.Add("edges", {Values({1, INFINITY, -INFINITY, INFINITY, -INFINITY, NAN, 0.0}),
                  Values({1, INFINITY, -INFINITY, -INFINITY, 2, 0.0, NAN})})
      .check_gradient = false;
}

FIRN_REGISTER_COMPOSITE(xlogy) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "x"}},
            {{.name = "z", .same_dtype_as = "x"}});
  s.Function<Xlogy>();
  s.Reference([](double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); });
  s.Add("vectors", {Normal({7}), Positive({7}, 2)});
  s.Add("rows", {Normal({3, 1}), Positive({4}, 2)});
  s.Add("channels", {Normal({2, 8, 3}), Positive({2, 8, 3}, 2)});
  s.Add("zeros", {Values({0, 0, 2}), Values({0.5, 3, 0.25})});
  s.Add("edges", {Values({0, 0, 0, 0, 1, -1, NAN}), Values({0, -1, NAN, INFINITY, 0, -1, 2})})
      .check_gradient = false;
  s.Add("nothing", {Normal({0, 3}), Normal({3})});
  s.AddLarge("4M", {Normal({2048, 2048}), Positive({2048, 2048}, 2)}, {}, 20 * 4.2e6, 50.3e6);
  s.AddError("shapes", {Normal({3}), Normal({4})}, {}, "do not broadcast");
}

}  // namespace
}  // namespace firn::testing
