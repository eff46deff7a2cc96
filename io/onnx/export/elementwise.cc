// ONNX's forms of the operations in tensor/ops/elementwise and compare.
#include <cmath>
#include <numbers>

#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

V Trunc(OnnxExportCall& n, const V& x) {
  if (!IsFloating(x.dtype)) return x;
  return n.Node("Sign", {x}) * n.Node("Floor", {n.Node("Abs", {x})});
}

// ONNX divides integers towards 0.
V FloorDiv(OnnxExportCall& n, const V& x, const V& y) {
  if (IsFloating(x.dtype)) return n.Node("Floor", {x / y});
  const V q = x / y;
  const V rest = x - q * y;
  const V inexact = n.Node("Not", {n.Compare("Equal", rest, 0)}, {}, DType::kBool);
  const V signs = n.Node("Xor", {n.Compare("Less", rest, 0), n.Compare("Less", y, 0)});
  return q - n.Cast(n.Node("And", {inexact, signs}), x.dtype);
}

// Bools are numbers to Firn.
void Arithmetic(OnnxExportCall& n, const char* op, const char* of_bools) {
  const bool bools = n.dtype(0) == DType::kBool;
  n.Out(0, n.Node(bools ? of_bools : op, {n.in(0), n.in(1)}));
}

void Rounding(OnnxExportCall& n, const char* op) {
  n.Out(0, IsFloating(n.dtype(0)) ? n.Node(op, {n.in(0)}) : n.in(0));
}

void Comparison(OnnxExportCall& n, const char* op) {
  const DType as = n.dtype(0) == DType::kBool ? DType::kI32 : n.dtype(0);
  n.Out(0, n.Compare(op, n.in(0, as), n.in(1, as)));
}

void Logic(OnnxExportCall& n, const char* op) {
  n.Out(0, n.Node(op, {n.in(0, DType::kBool), n.in(1, DType::kBool)}));
}

void Bits(OnnxExportCall& n, const char* op, const char* of_bools) {
  if (n.dtype(0) == DType::kBool) return n.Out(0, n.Node(of_bools, {n.in(0), n.in(1)}));
  n.NeedsOpset(18);
  n.Out(0, n.Node(op, {n.in(0), n.in(1)}));
}

FIRN_ONNX_SAME(exp, Exp);
FIRN_ONNX_SAME(log, Log);
FIRN_ONNX_SAME(sqrt, Sqrt);
FIRN_ONNX_SAME(reciprocal, Reciprocal);
FIRN_ONNX_SAME(abs, Abs);
FIRN_ONNX_SAME(neg, Neg);
FIRN_ONNX_SAME(sign, Sign);
FIRN_ONNX_SAME(erf, Erf);
FIRN_ONNX_SAME(sin, Sin);
FIRN_ONNX_SAME(cos, Cos);
FIRN_ONNX_SAME(tan, Tan);
FIRN_ONNX_SAME(asin, Asin);
FIRN_ONNX_SAME(acos, Acos);
FIRN_ONNX_SAME(atan, Atan);
FIRN_ONNX_SAME(sinh, Sinh);
FIRN_ONNX_SAME(cosh, Cosh);
FIRN_ONNX_SAME(asinh, Asinh);
FIRN_ONNX_SAME(acosh, Acosh);
FIRN_ONNX_SAME(atanh, Atanh);
FIRN_ONNX_SAME(pow, Pow);

