// ONNX's forms of the operations in tensor/ops/shape and create.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "firn/io/captured/captured_places.h"
#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

V Same(OnnxExportCall& n) { return n.in(0); }
FIRN_ONNX_EXPORT(identity) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(clone) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(contiguous) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(reorder) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(to_device) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(clip_grad_by_norm) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(clip_grad_by_value) { n.Out(0, Same(n)); }
FIRN_ONNX_EXPORT(top_k_grad) { n.Out(0, Same(n)); }

FIRN_ONNX_EXPORT(cast) { n.Out(0, n.in(0, n.out_dtype(0))); }
FIRN_ONNX_EXPORT(assign) {
  V source = n.in(1, n.dtype(0));
  if (n.spec(0).shape != n.spec(1).shape) source = n.ExpandTo(source, n.sizes(0));
  n.Write(0, source);
}
FIRN_ONNX_EXPORT(accumulate) {
  n.Write(0, n.Node(n.dtype(0) == DType::kBool ? "Or" : "Add", {n.in(0), n.in(1, n.dtype(0))}));
}

FIRN_ONNX_EXPORT(expand) { n.Out(0, n.ExpandTo(n.in(0), n.out_sizes(0))); }
FIRN_ONNX_EXPORT(reshape) { n.Out(0, n.ReshapeTo(n.in(0), n.out_sizes(0))); }
FIRN_ONNX_EXPORT(flatten) {
  const bool rest = n.out_rank(0) == 2 && n.rank(0) > 1 && n.Dim("start_dim", n.rank(0)) == 1;
  n.Out(0,
        rest ? n.Node("Flatten", {n.in(0)}, {{"axis", 1}}) : n.ReshapeTo(n.in(0), n.out_sizes(0)));
}
FIRN_ONNX_EXPORT(squeeze) {
  std::vector<int64_t> dims;
  for (const int64_t dim : n.Dims("dims", n.rank(0))) {
    if (n.spec(0).shape[dim] == 1) dims.push_back(dim);
  }
  n.Out(0, n.Squeeze(n.in(0), dims));
}
FIRN_ONNX_EXPORT(unsqueeze) { n.Out(0, n.Unsqueeze(n.in(0), {n.Int("dim")})); }
FIRN_ONNX_EXPORT(concat) {
  OnnxNodes::Inputs parts;
  for (size_t i = 0; i < n.count(); ++i) {
    // A tensor [0] may be joined with any other in Firn.
    if (n.rank(i) == n.out_rank(0)) parts.push_back(n.in(i));
  }
  n.Out(0, n.Concat(parts, n.Dim("dim", n.out_rank(0))));
}
std::vector<int64_t> Order(int rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}
FIRN_ONNX_EXPORT(permute) {
  n.Out(0, n.rank(0) == 0 ? n.in(0) : n.Transpose(n.in(0), n.Dims("dims", n.rank(0))));
}
FIRN_ONNX_EXPORT(transpose) {
  std::vector<int64_t> order = Order(n.rank(0));
  if (order.empty()) return n.Out(0, n.in(0));
  std::swap(order[static_cast<size_t>(n.Dim("dim0", n.rank(0)))],
            order[static_cast<size_t>(n.Dim("dim1", n.rank(0)))]);
  n.Out(0, n.Transpose(n.in(0), order));
}
FIRN_ONNX_EXPORT(flip) {
  V x = n.in(0);
  if (n.rank(0) == 0 || n.List("dims").empty()) return n.Out(0, x);
  for (const int64_t dim : n.Dims("dims", n.rank(0))) x = n.Slice(x, dim, -1, INT64_MIN, -1);
  n.Out(0, x);
}
// Places that are counted from the front do not depend on the batch.
void WarnOfBatch(OnnxExportCall& n, int64_t dim, int64_t at) {
  if (at <= 0 || at >= n.batch().now || !n.sizes(0)[static_cast<size_t>(dim)].batch()) return;
  n.Warn(absl::StrCat("counts ", at, " from the front of the batch, whatever its size"));
}
FIRN_ONNX_EXPORT(select) {
  WarnOfBatch(n, n.Dim("dim", n.rank(0)), n.Int("index"));
  n.Out(0, n.Node("Gather", {n.in(0), n.Integer(n.Int("index"))},
                  {{"axis", n.Dim("dim", n.rank(0))}}));
}
FIRN_ONNX_EXPORT(slice) {
  const int64_t dim = n.Dim("dim", n.rank(0)), end = n.Int("end");
  // A slice that ends with the batch does so for every batch (WithBatch).
  const bool follows = n.sizes(0)[static_cast<size_t>(dim)].batch() && end == n.batch().now;
  WarnOfBatch(n, dim, n.Int("start"));
  if (!follows) WarnOfBatch(n, dim, end);
  n.Out(0, n.Node("Slice", {n.in(0), n.Ints({n.Int("start")}),
                            follows ? n.ShapeTensor({n.batch()}) : n.Ints({end}), n.Ints({dim}),
                            n.Ints({n.Int("step")})}));
}
V GatherAlong(OnnxExportCall& n, const V& x, const std::vector<int64_t>& indices, int64_t dim) {
  return n.Node("Gather", {x, n.Ints(indices)}, {{"axis", dim}});
}
FIRN_ONNX_EXPORT(slice_scatter) {
  const int64_t dim = n.Dim("dim", n.rank(0)), size = n.size(0, dim), step = n.Int("step");
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  std::vector<int64_t> from = Order(static_cast<int>(size));
  int64_t next = size;
  for (int64_t i = clamp(n.Int("start")); i < clamp(n.Int("end")); i += step) {
    from[static_cast<size_t>(i)] = next++;
  }
  n.Out(0, GatherAlong(n, n.Concat({n.in(0), n.in(1, n.dtype(0))}, dim), from, dim));
}
FIRN_ONNX_EXPORT(roll_dim) {
  const int64_t dim = n.Dim("dim", n.rank(0)), size = n.size(0, dim);
  if (size == 0) return n.Out(0, n.in(0));
  const int64_t cut = ((size - n.Int("shift")) % size + size) % size;
  if (cut == 0) return n.Out(0, n.in(0));
  n.Out(0, n.Concat({n.Slice(n.in(0), dim, cut, INT64_MAX), n.Slice(n.in(0), dim, 0, cut)}, dim));
}

