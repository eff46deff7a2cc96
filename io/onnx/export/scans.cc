// ONNX's forms of the scans in tensor/ops/scan. Scans without an operator are made by doubling
// (io/captured/captured_scan.h).
#include <cmath>
#include <functional>
#include <utility>

#include "firn/io/captured/captured_scan.h"
#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

struct Line {
  int rank;
  int64_t dim, length;
};
Line LineOf(OnnxExportCall& n) {
  const int64_t dim = n.Dim("dim", n.rank(0));
  return {n.rank(0), dim, n.size(0, dim)};
}
V Flipped(OnnxExportCall& n, const V& x, const Line& line) {
  return n.Slice(x, line.dim, -1, INT64_MIN, -1);
}
// Each place gets the element before it, and the first one `fill`.
V Next(OnnxExportCall& n, const V& x, const Line& line, const V& fill) {
  List pads(2 * static_cast<size_t>(line.rank), 0);
  pads[static_cast<size_t>(line.dim)] = 1;
  return n.Node("Pad", {n.Slice(x, line.dim, 0, line.length - 1), n.Ints(pads), fill});
}
using Combine = std::function<std::vector<V>(const std::vector<V>& before, const std::vector<V>&)>;
std::vector<V> Scanned(OnnxExportCall& n, const Line& line, std::vector<V> all,
                       const Combine& combine) {
  return ScannedByDoubling(n, line.dim, line.length, std::move(all), combine);
}

FIRN_ONNX_EXPORT(cumsum) {
  const V x = n.in(0, n.out_dtype(0));
  if (n.rank(0) == 0) return n.Out(0, x);
  n.Out(0, n.Node("CumSum", {x, n.Integer(n.Dim("dim", n.rank(0)))},
                  {{"exclusive", n.Flag("exclusive")}, {"reverse", n.Flag("reverse")}}));
}
FIRN_ONNX_EXPORT(cumprod) {
  V x = n.in(0, n.out_dtype(0));
  if (n.rank(0) == 0) return n.Out(0, n.Flag("exclusive") ? One(x) : x);
  const bool exclusive = n.Flag("exclusive"), reverse = n.Flag("reverse");
  if (n.opset() >= 26) {
    return n.Out(0, n.Node("CumProd", {x, n.Integer(n.Dim("dim", n.rank(0)))},
                           {{"exclusive", exclusive}, {"reverse", reverse}}));
  }
  const Line line = LineOf(n);
  if (reverse) x = Flipped(n, x, line);
  if (exclusive && line.length > 0) x = Next(n, x, line, One(x));
  x = Scanned(n, line, {x}, [](const std::vector<V>& before, const std::vector<V>& now) {
    return std::vector<V>{before[0] * now[0]};
  })[0];
  n.Out(0, reverse ? Flipped(n, x, line) : x);
}
// s_i = b_i + a_i s_(i - 1): two steps in a row are one with a = a_2 a_1 and b = b_2 + a_2 b_1.
FIRN_ONNX_EXPORT(linear_scan) {
  V a = n.in(0), b = n.in(1);
  if (n.rank(0) == 0) return n.Out(0, b);
  const Line line = LineOf(n);
  const bool reverse = n.Flag("reverse");
  if (reverse) {
    a = Flipped(n, a, line);
    b = Flipped(n, b, line);
  }
  if (n.Flag("previous") && line.length > 0) a = Next(n, a, line, Zero(a));
  b = Scanned(n, line, {a, b}, [](const std::vector<V>& before, const std::vector<V>& now) {
    return std::vector<V>{before[0] * now[0], now[1] + now[0] * before[1]};
  })[1];
  n.Out(0, reverse ? Flipped(n, b, line) : b);
}
// log(e^x + e^y)
V LogOfSum(const V& x, const V& y) {
  const V same = x.nodes->Compare("Equal", x, y);  // infinities, too
  return Max(x, y) + Log(Exp(-Where(same, Zero(x), Abs(x - y))) + 1);
}
FIRN_ONNX_EXPORT(logcumsumexp) {
  V x = n.in(0, DType::kF64);
  if (n.rank(0) == 0) return n.Out(0, x);
  const Line line = LineOf(n);
  const bool reverse = n.Flag("reverse");
  if (reverse) x = Flipped(n, x, line);
  x = Scanned(n, line, {x}, [](const std::vector<V>& before, const std::vector<V>& now) {
    return std::vector<V>{LogOfSum(before[0], now[0])};
  })[0];
  n.Out(0, reverse ? Flipped(n, x, line) : x);
}
// Among equal elements the last counts, and from a NaN on all results are NaN.
FIRN_ONNX_EXPORT(running_extreme) {
  const bool largest = n.Flag("largest"), real = IsFloating(n.dtype(0));
  const V x = n.in(0, real ? n.dtype(0) : DType::kI64);
  if (n.rank(0) == 0) {
    n.Out(0, x);
    return n.Out(1, n.Integer(0));
  }
  const Line line = LineOf(n);
  List sizes(static_cast<size_t>(line.rank), 1);
  sizes[static_cast<size_t>(line.dim)] = line.length;
  const V places =
      n.ExpandTo(n.Reshape(n.Ints(Counted(static_cast<int>(line.length))), sizes), n.sizes(0));
  const std::vector<V> found =
      Scanned(n, line, {x, places}, [&](const std::vector<V>& before, const std::vector<V>& now) {
        V takes = n.Compare(largest ? "GreaterOrEqual" : "LessOrEqual", now[0], before[0]);
        if (real) takes = takes | n.Node("IsNaN", {now[0]}, {}, DType::kBool);
        return std::vector<V>{Where(takes, now[0], before[0]), Where(takes, now[1], before[1])};
      });
  n.Out(0, found[0]);
  n.Out(1, found[1]);
}

}  // namespace
}  // namespace firn::io::internal