FIRN_ONNX_EXPORT(add) {
  if (n.dtype(0) == DType::kBool) return n.Out(0, n.Node("Or", {n.in(0), n.in(1)}));
  n.Out(0, n.in(0) + (n.Real("alpha") == 1 ? n.in(1) : n.in(1) * n.Real("alpha")));
}
FIRN_ONNX_EXPORT(sub) {
  n.Out(0, n.in(0) - (n.Real("alpha") == 1 ? n.in(1) : n.in(1) * n.Real("alpha")));
}
FIRN_ONNX_EXPORT(add_n) {
  V sum = n.in(0);
  const char* op = n.dtype(0) == DType::kBool ? "Or" : "Add";
  for (size_t i = 1; i < n.count(); ++i) sum = n.Node(op, {sum, n.in(i)});
  n.Out(0, sum);
}
FIRN_ONNX_EXPORT(mul) { Arithmetic(n, "Mul", "And"); }
FIRN_ONNX_EXPORT(div) {
  const std::string& rounding = n.Word("rounding");
  const V x = n.in(0), y = n.in(1);
  n.Out(0, rounding == "none" ? x / y : rounding == "trunc" ? Trunc(n, x / y) : FloorDiv(n, x, y));
}
FIRN_ONNX_EXPORT(addcmul) { n.Out(0, n.in(0) + n.in(1) * n.in(2) * n.Real("value")); }
FIRN_ONNX_EXPORT(addcdiv) { n.Out(0, n.in(0) + n.in(1) / n.in(2) * n.Real("value")); }
FIRN_ONNX_EXPORT(mul_ratio) {
  const V ratio = n.in(0) * (n.in(1) / n.in(2));
  n.Out(0, n.Where(n.Compare("Equal", n.in(2), 0), n.Number(0, ratio.dtype), ratio));
}
FIRN_ONNX_EXPORT(maximum) { Arithmetic(n, "Max", "Or"); }
FIRN_ONNX_EXPORT(minimum) { Arithmetic(n, "Min", "And"); }
FIRN_ONNX_EXPORT(maximum_grad) {
  const V dz = n.in(0), none = n.Number(0, dz.dtype);
  // A NaN, too, is what was taken.
  const V tie = n.Where(n.Compare("Equal", n.in(1), n.in(2)), dz * 0.5, dz);
  n.Out(0, n.Where(n.Compare("Less", n.in(1), n.in(2)), none, tie));
}
FIRN_ONNX_EXPORT(clamp) {
  const bool scalars = (!n.has(1) || n.rank(1) == 0) && (!n.has(2) || n.rank(2) == 0);
  if (scalars) return n.Out(0, n.Node("Clip", {n.in(0), n.in(1), n.in(2)}));
  V y = n.in(0);
  if (n.has(1)) y = n.Node("Max", {y, n.in(1)});
  if (n.has(2)) y = n.Node("Min", {y, n.in(2)});
  n.Out(0, y);
}
FIRN_ONNX_EXPORT(clamp_grad) {
  V dx = n.in(0);
  const V none = n.Number(0, dx.dtype);
  if (n.has(2)) dx = n.Where(n.Compare("GreaterOrEqual", n.in(1), n.in(2)), dx, none);
  if (n.has(3)) dx = n.Where(n.Compare("LessOrEqual", n.in(1), n.in(3)), dx, none);
  n.Out(0, dx);
}
FIRN_ONNX_EXPORT(remainder) {
  if (!IsFloating(n.dtype(0))) return n.Out(0, n.Node("Mod", {n.in(0), n.in(1)}));
  // The remainder with the sign of x, moved to that of y.
  const V y = n.in(1), rest = n.Node("Mod", {n.in(0), y}, {{"fmod", true}});
  const V other = n.Node("Xor", {n.Compare("Less", rest, 0), n.Compare("Less", y, 0)});
  const V whole = n.Compare("Equal", rest, 0);
  n.Out(0, n.Where(whole, rest, n.Where(other, rest + y, rest)));
}
FIRN_ONNX_EXPORT(remainder_grad) { n.Out(0, -(n.in(0) * n.Node("Floor", {n.in(1) / n.in(2)}))); }
FIRN_ONNX_EXPORT(fmod) { n.Out(0, n.Node("Mod", {n.in(0), n.in(1)}, {{"fmod", true}})); }
FIRN_ONNX_EXPORT(fmod_grad) { n.Out(0, -(n.in(0) * Trunc(n, n.in(1) / n.in(2)))); }
FIRN_ONNX_EXPORT(pow_number) {
  // Odd and even exponents differ, so one that the dtype rounds stays an f64.
  const double exponent = n.Real("exponent");
  const bool exact = n.dtype(0) != DType::kF32 || static_cast<float>(exponent) == exponent;
  n.Out(0, n.Node("Pow", {n.in(0), n.Number(exponent, exact ? n.dtype(0) : DType::kF64)}));
}
FIRN_ONNX_EXPORT(square) { n.Out(0, n.in(0) * n.in(0)); }
FIRN_ONNX_EXPORT(rsqrt) { n.Out(0, n.Node("Reciprocal", {n.Node("Sqrt", {n.in(0)})})); }
FIRN_ONNX_EXPORT(exp2) { n.Out(0, n.Node("Pow", {n.Number(2, n.dtype(0)), n.in(0)})); }
// e^x - 1 = 2 tanh(x / 2) / (1 - tanh(x / 2)), which keeps its digits near 0.
FIRN_ONNX_EXPORT(expm1) {
  const V x = n.in(0), t = n.Node("Tanh", {x * 0.5});
  const V small = n.Compare("Less", n.Node("Abs", {x}), 0.5);
  n.Out(0, n.Where(small, t * 2 / (1 - t), n.Node("Exp", {x}) - 1));
}
// With u = 1 + x as it is rounded: log(u) x / (u - 1) (Kahan).
FIRN_ONNX_EXPORT(log1p) {
  const V x = n.in(0), u = x + 1;
  const V whole = n.Node("Log", {u});
  const V near = n.Compare("Less", n.Node("Abs", {x}), 0.5);
  const V divisor = n.Where(n.Compare("Equal", u, 1), n.Number(1, x.dtype), u - 1);
  const V exact = n.Where(n.Compare("Equal", u, 1), x, whole * (x / divisor));
  n.Out(0, n.Where(near, exact, whole));
}
FIRN_ONNX_EXPORT(log2) { n.Out(0, n.Node("Log", {n.in(0)}) * std::numbers::log2e); }
FIRN_ONNX_EXPORT(log10) { n.Out(0, n.Node("Log", {n.in(0)}) * std::numbers::log10e); }
FIRN_ONNX_EXPORT(ceil) { Rounding(n, "Ceil"); }
FIRN_ONNX_EXPORT(floor) { Rounding(n, "Floor"); }
FIRN_ONNX_EXPORT(trunc) { n.Out(0, Trunc(n, n.in(0))); }
FIRN_ONNX_EXPORT(frac) { n.Out(0, n.in(0) - Trunc(n, n.in(0))); }
FIRN_ONNX_EXPORT(round) {
  if (!IsFloating(n.dtype(0))) return n.Out(0, n.in(0));
  const double scale = std::pow(10, static_cast<double>(n.Int("decimals")));
  const V x = scale == 1 ? n.in(0) : n.in(0) * scale;
  const V y = n.Word("ties") == "even"
                  ? n.Node("Round", {x})
                  : n.Node("Sign", {x}) * n.Node("Floor", {n.Node("Abs", {x}) + 0.5});
  n.Out(0, scale == 1 ? y : y / scale);
}
FIRN_ONNX_EXPORT(sinc) {
  const V x = n.in(0) * std::numbers::pi, at0 = n.Compare("Equal", n.in(0), 0);
  const V one = n.Number(1, x.dtype);
  n.Out(0, n.Where(at0, one, n.Node("Sin", {x}) / n.Where(at0, one, x)));
}
// (cos(pi x) - sinc(x)) / x, and its series where that loses its digits.
FIRN_ONNX_EXPORT(sinc_grad) {
  constexpr double kTerms[] = {-3.28986813369645287,    3.24696970113341457,
                               -1.14451094473250528,    0.209182782541238404,
                               -0.0234608103545582364,  0.00178114551637285204,
                               -9.76622312631893266e-5, 4.04994784661924424e-6};
  const V x = n.in(1), square = x * x, one = n.Number(1, x.dtype);
  V near = square * kTerms[7];
  for (int i = 6; i > 0; --i) near = (near + kTerms[i]) * square;
  near = (near + kTerms[0]) * x;
  const V small = n.Compare("LessOrEqual", n.Node("Abs", {x}), 0.125);
  const V far = n.Where(small, one, x), angle = far * std::numbers::pi;
  const V slope = (n.Node("Cos", {angle}) - n.Node("Sin", {angle}) / angle) / far;
  n.Out(0, n.in(0) * n.Where(small, near, slope));
}
// By the ratio of the smaller number to the larger one, whose square stays in the range.
FIRN_ONNX_EXPORT(hypot) {
  const V a = n.Node("Abs", {n.in(0)}), b = n.Node("Abs", {n.in(1)});
  const V most = n.Node("Max", {a, b}), one = n.Number(1, a.dtype);
  const V ratio = n.Node("Min", {a, b}) / n.Where(n.Compare("Equal", most, 0), one, most);
  const V infinite = n.Node(
      "Or", {n.Node("IsInf", {a}, {}, DType::kBool), n.Node("IsInf", {b}, {}, DType::kBool)});
  const V y = most * n.Node("Sqrt", {ratio * ratio + 1});
  n.Out(0, n.Where(infinite, n.Number(INFINITY, y.dtype), y));
}
// Whether the sign of y is set, also that of a zero.
V Negative(OnnxExportCall& n, const V& y) {
  return n.Node("Or", {n.Compare("Less", y, 0), n.Compare("Less", n.Node("Reciprocal", {y}), 0)});
}
FIRN_ONNX_EXPORT(copysign) {
  const V size = n.Node("Abs", {n.in(0)});
  n.Out(0, n.Where(Negative(n, n.in(1)), -size, size));
}
FIRN_ONNX_EXPORT(atan2) {
  V y = n.in(0), x = n.in(1);
  const double pi = std::numbers::pi;
  // Between two infinities only the signs count.
  const V far = n.Node(
      "And", {n.Node("IsInf", {y}, {}, DType::kBool), n.Node("IsInf", {x}, {}, DType::kBool)});
  y = n.Where(far, n.Node("Sign", {y}), y);
  x = n.Where(far, n.Node("Sign", {x}), x);
  const V angle = n.Node("Atan", {y / x}), half = n.Number(pi / 2, y.dtype);
  const V side = n.Where(Negative(n, y), n.Number(-pi, y.dtype), n.Number(pi, y.dtype));
  const V up = n.Where(n.Compare("Greater", y, 0), half,
                       n.Where(n.Compare("Less", y, 0), n.Number(-pi / 2, y.dtype), y));
  const V at0 = n.Where(n.Compare("Equal", x, 0), up, angle);
  const V left = n.Where(n.Compare("Less", x, 0), angle + side, at0);
  const V back = n.Node("And", {n.Compare("Equal", y, 0), Negative(n, x)});  // also of -0
  n.Out(0, n.Where(back, side, left));
}
// dz a / (a^2 + b^2), of numbers in units of the larger one, and 0 at the origin.
FIRN_ONNX_EXPORT(atan2_grad) {
  const V a = n.in(1), b = n.in(2), one = n.Number(1, a.dtype);
  const V size = n.Node("Max", {n.Node("Abs", {a}), n.Node("Abs", {b})});
  const V unit = n.Where(n.Compare("Equal", size, 0), one, size), x = a / unit, y = b / unit;
  const V square = x * x + y * y;
  n.Out(0, n.in(0) / n.Where(n.Compare("Equal", square, 0), one, square) * x / unit);
}
FIRN_ONNX_EXPORT(lerp) {  // from the nearer end
  const V weight = n.in(2), way = n.in(1) - n.in(0);
  const V near = n.Compare("Less", n.Node("Abs", {weight}), 0.5);
  n.Out(0, n.Where(near, n.in(0) + weight * way, n.in(1) - way * (1 - weight)));
}
FIRN_ONNX_EXPORT(logaddexp) {
  const V same = n.Compare("Equal", n.in(0), n.in(1));  // infinities, too
  const V gap = n.Where(same, n.Number(0, n.dtype(0)), n.Node("Abs", {n.in(0) - n.in(1)}));
  n.Out(0, n.Node("Max", {n.in(0), n.in(1)}) + n.Node("Log", {n.Node("Exp", {-gap}) + 1}));
}
FIRN_ONNX_EXPORT(where) {
  const V condition = n.in(0, DType::kBool);
  n.Out(0, n.Where(condition, n.in(1), n.in(2)));
}
FIRN_ONNX_EXPORT(nan_to_num) {
  V x = n.in(0);
  if (!IsFloating(x.dtype)) return n.Out(0, x);
  const V y = n.Where(n.Node("IsNaN", {x}, {}, DType::kBool), n.Number(n.Real("nan"), x.dtype), x);
  const V up = n.Node("IsInf", {x}, {{"detect_negative", 0}}, DType::kBool);
  const V down = n.Node("IsInf", {x}, {{"detect_positive", 0}}, DType::kBool);
  n.Out(0, n.Where(up, n.Number(n.Real("posinf"), x.dtype),
                   n.Where(down, n.Number(n.Real("neginf"), x.dtype), y)));
}
FIRN_ONNX_EXPORT(bitwise_and) { Bits(n, "BitwiseAnd", "And"); }
FIRN_ONNX_EXPORT(bitwise_or) { Bits(n, "BitwiseOr", "Or"); }
FIRN_ONNX_EXPORT(bitwise_xor) { Bits(n, "BitwiseXor", "Xor"); }
FIRN_ONNX_EXPORT(bitwise_not) {
  if (n.dtype(0) != DType::kBool) n.NeedsOpset(18);
  n.Out(0, n.Node(n.dtype(0) == DType::kBool ? "Not" : "BitwiseNot", {n.in(0)}));
}
V Outside(OnnxExportCall& n, const V& y, double end) {
  return n.Node("Or", {n.Compare("Less", y, 0), n.Compare("GreaterOrEqual", y, end)});
}
// ONNX shifts only unsigned numbers; others are multiplied and divided by powers of 2.
FIRN_ONNX_EXPORT(bitwise_left_shift) {
  const V y = n.in(1, DType::kI64), none = n.Integer(0);
  const V far = Outside(n, y, static_cast<double>(8 * SizeOf(n.dtype(0))));
  const V power = n.Node("Pow", {n.Integer(2), n.Where(far, none, y)});
  n.Out(0, n.Where(far, none, n.in(0, DType::kI64) * power));
}
FIRN_ONNX_EXPORT(bitwise_right_shift) {
  const V x = n.in(0, DType::kI64), y = n.in(1, DType::kI64), none = n.Integer(0);
  const V far = Outside(n, y, 63);
  const V power = n.Node("Pow", {n.Integer(2), n.Where(far, none, y)});
  const V sign = n.Where(n.Compare("Less", x, 0), n.Integer(-1), none);
  n.Out(0, n.Where(far, sign, FloorDiv(n, x, power)));
}