int64_t Mirrored(int64_t at, int64_t size, const std::string& mode) {
  if (mode == "replicate") return std::clamp<int64_t>(at, 0, size - 1);
  if (mode == "circular") return (at + size) % size;
  const int64_t edge = mode == "symmetric" ? 1 : 0;
  if (at < 0) return -at - edge;
  return at < size ? at : 2 * (size - 1) - at + edge;
}
V ConstantPad(OnnxExportCall& n, const V& x, int rank, const std::vector<int64_t>& pad, int sign) {
  if (rank == 0) return x;
  std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
  for (size_t k = 0; 2 * k + 1 < pad.size(); ++k) {
    const size_t dim = static_cast<size_t>(rank) - 1 - k;
    pads[dim] = sign * pad[2 * k];
    pads[dim + static_cast<size_t>(rank)] = sign * pad[2 * k + 1];
  }
  const double value = n.Has("value") && sign > 0 ? n.Real("value") : 0;
  return n.Node("Pad", {x, n.Ints(pads), n.Number(value, x.dtype)});
}
// For each element of a padded line the element of the line that it repeats.
std::vector<int64_t> PaddedLine(int64_t size, int64_t before, int64_t behind,
                                const std::string& mode) {
  std::vector<int64_t> from;
  for (int64_t at = -before; at < size + behind; ++at) from.push_back(Mirrored(at, size, mode));
  return from;
}
FIRN_ONNX_EXPORT(pad) {
  const std::string& mode = n.Word("mode");
  const std::vector<int64_t>& pad = n.List("pad");
  if (mode == "constant") return n.Out(0, ConstantPad(n, n.in(0), n.rank(0), pad, 1));
  V x = n.in(0);
  for (size_t k = 0; 2 * k + 1 < pad.size(); ++k) {
    const int64_t dim = n.rank(0) - 1 - static_cast<int64_t>(k);
    if (pad[2 * k] == 0 && pad[2 * k + 1] == 0) continue;
    x = GatherAlong(n, x, PaddedLine(n.size(0, dim), pad[2 * k], pad[2 * k + 1], mode), dim);
  }
  n.Out(0, x);
}
// Each element gets the sum over its copies.
FIRN_ONNX_EXPORT(pad_grad) {
  const std::string& mode = n.Word("mode");
  const std::vector<int64_t>& pad = n.List("pad");
  if (mode == "constant") return n.Out(0, ConstantPad(n, n.in(0), n.rank(0), pad, -1));
  V dx = n.in(0);
  for (size_t k = 0; 2 * k + 1 < pad.size(); ++k) {
    const int64_t dim = n.rank(0) - 1 - static_cast<int64_t>(k);
    if (pad[2 * k] == 0 && pad[2 * k + 1] == 0) continue;
    const int64_t size = n.Fixed({n.out_sizes(0)[static_cast<size_t>(dim)]})[0];
    const std::vector<int64_t> from = PaddedLine(size, pad[2 * k], pad[2 * k + 1], mode);
    std::vector<double> parts(from.size() * static_cast<size_t>(size), 0);
    for (size_t i = 0; i < from.size(); ++i) {
      parts[i * static_cast<size_t>(size) + static_cast<size_t>(from[i])] = 1;
    }
    const Shape shape({static_cast<int64_t>(from.size()), size});
    dx = AlongDim(dx, n.rank(0), dim, n.Constant(FromVector(parts, shape).To(n.dtype(0))));
  }
  n.Out(0, dx);
}

