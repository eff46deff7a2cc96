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

}  // namespace
}  // namespace firn::testing
