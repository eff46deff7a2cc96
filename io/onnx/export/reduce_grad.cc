// ONNX's forms of the gradients in tensor/ops/reduce, and of distances and products of vectors.
#include <cmath>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

// (x - mean) scale, or scale / over, where the mean is computed again: the one that is given is
// rounded.
FIRN_ONNX_EXPORT(var_grad) {
  if (n.rank(0) == 0) return n.Out(0, n.in(0) - n.in(0));
  const List dim = {n.Dim("dim", n.rank(0))};
  const V near = n.in(0) - n.in(1), centred = near - MeanOver(near, dim);
  if (!n.has(3)) return n.Out(0, centred * n.in(2));
  n.Out(0, ZeroUnless(!Equal(n.in(3), 0), centred * (n.in(2) / n.in(3))));
}
// dy times the product of all other elements: without zeros the product over x; with one, that of
// the others where it stands. In f64, which holds products that f32 does not.
FIRN_ONNX_EXPORT(prod_grad) {
  if (n.rank(1) == 0) return n.Out(0, n.in(0));
  const List dims = n.Dims("dims", n.rank(1));
  const V x = n.in(1, DType::kF64), zero = Equal(x, 0), factor = Where(zero, One(x), x);
  const V dy = n.Cast(n.Flag("keepdim") ? n.in(0) : n.Unsqueeze(n.in(0), dims), DType::kF64);
  // Runtimes multiply f32 alone.
  const V size = Exp(SumOver(Log(Abs(factor)), dims));
  const V minus = SumOver(AsNumber(Below(factor, 0), DType::kF64), dims);
  const V odd = Equal(minus - Floor(minus * 0.5) * 2, 1), product = Where(odd, -size, size);
  const V zeros = SumOver(AsNumber(zero, DType::kF64), dims);
  const V alone = ZeroUnless(zero & Equal(zeros, 1), product);
  n.Out(0, dy * Where(Equal(zeros, 0), product / factor, alone));
}

// Differences of all rows of x [..., n, d] and y [..., m, d]: [..., n, m, d].
V Differences(OnnxExportCall& n, size_t x) {
  return n.Unsqueeze(n.in(x), {-2}) - n.Unsqueeze(n.in(x + 1), {-3});
}
FIRN_ONNX_EXPORT(cdist) {
  const double p = n.Real("p");
  const V d = Differences(n, 0), size = Abs(d);
  if (n.size(0, -1) == 0) return n.Out(0, n.ExpandTo(Zero(d), n.out_sizes(0)));
  if (p == 0) return n.Out(0, SumOver(AsNumber(!Equal(d, 0), d.dtype), {-1}, false));
  // In units of the largest one, whose powers stay in the range.
  const V top = n.Reduce("ReduceMax", size, {-1}, true), flat = n.Squeeze(top, {-1});
  if (std::isinf(p)) return n.Out(0, flat);
  if (p == 1) return n.Out(0, SumOver(size, {-1}, false));
  const V part = size / Where(Above(top, 0), top, One(top));
  const V root = p == 2 ? Sqrt(SumOver(part * part, {-1}, false))
                        : Power(SumOver(Power(part, n.Number(p, d.dtype)), {-1}, false),
                                n.Number(1 / p, d.dtype));
  n.Out(0, flat * root);
}
// The derivative of a distance by a difference is sign(d) (|d| / distance)^(p - 1); for p =
// infinity that of each largest one is its sign.
FIRN_ONNX_EXPORT(cdist_grad) {
  const double p = n.Real("p");
  const bool turned = n.Flag("turned");
  const auto given = [&](size_t i) {
    return n.Unsqueeze(turned ? LastTwoTurned(n.in(i), n.rank(i)) : n.in(i), {-1});
  };
  const V dy = given(0), distance = given(3), d = Differences(n, 1);
  const V some = Above(distance, 0), far = Where(some, distance, One(distance));
  V slope = Sign(d);
  if (p == 0) {
    slope = d - d;
  } else if (std::isinf(p)) {
    slope = ZeroUnless(n.Compare("GreaterOrEqual", Abs(d), distance), slope);
  } else if (p == 2) {
    slope = d / far;
  } else if (p != 1) {
    slope = ZeroUnless(!Equal(d, 0), slope * Power(Abs(d) / far, n.Number(p - 1, d.dtype)));
  }
  n.Out(0, SumOver(ZeroUnless(some, dy * slope), {-2}, false));
}

FIRN_ONNX_EXPORT(cross_vectors) {
  const int64_t dim = n.Dim("dim", n.rank(0));
  const auto moved = [&](size_t i, List order) {
    return n.Node("Gather", {n.in(i), n.Ints(order)}, {{"axis", dim}});
  };
  n.Out(0, moved(0, {1, 2, 0}) * moved(1, {2, 0, 1}) - moved(0, {2, 0, 1}) * moved(1, {1, 2, 0}));
}
FIRN_ONNX_EXPORT(kron_matrices) {
  n.Out(0,
        n.ReshapeTo(n.Unsqueeze(n.in(0), {1, 3}) * n.Unsqueeze(n.in(1), {0, 2}), n.out_sizes(0)));
}
// The part of [low, high] that x lies in, or -1.
FIRN_ONNX_EXPORT(histc_part) {
  const V x = n.in(0), low = n.in(1), high = n.in(2);
  const auto bins = static_cast<double>(n.Int("bins"));
  const V unit = Where(Above(high - low, 0x1p60), n.Number(0x1p-64, x.dtype), One(x));
  const V first = low * unit, part = (x * unit - first) * bins / (high * unit - first);
  const V outside = Below(x, low) | Above(x, high);
  const V inside = !(outside | !n.Compare("Equal", part, part));
  n.Out(0, Where(inside, Min(part, bins - 1), n.Number(-1, x.dtype)));
}

}  // namespace
}  // namespace firn::io::internal