FIRN_ONNX_EXPORT(eq) { n.Out(0, n.Compare("Equal", n.in(0), n.in(1))); }
FIRN_ONNX_EXPORT(ne) { n.Out(0, n.Node("Not", {n.Compare("Equal", n.in(0), n.in(1))})); }
FIRN_ONNX_EXPORT(lt) { Comparison(n, "Less"); }
FIRN_ONNX_EXPORT(le) { Comparison(n, "LessOrEqual"); }
FIRN_ONNX_EXPORT(gt) { Comparison(n, "Greater"); }
FIRN_ONNX_EXPORT(ge) { Comparison(n, "GreaterOrEqual"); }
FIRN_ONNX_EXPORT(logical_and) { Logic(n, "And"); }
FIRN_ONNX_EXPORT(logical_or) { Logic(n, "Or"); }
FIRN_ONNX_EXPORT(logical_xor) { Logic(n, "Xor"); }
FIRN_ONNX_EXPORT(logical_not) { n.Out(0, n.Node("Not", {n.in(0, DType::kBool)})); }

V IsNan(OnnxExportCall& n) {
  if (IsFloating(n.dtype(0))) return n.Node("IsNaN", {n.in(0)}, {}, DType::kBool);
  return n.Node("Not", {n.Compare("Equal", n.in(0), n.in(0))});
}
V IsInf(OnnxExportCall& n, bool up, bool down) {
  if (!IsFloating(n.dtype(0))) return n.Node("Not", {n.Compare("Equal", n.in(0), n.in(0))});
  return n.Node("IsInf", {n.in(0)}, {{"detect_positive", up}, {"detect_negative", down}},
                DType::kBool);
}
FIRN_ONNX_EXPORT(isnan) { n.Out(0, IsNan(n)); }
FIRN_ONNX_EXPORT(isinf) { n.Out(0, IsInf(n, n.Flag("positive"), n.Flag("negative"))); }
FIRN_ONNX_EXPORT(isfinite) {
  n.Out(0, n.Node("Not", {n.Node("Or", {IsNan(n), IsInf(n, true, true)})}));
}

}  // namespace
}  // namespace firn::io::internal
