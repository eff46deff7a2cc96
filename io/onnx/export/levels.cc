// ONNX's forms of quantization to powers of two and to fixed steps, and of gradients within ranges.
#include <cmath>
#include <numbers>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

V RoundAway(OnnxExportCall& n, const V& x) {
  // The fraction, which is exact, decides, so that a number just below one half is rounded down.
  const V size = Abs(x), whole = Floor(size);
  const V up = n.Compare("GreaterOrEqual", size - whole, n.Number(0.5, x.dtype));
  return Sign(x) * (whole + AsNumber(up, x.dtype));
}
FIRN_ONNX_EXPORT(fixed_point_quantize) {
  const double delta = n.Real("delta");
  const bool sign = n.Flag("sign");
  const double most = std::exp2(static_cast<double>(n.Int("n") - (sign ? 1 : 0))) - 1;
  const V steps = RoundAway(n, n.in(0) / delta);
  n.Out(0, Min(Max(steps, sign ? -most : 0), most) * delta);
}

// The power of two that is at most `size`, or the next one if `size` is `up` times it or more. The
// exponent from the logarithm is wrong by at most one; for f32 the correction is exact in f64.
V PowerOfTwoAt(OnnxExportCall& n, const V& size, double up) {
  if (size.dtype == DType::kF64) n.Refuse("in f64, whose bits ONNX does not show");
  const V wide = n.Cast(size, DType::kF64), two = n.Number(2, DType::kF64);
  // Subnormal numbers count as 0.
  const V some = n.Compare("GreaterOrEqual", wide, n.Number(0x1p-126, DType::kF64));
  const V safe = Where(some, wide, One(wide));
  const V near = Power(two, Floor(Log(safe) * std::numbers::log2e));
  const V low = Where(Above(near, safe), near * 0.5, near);
  const V power = Where(n.Compare("GreaterOrEqual", safe, low * 2), low * 2, low);
  const V narrow = n.Cast(power, size.dtype);
  const V next = n.Compare("GreaterOrEqual", size, narrow * up);
  return ZeroUnless(some, Where(next, narrow * 2, narrow));
}
V NumbersStay(OnnxExportCall& n, const V& x, const V& y) {  // NaN, too
  const V odd = n.Node("IsNaN", {x}, {}, DType::kBool) | n.Node("IsInf", {x}, {}, DType::kBool);
  return Where(odd, Abs(x), y);
}
FIRN_ONNX_EXPORT(power_of_two) {
  const V x = n.in(0);
  n.Out(0, NumbersStay(n, x, PowerOfTwoAt(n, Abs(x), n.Real("up"))));
}
FIRN_ONNX_EXPORT(pow2_quantize) {
  const bool sign = n.Flag("sign"), with_zero = n.Flag("with_zero");
  const int64_t m = n.Int("m"), bits = n.Int("n") - (sign ? 1 : 0) - (with_zero ? 1 : 0);
  const double most = std::exp2(static_cast<double>(m));
  const double least = std::exp2(static_cast<double>(m + 1 - (int64_t{1} << bits)));
  const double below = with_zero ? 0 : least, root = std::numbers::sqrt2;
  const V x = n.in(0), size = Abs(x);
  const V under =
      Where(Below(size * root, least), n.Number(below, x.dtype), n.Number(least, x.dtype));
  const V power = NumbersStay(n, x, PowerOfTwoAt(n, size, root));
  const V q = Min(Where(Below(size, least), under, power), most);
  n.Out(0, Where(Below(x, 0), sign ? -q : n.Number(below, x.dtype), q));
}
FIRN_ONNX_EXPORT(pow2_quantize_grad) {
  const bool sign = n.Flag("sign");
  const double limit = std::numbers::sqrt2 * std::exp2(static_cast<double>(n.Int("m")));
  const V x = n.in(1);
  const V above = sign ? Above(x, -limit) : n.Compare("GreaterOrEqual", x, 0);
  n.Out(0, ZeroUnless(above & Below(x, limit), n.in(0)));
}
// dy where x lies in the range.
FIRN_ONNX_EXPORT(fake_quantize_grad) {
  const V x = n.in(1);
  const auto along = [&](size_t i) {
    const V each = n.in(i, x.dtype);
    if (n.rank(i) == 0) return each;
    List sizes(static_cast<size_t>(n.rank(1)), 1);
    sizes[static_cast<size_t>(n.Dim("dim", n.rank(1)))] = -1;
    return n.Reshape(each, sizes);
  };
  const V q = n.Node("Round", {x / along(2)}) + along(3);
  const V inside = n.Compare("GreaterOrEqual", q, static_cast<double>(n.Int("qmin"))) &
                   n.Compare("LessOrEqual", q, static_cast<double>(n.Int("qmax")));
  n.Out(0, ZeroUnless(inside, n.in(0)));
}

}  // namespace
}  // namespace firn::io::internal
