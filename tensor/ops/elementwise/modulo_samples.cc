#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/elementwise/modulo.h"

namespace firn::testing {
namespace {

double Truncated(double x, double y) { return std::fmod(x, y); }

// Rounds the exact quotient of numbers that have few digits.
double Floored(double x, double y) {
  if (std::isinf(y) && std::isfinite(x)) return x == 0 || (x < 0) == (y < 0) ? x : y;
  return x - y * std::floor(x / y);
}

// Between whole quotients, where remainders jump.
Tensor Divisors(const Shape& shape, uint64_t seed) { return Uniform(shape, 1.05, 1.95, seed); }

void AddModulo(Samples& s, double (*f)(double, double)) {
  s.Reference(f);
  AddBinary(s, Grid, Divisors);
  s.Add("signs", {Values({7, -7, 7, -7, 5.5, -0.25}), Values({2, 2, -2, -2, 1.5, 3})});
  s.Add("whole quotients", {Values({6, -6, 6, 0.0}), Values({3, 3, -3, 2})}).check_gradient = false;
  s.Add("edges", {Values({1, INFINITY, NAN, 1, 2, -2, 2, 0.0}),
                  Values({0.0, 2, 1, NAN, INFINITY, INFINITY, -INFINITY, INFINITY})})
      .check_gradient = false;
  s.Add("integers", {Indices({7, -7, 7, -7, 6, -6, 0}), Indices({2, 2, -2, -2, 3, -3, 4})});
  s.Add("the smallest integers", {Indices({-128, -128, -127}), Indices({-1, 127, -128})});
  s.Add("columns of integers", {Indices({9, -9}, {2, 1}), Indices({2, -4, 5})});
  s.AddError("by 0", {Integers({3}, 1, 9), Indices({1, 0, 2})}, {},
             "has a 0: integers cannot be divided by 0");
  s.AddError("bool", {Booleans({3}), Booleans({3})}, {},
             "x must be f32, f64, f16, bf16, i8, i32, i64 or u8");
}

FIRN_REGISTER_SAMPLES(remainder) {
  s.Function<Remainder>();
  AddModulo(s, Floored);
}

FIRN_REGISTER_SAMPLES(fmod) {
  s.Function<Fmod>();
  AddModulo(s, Truncated);
}

void AddModuloGrad(Samples& s) {
  s.Internal("the gradient of a remainder");
  s.Add("grid", {Normal({3, 40}), Grid({3, 40}, 1), Divisors({3, 40}, 2)});
  s.Add("a scalar", {Normal({3, 5}), Grid({3, 5}, 1), Divisors({}, 2)});
  s.Add("rows and columns", {Normal({2, 3}), Grid({2, 1}, 1), Divisors({3}, 2)});
  s.Add("signs", {Values({1, 1, -2, -2, 3, 3}), Values({7, -7, 7, -7, 5.5, -0.25}),
                  Values({2, 2, -2, -2, 1.5, 3})});
  s.Add("edges", {Values({1, 1, 1, 1, 1, 1, 1}), Values({1, 0.0, NAN, 1, 2, -6, 6}),
                  Values({0.0, 2, 1, NAN, INFINITY, 3, -3})})
      .check_gradient = false;
  s.AddError("undefined", {Normal({3}), Normal({3}), Tensor()}, {}, "y is an undefined tensor");
}

FIRN_REGISTER_SAMPLES(remainder_grad) {
  ElementReference(s,
                   [](const double* in, AttrsRef) { return -in[0] * std::floor(in[1] / in[2]); });
  AddModuloGrad(s);
}

FIRN_REGISTER_SAMPLES(fmod_grad) {
  ElementReference(s,
                   [](const double* in, AttrsRef) { return -in[0] * std::trunc(in[1] / in[2]); });
  AddModuloGrad(s);
}

}  // namespace
}  // namespace firn::testing
