// NNabla's forms of the operations in tensor/ops/elementwise and compare.
#include <cmath>
#include <numbers>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;

V Root(NnablaExportCall& n, const V& x) { return n.Binary("Pow2", x, 0.5); }
V IsSet(NnablaExportCall& n, const V& x) { return n.Binary("NotEqual", x, 0); }

FIRN_NNABLA_SAME(exp, Exp);
FIRN_NNABLA_SAME(log, Log);
FIRN_NNABLA_SAME(abs, Abs);
FIRN_NNABLA_SAME(erf, Erf);
FIRN_NNABLA_SAME(sign, Sign);
FIRN_NNABLA_SAME(sin, Sin);
FIRN_NNABLA_SAME(cos, Cos);
FIRN_NNABLA_SAME(tan, Tan);
FIRN_NNABLA_SAME(asin, ASin);
FIRN_NNABLA_SAME(acos, ACos);
FIRN_NNABLA_SAME(atan, ATan);
FIRN_NNABLA_SAME(sinh, Sinh);
FIRN_NNABLA_SAME(cosh, Cosh);
FIRN_NNABLA_SAME(asinh, ASinh);
FIRN_NNABLA_SAME(acosh, ACosh);
FIRN_NNABLA_SAME(atanh, ATanh);

FIRN_NNABLA_EXPORT(add) {
  const V y = n.Real("alpha") == 1 ? n.in(1) : n.in(1) * n.Real("alpha");
  if (n.out_dtype(0) == DType::kBool) return n.Out(0, n.Binary("Maximum2", n.in(0), y));
  n.Out(0, n.in(0) + y);
}
FIRN_NNABLA_EXPORT(sub) {
  n.Out(0, n.in(0) - (n.Real("alpha") == 1 ? n.in(1) : n.in(1) * n.Real("alpha")));
}
FIRN_NNABLA_EXPORT(add_n) {
  V sum = n.in(0);
  const char* type = n.dtype(0) == DType::kBool ? "Maximum2" : "Add2";
  for (size_t i = 1; i < n.count(); ++i) sum = n.Binary(type, sum, n.in(i));
  n.Out(0, sum);
}
FIRN_NNABLA_EXPORT(mul) { n.Out(0, n.in(0) * n.in(1)); }
FIRN_NNABLA_EXPORT(div) {
  const std::string& rounding = n.Word("rounding");
  const V y = n.in(0) / n.in(1);
  const bool whole = !IsFloating(n.out_dtype(0));
  if (rounding == "floor") return n.Out(0, n.Node("Floor", {y}));
  n.Out(0, whole || rounding == "trunc" ? n.Trunc(y) : y);
}
FIRN_NNABLA_EXPORT(pow) { n.Out(0, n.Binary("Pow2", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(pow_number) {
  const double exponent = n.Real("exponent");  // odd and even ones differ
  if (std::abs(exponent) > 0x1p24) return n.Refuse("with an exponent that f32 does not hold");
  n.Out(0, n.Binary("Pow2", n.in(0), exponent));
}
FIRN_NNABLA_EXPORT(maximum) { n.Out(0, n.Binary("Maximum2", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(minimum) { n.Out(0, n.Binary("Minimum2", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(addcmul) { n.Out(0, n.in(0) + n.in(1) * n.in(2) * n.Real("value")); }
FIRN_NNABLA_EXPORT(addcdiv) { n.Out(0, n.in(0) + n.in(1) / n.in(2) * n.Real("value")); }
FIRN_NNABLA_EXPORT(clamp) {
  V y = n.in(0);
  if (n.has(1)) y = n.Binary("Maximum2", y, n.in(1));
  if (n.has(2)) y = n.Binary("Minimum2", y, n.in(2));
  n.Out(0, y);
}
V Fmod(NnablaExportCall& n) { return n.Binary("Mod2", n.in(0), n.in(1), {{"fmod", true}}); }
// The remainder with the sign of x, moved to that of y.
FIRN_NNABLA_EXPORT(remainder) {
  const V y = n.in(1), rest = Fmod(n);
  n.Out(0,
        n.Where(n.Binary("Less", n.Node("Sign", {rest}) * n.Node("Sign", {y}), 0), rest + y, rest));
}
FIRN_NNABLA_EXPORT(fmod) { n.Out(0, Fmod(n)); }
FIRN_NNABLA_EXPORT(neg) { n.Out(0, -n.in(0)); }
FIRN_NNABLA_EXPORT(square) { n.Out(0, n.in(0) * n.in(0)); }
FIRN_NNABLA_EXPORT(sqrt) { n.Out(0, Root(n, n.in(0))); }
FIRN_NNABLA_EXPORT(rsqrt) { n.Out(0, n.Binary("Pow2", n.in(0), -0.5)); }
FIRN_NNABLA_EXPORT(reciprocal) { n.Out(0, n.Binary("Div2", n.Number(1), n.in(0))); }
FIRN_NNABLA_EXPORT(exp2) { n.Out(0, n.Binary("Pow2", n.Number(2), n.in(0))); }
// e^x - 1 = 2 tanh(x / 2) / (1 - tanh(x / 2)), which keeps its digits near 0.
FIRN_NNABLA_EXPORT(expm1) {
  const V x = n.in(0), t = n.Node("Tanh", {x * 0.5});
  const V small = n.Binary("Less", n.Node("Abs", {x}), 0.5);
  n.Out(0, n.Where(small, t * 2 / (1 - t), n.Node("Exp", {x}) - 1));
}
// With u = 1 + x as it is rounded: log(u) x / (u - 1) (Kahan).
FIRN_NNABLA_EXPORT(log1p) {
  const V x = n.in(0), u = x + 1, whole = n.Node("Log", {u});
  const V near = n.Binary("Less", n.Node("Abs", {x}), 0.5), one = n.Binary("Equal", u, 1);
  const V divisor = n.Where(one, n.Number(1), u - 1);
  n.Out(0, n.Where(near, n.Where(one, x, whole * (x / divisor)), whole));
}
FIRN_NNABLA_EXPORT(log2) { n.Out(0, n.Node("Log", {n.in(0)}) * std::numbers::log2e); }
FIRN_NNABLA_EXPORT(log10) { n.Out(0, n.Node("Log", {n.in(0)}) * std::numbers::log10e); }
void Rounding(NnablaExportCall& n, const char* type) {
  n.Out(0, IsFloating(n.dtype(0)) ? n.Node(type, {n.in(0)}) : n.in(0));
}
FIRN_NNABLA_EXPORT(ceil) { Rounding(n, "Ceil"); }
FIRN_NNABLA_EXPORT(floor) { Rounding(n, "Floor"); }
FIRN_NNABLA_EXPORT(trunc) { n.Out(0, n.Trunc(n.in(0))); }
FIRN_NNABLA_EXPORT(frac) { n.Out(0, n.in(0) - n.Trunc(n.in(0))); }
FIRN_NNABLA_EXPORT(round) {
  if (!IsFloating(n.dtype(0))) return n.Out(0, n.in(0));
  const double scale = std::pow(10, static_cast<double>(n.Int("decimals")));
  const V x = scale == 1 ? n.in(0) : n.in(0) * scale;
  const V y = n.Round(x, n.Word("ties") == "even");
  n.Out(0, scale == 1 ? y : y / scale);
}
FIRN_NNABLA_EXPORT(sinc) { n.Out(0, n.Node("Sinc", {n.in(0) * std::numbers::pi})); }
// By the ratio of the smaller number to the larger one, whose square stays in the range.
FIRN_NNABLA_EXPORT(hypot) {
  const V a = n.Node("Abs", {n.in(0)}), b = n.Node("Abs", {n.in(1)});
  const V most = n.Binary("Maximum2", a, b);
  const V ratio = n.Binary("Minimum2", a, b) / n.Where(IsSet(n, most), most, n.Number(1));
  const V y = most * Root(n, ratio * ratio + 1);
  n.Out(0, n.Where(n.Node("IsInf", {most}), n.Number(INFINITY), y));
}
// Whether the sign of y is set, also that of a zero.
V Negative(NnablaExportCall& n, const V& y) {
  return n.Binary("Less", n.Where(IsSet(n, y), y, n.Binary("Div2", n.Number(1), y)), 0);
}
FIRN_NNABLA_EXPORT(copysign) {
  const V size = n.Node("Abs", {n.in(0)});
  n.Out(0, n.Where(Negative(n, n.in(1)), -size, size));
}
FIRN_NNABLA_EXPORT(atan2) { n.Out(0, n.Binary("ATan2", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(lerp) {  // from the nearer end
  const V weight = n.in(2), way = n.in(1) - n.in(0);
  const V near = n.Binary("Less", n.Node("Abs", {weight}), 0.5);
  n.Out(0, n.Where(near, n.in(0) + weight * way, n.in(1) - way * (1 - weight)));
}
FIRN_NNABLA_EXPORT(logaddexp) {
  const V same = n.Binary("Equal", n.in(0), n.in(1));  // infinities, too
  const V gap = n.Where(same, n.Number(0), n.Node("Abs", {n.in(0) - n.in(1)}));
  n.Out(0, n.Binary("Maximum2", n.in(0), n.in(1)) + n.Node("Log", {n.Node("Exp", {-gap}) + 1}));
}
FIRN_NNABLA_EXPORT(where) { n.Out(0, n.Where(n.in(0), n.in(1), n.in(2))); }
FIRN_NNABLA_EXPORT(mul_ratio) {
  const V ratio = n.in(0) * (n.in(1) / n.in(2));
  n.Out(0, n.Where(IsSet(n, n.in(2)), ratio, n.Number(0)));
}
FIRN_NNABLA_EXPORT(nan_to_num) {
  if (!IsFloating(n.dtype(0))) return n.Out(0, n.in(0));
  V y = n.Node("ResetNaN", {n.in(0)}, {{"val", n.Real("nan")}});
  y = n.Where(n.Binary("Equal", n.in(0), INFINITY), n.Number(n.Real("posinf")), y);
  n.Out(0, n.Where(n.Binary("Equal", n.in(0), -INFINITY), n.Number(n.Real("neginf")), y));
}

FIRN_NNABLA_EXPORT(eq) { n.Out(0, n.Binary("Equal", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(ne) { n.Out(0, n.Binary("NotEqual", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(lt) { n.Out(0, n.Binary("Less", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(le) { n.Out(0, n.Binary("LessEqual", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(gt) { n.Out(0, n.Binary("Greater", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(ge) { n.Out(0, n.Binary("GreaterEqual", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(logical_and) { n.Out(0, n.Binary("LogicalAnd", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(logical_or) { n.Out(0, n.Binary("LogicalOr", n.in(0), n.in(1))); }
FIRN_NNABLA_EXPORT(logical_xor) { n.Out(0, n.Binary("LogicalXor", n.in(0), n.in(1))); }
FIRN_NNABLA_SAME(logical_not, LogicalNot);
FIRN_NNABLA_SAME(isnan, IsNaN);
FIRN_NNABLA_EXPORT(isinf) {
  if (!IsFloating(n.dtype(0)) || (!n.Flag("positive") && !n.Flag("negative"))) {
    return n.Out(0, n.Broadcast(n.Number(0), n.out_sizes(0)));
  }
  if (n.Flag("positive") && n.Flag("negative")) return n.Out(0, n.Node("IsInf", {n.in(0)}));
  n.Out(0, n.Binary("Equal", n.in(0), n.Flag("positive") ? INFINITY : -INFINITY));
}
FIRN_NNABLA_EXPORT(isfinite) { n.Out(0, n.Binary("Less", n.Node("Abs", {n.in(0)}), INFINITY)); }
void Bits(NnablaExportCall& n, const char* of_bools) {
  if (n.dtype(0) != DType::kBool) return n.Refuse("of integers, which are floats in NNabla");
  n.Out(0, n.Binary(of_bools, n.in(0), n.in(1)));
}
FIRN_NNABLA_EXPORT(bitwise_and) { Bits(n, "LogicalAnd"); }
FIRN_NNABLA_EXPORT(bitwise_or) { Bits(n, "LogicalOr"); }
FIRN_NNABLA_EXPORT(bitwise_xor) { Bits(n, "LogicalXor"); }
FIRN_NNABLA_EXPORT(bitwise_not) {
  if (n.dtype(0) != DType::kBool) return n.Out(0, -n.in(0) - 1);
  n.Out(0, n.Node("LogicalNot", {n.in(0)}));
}
constexpr char kIntegers[] = "of integers, which are floats in NNabla";
// x 2^y and floor(x / 2^y), which f32 holds where it holds the integers.
V PowerOf2(NnablaExportCall& n, const V& y) { return n.Binary("Pow2", n.Number(2), y); }
V Outside(NnablaExportCall& n, const V& y, double most) {
  return n.Binary("LogicalOr", n.Binary("Less", y, 0), n.Binary("GreaterEqual", y, most));
}
FIRN_NNABLA_EXPORT(bitwise_left_shift) {
  const V y = n.in(1), far = Outside(n, y, 8.0 * static_cast<double>(SizeOf(n.dtype(0))));
  V moved = n.in(0) * PowerOf2(n, n.Where(far, n.Number(0), y));
  if (n.out_dtype(0) == DType::kU8 || n.out_dtype(0) == DType::kI8) {
    const double low = n.out_dtype(0) == DType::kI8 ? -128 : 0;
    moved = moved - n.Node("Floor", {(moved - low) / 256}) * 256;
  }
  n.Out(0, n.Where(far, n.Number(0), moved));
}
FIRN_NNABLA_EXPORT(bitwise_right_shift) {
  const V y = n.in(1), far = Outside(n, y, 63);
  const V places = n.Where(far, n.Number(63), y);
  n.Out(0, n.Node("Floor", {n.in(0) / PowerOf2(n, places)}));
}

constexpr char kGamma[] = "NNabla has no gamma function";
FIRN_NNABLA_NO_EXPORT(lgamma, kGamma);
FIRN_NNABLA_NO_EXPORT(digamma, kGamma);
FIRN_NNABLA_NO_EXPORT(polygamma, kGamma);

}  // namespace
}  // namespace firn::io::internal
