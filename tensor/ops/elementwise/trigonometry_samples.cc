#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"

namespace firn::testing {
namespace {

Tensor Inside(const Shape& shape, uint64_t seed) { return Uniform(shape, -0.9, 0.9, seed); }
Tensor AboveOne(const Shape& shape, uint64_t seed) { return Uniform(shape, 1.25, 3, seed); }

FIRN_REGISTER_SAMPLES(sin) {
  s.Function<Sin>();
  AddFloatUnary(s, [](double x) { return std::sin(x); }, Normal, {3.140625, 100, 30000, -6e4});
}

FIRN_REGISTER_SAMPLES(cos) {
  s.Function<Cos>();
  AddFloatUnary(s, [](double x) { return std::cos(x); }, Normal, {3.140625, 100, 30000, -6e4});
}

FIRN_REGISTER_SAMPLES(tan) {
  s.Function<Tan>();
  AddFloatUnary(s, [](double x) { return std::tan(x); }, Inside, {3.140625, 1.5, 100, 30000});
}

FIRN_REGISTER_SAMPLES(asin) {
  s.Function<Asin>();
  AddFloatUnary(s, [](double x) { return std::asin(x); }, Inside, {1, -1, 1.5, 0.5});
}

FIRN_REGISTER_SAMPLES(acos) {
  s.Function<Acos>();
  AddFloatUnary(s, [](double x) { return std::acos(x); }, Inside, {1, -1, 1.5, 0.5});
}

FIRN_REGISTER_SAMPLES(atan) {
  s.Function<Atan>();
  AddFloatUnary(s, [](double x) { return std::atan(x); }, Normal, {1, -1, 2, 1e4});
}

FIRN_REGISTER_SAMPLES(sinh) {
  s.Function<Sinh>();
  AddFloatUnary(s, [](double x) { return std::sinh(x); }, Normal, {1, 10, -10, 89.25, 100, 1e-4});
}

FIRN_REGISTER_SAMPLES(cosh) {
  s.Function<Cosh>();
  AddFloatUnary(s, [](double x) { return std::cosh(x); }, Normal, {1, 10, -10, 89.25, 100, 1e-4});
}

FIRN_REGISTER_SAMPLES(asinh) {
  s.Function<Asinh>();
  AddFloatUnary(s, [](double x) { return std::asinh(x); }, Normal, {1, -3, 1e4, 1e-4});
}

FIRN_REGISTER_SAMPLES(acosh) {
  s.Function<Acosh>();
  AddFloatUnary(s, [](double x) { return std::acosh(x); }, AboveOne, {1, 0.5, -2, 6e4});
}

FIRN_REGISTER_SAMPLES(atanh) {
  s.Function<Atanh>();
  AddFloatUnary(s, [](double x) { return std::atanh(x); }, Inside, {1, -1, 1.5, 1e-4});
}

FIRN_REGISTER_SAMPLES(atan2) {
  s.Function<Atan2>();
  s.Reference([](double y, double x) { return std::atan2(y, x); });
  AddBinary(s, Normal, Positive);
  s.Add("quadrants", {Values({1, 1, -1, -1, 2, -2, 0.5}), Values({2, -2, 2, -2, 0.25, -0.5, -1})});
  s.Add("edges", {Values({0.0, -0.0, 0.0, -0.0, 1, INFINITY, INFINITY, 1, NAN, 1}),
                  Values({0.0, 0.0, -0.0, -1, 0.0, INFINITY, -INFINITY, INFINITY, 0.0, NAN})})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(atan2_grad) {
  s.Internal("the gradient of atan2");
  ElementReference(s, [](const double* in, AttrsRef) {
    return in[1] == 0 ? 0 : in[0] / (in[1] + in[2] * in[2] / in[1]);
  });
  s.Add("vectors", {Normal({7}), Normal({7}, 2), Positive({7}, 3)});
  s.Add("broadcast", {Normal({4, 5}), Normal({4, 1}, 2), Positive({5}, 3)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2), Positive({2, 8, 3, 3}, 3)});
  s.Add("scalars", {Normal({}), Normal({}, 2), Positive({}, 3)});
  s.Add("nothing", {Normal({0, 3}), Normal({1, 3}, 2), Positive({1, 3}, 3)});
  s.Add("origin, small and large",
        {Values({1, 1, 0.5, 2}), Values({0, 0x1p-12, 0.0, 4096}), Values({0, -0x1p-13, 2, 2048})});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2), Positive({2048, 2048}, 3)}, {},
             21e6, 67.1e6);
  s.AddError("shapes", {Normal({2}), Normal({3}), Normal({3})}, {},
             "shapes [2] and [3] do not broadcast");
}

}  // namespace
}  // namespace firn::testing
