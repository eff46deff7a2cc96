// ONNX's forms of the logarithm of the gamma function and its derivatives: in f64, as the kernels
// of tensor/kernels/math_gamma.h and tensor/ops/elementwise/polygamma_body.h compute them, moved up
// by recurrence to where a few terms of Stirling's and of Euler and Maclaurin's series are exact.
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

constexpr double kPi = std::numbers::pi;
constexpr int kSteps = 10;

V Number(const V& like, double value) { return like.nodes->Number(value, like.dtype); }
V Infinity(const V& like) { return Number(like, INFINITY); }
V SinOf(const V& x) { return x.nodes->Node("Sin", {x}); }
// x minus the nearest integer, which is exact.
V FromInteger(const V& x) { return x - x.nodes->Node("Round", {x}); }
V Polynomial(const V& x, std::initializer_list<double> terms) {
  auto term = std::rbegin(terms);
  V y = Number(x, *term);
  for (++term; term != std::rend(terms); ++term) y = y * x + *term;
  return y;
}
bool Narrow(OnnxExportCall& n) {
  if (n.dtype(0) == DType::kF64) n.Refuse("in f64, of whose digits the series has too few");
  return n.dtype(0) != DType::kF64;
}

// Where x is below 1/2 it is turned around there: gamma(x) gamma(1 - x) = pi / sin(pi x).
FIRN_ONNX_EXPORT(lgamma) {
  if (!Narrow(n)) return;
  const V x = n.in(0, DType::kF64), turned = Below(x, 0.5), v = Where(turned, 1 - x, x);
  V product = v;
  for (int i = 1; i < kSteps; ++i) product = product * (v + static_cast<double>(i));
  const V low = Below(v, kSteps), z = Where(low, v + static_cast<double>(kSteps), v), r = 1.0 / z;
  const V series = r * Polynomial(r * r, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680});
  const V far = (z - 0.5) * (Log(z) - 1) + (series + (0.5 * std::log(2 * kPi) - 0.5));
  const V value = far - ZeroUnless(low, Log(Where(low, product, One(product))));
  const V sine = Abs(SinOf(FromInteger(x) * kPi)), mirrored = -Log(sine / kPi) - value;
  const V odd = n.Compare("LessOrEqual", x, 0) & (Equal(FromInteger(x), 0) | Below(x, -0x1p53));
  n.Out(0, Where(odd, Infinity(x), Where(turned, mirrored, value)));
}
// Like PyTorch's: -inf at 0, inf at -0, NaN at -1, -2, ...
FIRN_ONNX_EXPORT(digamma) {
  if (!Narrow(n)) return;
  const V x = n.in(0, DType::kF64), turned = n.Compare("LessOrEqual", x, 0);
  const V v = Where(turned, 1 - x, x);
  V sum = 1.0 / v;
  for (int i = 1; i < kSteps; ++i) sum = sum + 1.0 / (v + static_cast<double>(i));
  const V z = v + static_cast<double>(kSteps), r = 1.0 / z, square = r * r;
  const V series = square * Polynomial(square, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240});
  const V value = Log(z) - r * 0.5 - series - sum;
  const V angle = FromInteger(x) * kPi, pole = turned & Equal(angle, 0);
  const V safe = Where(pole, One(angle), angle);
  const V slope = SinOf(kPi / 2 - safe) / SinOf(safe) * kPi;  // pi cot(pi x)
  const V both = Where(turned, value - slope, value);
  const V poles = Where(pole, Number(x, NAN), both);
  n.Out(0, Where(Equal(x, 0), -1.0 / x, poles));
}

// Hurwitz's zeta(s, x) for x > 0 (NIST Handbook of Mathematical Functions, 2010, 25.11.28).
V Zeta(OnnxExportCall& n, double s, const V& x) {
  constexpr double kShares[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160};
  const auto power = [&](const V& v, double p) { return Power(v, n.Number(p, v.dtype)); };
  V sum = power(x, -s);
  for (int i = 1; i < kSteps; ++i) sum = sum + power(x + static_cast<double>(i), -s);
  const V z = x + static_cast<double>(kSteps), square = 1.0 / (z * z);
  std::vector<double> terms;
  double rising = s;
  for (int j = 0; j < 5; ++j) {
    terms.push_back(kShares[j] * rising);
    rising *= (s + 2 * j + 1) * (s + 2 * j + 2);
  }
  V rest = n.Number(terms[4], z.dtype);
  for (size_t j = 4; j-- > 0;) rest = rest * square + terms[j];
  return sum + power(z, 1 - s) / (s - 1) + power(z, -s) * (rest / z + 0.5);
}
// (-1)^s n! zeta(s, x) with s = n + 1; for x < 0 from both sides of the pole next to it.
V Polygamma(OnnxExportCall& n, const V& x, int64_t number) {
  const double s = static_cast<double>(number) + 1, sign = number % 2 == 0 ? -1 : 1;
  const V below = Below(x, 0), part = x - Floor(x), pole = below & Equal(part, 0);
  const V near = Where(below, Where(pole, Number(x, 0.5), part), Where(Above(x, 0), x, One(x)));
  const V other = Where(below, 1 - near, One(x)), far = Where(below, 1 - x, One(x));
  const V direct = Zeta(n, s, near), turned = Zeta(n, s, other) - Zeta(n, s, far);
  const V sum = Where(below, direct + turned * sign, direct) * (sign * std::tgamma(s));
  const V poles = Where(pole, sign < 0 ? Number(x, NAN) : Infinity(x), sum);
  const V lowest = Where(Equal(x, -INFINITY), Number(x, NAN), poles);
  const V zero = Where(Equal(x, 0), sign < 0 ? -1.0 / x : Infinity(x), lowest);
  return Where(n.Node("IsNaN", {x}, {}, DType::kBool), x, zero);
}
FIRN_ONNX_EXPORT(polygamma) {
  constexpr int64_t kMost = 6;
  if (!Narrow(n)) return;
  if (n.Int("n") > kMost) return n.Refuse("of a derivative beyond the sixth");
  n.Out(0, Polygamma(n, n.in(0, DType::kF64), n.Int("n")));
}
FIRN_ONNX_EXPORT(digamma_grad) {
  if (!Narrow(n)) return;
  const V x = n.in(1, DType::kF64);
  const V square = Where(Equal(x, -INFINITY), Number(x, NAN), Polygamma(n, x, 1));
  n.Out(0, n.in(0, DType::kF64) * square);
}

}  // namespace
}  // namespace firn::io::internal
