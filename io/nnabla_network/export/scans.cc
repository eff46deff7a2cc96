// NNabla's forms of the scans in tensor/ops/scan. NNabla has only running sums and products; other
// scans are made by doubling (io/captured/captured_scan.h).
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "firn/io/captured/captured_scan.h"
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

void Cumulative(NnablaExportCall& n, const char* type, double nothing) {
  if (n.rank(0) == 0) return n.Out(0, n.Flag("exclusive") ? n.Number(nothing) : n.in(0));
  n.Out(0, n.Node(type, {n.in(0)},
                  {{"axis", n.Dim("dim", n.rank(0))},
                   {"exclusive", n.Flag("exclusive")},
                   {"reverse", n.Flag("reverse")}}));
}
FIRN_NNABLA_EXPORT(cumsum) { Cumulative(n, "CumSum", 0); }
FIRN_NNABLA_EXPORT(cumprod) { Cumulative(n, "CumProd", 1); }

struct Line {
  int64_t dim, length;
};
Line LineOf(NnablaExportCall& n) {
  const int64_t dim = n.Dim("dim", n.rank(0));
  return {dim, n.size(0, dim)};
}
V Turned(NnablaExportCall& n, const V& x, const Line& line) {
  return n.Flag("reverse") ? n.Node("Flip", {x}, {{"axes", Numbers{line.dim}}}) : x;
}
using Combine = std::function<std::vector<V>(const std::vector<V>& before, const std::vector<V>&)>;
std::vector<V> Scanned(NnablaExportCall& n, const Line& line, std::vector<V> all,
                       const Combine& combine) {
  return ScannedByDoubling(n, line.dim, line.length, std::move(all), combine);
}

// s_i = b_i + a_i s_(i - 1): two steps in a row are one with a = a_2 a_1 and b = b_2 + a_2 b_1.
// So factors are multiplied before they meet terms: a product beyond f32's range gives NaN where
// the numbers one after the other do not.
FIRN_NNABLA_EXPORT(linear_scan) {
  if (n.rank(0) == 0) return n.Out(0, n.in(1));
  const Line line = LineOf(n);
  V a = Turned(n, n.in(0), line);
  const V b = Turned(n, n.in(1), line);
  if (n.Flag("previous")) {
    CapturedSizes one = a.sizes;
    one[static_cast<size_t>(line.dim)] = {1, 1};
    a = n.Concat({n.Broadcast(n.Number(0), one), n.Slice(a, line.dim, 0, line.length - 1)},
                 line.dim);
  }
  const std::vector<V> s =
      Scanned(n, line, {a, b}, [](const std::vector<V>& before, const std::vector<V>& now) {
        return std::vector<V>{before[0] * now[0], now[1] + now[0] * before[1]};
      });
  n.Out(0, Turned(n, s[1], line));
}
// log(e^x + e^y)
V LogOfSum(NnablaExportCall& n, const V& x, const V& y) {
  const V apart = n.Node("Abs", {x - y});
  const V same = n.Binary("Equal", x, y);  // infinities, too
  const V less = n.Where(same, n.Number(0), -apart);
  return n.Binary("Maximum2", x, y) + n.Node("Log", {n.Node("Exp", {less}) + 1});
}
FIRN_NNABLA_EXPORT(logcumsumexp) {
  if (n.rank(0) == 0) return n.Out(0, n.in(0));
  const Line line = LineOf(n);
  const std::vector<V> s = Scanned(n, line, {Turned(n, n.in(0), line)},
                                   [&](const std::vector<V>& before, const std::vector<V>& now) {
                                     return std::vector<V>{LogOfSum(n, before[0], now[0])};
                                   });
  n.Out(0, Turned(n, s[0], line));
}
// Among equal elements the last counts, and from a NaN on all results are NaN.
FIRN_NNABLA_EXPORT(running_extreme) {
  if (n.rank(0) == 0) {
    n.Out(0, n.in(0));
    return n.Out(1, n.Number(0));
  }
  const Line line = LineOf(n);
  Numbers counted(static_cast<size_t>(line.length)), sizes(static_cast<size_t>(n.rank(0)), 1);
  std::iota(counted.begin(), counted.end(), 0);
  sizes[static_cast<size_t>(line.dim)] = line.length;
  const V places = n.Broadcast(n.Reshape(n.Ints(counted), sizes), n.sizes(0));
  const char* const takes = n.Flag("largest") ? "GreaterEqual" : "LessEqual";
  const std::vector<V> found = Scanned(
      n, line, {n.in(0), places}, [&](const std::vector<V>& before, const std::vector<V>& now) {
        const V is_nan = n.Binary("NotEqual", now[0], now[0]);
        const V take = n.Binary("LogicalOr", n.Binary(takes, now[0], before[0]), is_nan);
        return std::vector<V>{n.Where(take, now[0], before[0]), n.Where(take, now[1], before[1])};
      });
  n.Out(0, found[0]);
  n.Out(1, found[1]);
}

}  // namespace
}  // namespace firn::io::internal