FIRN_ONNX_EXPORT(diagonal) {
  const CapturedDiagonal d = DiagonalOf(n);
  OnnxSizes flat = n.out_sizes(0);
  flat.back() = {d.elements, d.elements};
  const V x = n.ReshapeTo(n.Transpose(n.in(0), d.order), flat);
  n.Out(0, GatherAlong(n, x, d.from, n.out_rank(0) - 1));
}
FIRN_ONNX_EXPORT(diag_embed) {
  const int rank = n.rank(0);
  const V longer = ConstantPad(n, n.in(0), rank, {0, 1}, 1);  // a zero behind x
  n.Out(0, n.ReshapeTo(GatherAlong(n, longer, DiagEmbedPlaces(n), rank - 1), n.out_sizes(0)));
}
void Triangle(OnnxExportCall& n, bool upper) {
  n.NeedsOpset(14);
  n.Out(0, n.Node("Trilu", {n.in(0), n.Integer(n.Int("diagonal"))}, {{"upper", upper}}));
}
FIRN_ONNX_EXPORT(tril) { Triangle(n, false); }
FIRN_ONNX_EXPORT(triu) { Triangle(n, true); }
FIRN_ONNX_EXPORT(sliding_window) {
  const int rank = n.rank(0);
  const int64_t dim = n.Dim("dim", rank), size = n.Int("size"), step = n.Int("step");
  const int64_t count = (n.size(0, dim) - size) / step + 1;
  std::vector<int64_t> from;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < size; ++k) from.push_back(i * step + k);
  }
  const V at = n.Reshape(n.Ints(from), {count, size});
  std::vector<int64_t> order = Order(rank + 1);
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  n.Out(0, n.Transpose(n.Node("Gather", {n.in(0), at}, {{"axis", dim}}), order));
}

FIRN_ONNX_EXPORT(full) {
  const int64_t rest = n.Int("value_rest");
  const V value = rest == 0 ? n.Number(n.Real("value"), n.out_dtype(0))
                            : n.Integer(static_cast<int64_t>(n.Real("value")) + rest);
  n.Out(0, n.out_rank(0) == 0 ? value : n.ExpandTo(value, n.out_sizes(0)));
}
FIRN_ONNX_EXPORT(arange) {
  std::vector<double> real;
  std::vector<int64_t> whole;
  for (int64_t i = 0; i < n.out_shape(0)[0]; ++i) {
    real.push_back(n.Real("start") + static_cast<double>(i) * n.Real("step"));
    whole.push_back(n.Int("first") + i * n.Int("stride"));
  }
  const DType dtype = n.out_dtype(0);
  n.Out(0, n.Constant((IsFloating(dtype) ? FromVector(real) : FromVector(whole)).To(dtype)));
}
FIRN_ONNX_EXPORT(linspace) {
  std::vector<double> values;
  const int64_t count = n.out_shape(0)[0];
  const double start = n.Real("start"), end = n.Real("end");
  for (int64_t i = 0; i < count; ++i) {
    const double part = count < 2 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(start * (1 - part) + end * part);
  }
  n.Out(0, n.Constant(FromVector(values).To(n.out_dtype(0))));
}

}  // namespace
}  // namespace firn::io::internal
