// NNabla's forms of the operations in tensor/ops/shape and create.
#include <algorithm>

#include "firn/io/captured/captured_places.h"
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

FIRN_NNABLA_EXPORT(identity) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(clone) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(contiguous) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(reorder) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(to_device) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(clip_grad_by_norm) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(clip_grad_by_value) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(top_k_grad) { n.Out(0, n.in(0)); }

V Cast(NnablaExportCall& n, const V& x, DType from, DType to) {
  if (to == DType::kBool) return from == to ? x : n.Binary("NotEqual", x, 0);
  const V y = IsFloating(from) && !IsFloating(to) ? n.Trunc(x) : x;
  if (to == from || (to != DType::kI8 && to != DType::kU8)) return y;
  const double least = to == DType::kI8 ? -128 : 0;
  return n.Binary("Minimum2", n.Binary("Maximum2", y, least), least + 255);
}
FIRN_NNABLA_EXPORT(cast) { n.Out(0, Cast(n, n.in(0), n.dtype(0), n.out_dtype(0))); }
FIRN_NNABLA_EXPORT(assign) {
  n.Write(0, n.Broadcast(Cast(n, n.in(1), n.dtype(1), n.dtype(0)), n.sizes(0)));
}
FIRN_NNABLA_EXPORT(accumulate) {
  const char* type = n.dtype(0) == DType::kBool ? "Maximum2" : "Add2";
  n.Write(0, n.Binary(type, n.in(0), Cast(n, n.in(1), n.dtype(1), n.dtype(0))));
}

FIRN_NNABLA_EXPORT(expand) { n.Out(0, n.Broadcast(n.in(0), n.out_sizes(0))); }
FIRN_NNABLA_EXPORT(reshape) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(flatten) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(squeeze) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(unsqueeze) { n.Out(0, n.in(0)); }
FIRN_NNABLA_EXPORT(concat) {
  NnablaNodes::Inputs parts;
  for (size_t i = 0; i < n.count(); ++i) {
    // A tensor [0] may be joined with any other in Firn; NNabla has no tensors without elements.
    if (n.spec(i).shape.num_elements() > 0) parts.push_back(n.in(i));
  }
  n.Out(0, n.Concat(parts, n.Dim("dim", n.out_rank(0))));
}
FIRN_NNABLA_EXPORT(permute) { n.Out(0, n.Transpose(n.in(0), n.Dims("dims", n.rank(0)))); }
FIRN_NNABLA_EXPORT(transpose) {
  Numbers order = NnablaNodes::OrderOf(n.rank(0));
  if (order.empty()) return n.Out(0, n.in(0));
  std::swap(order[static_cast<size_t>(n.Dim("dim0", n.rank(0)))],
            order[static_cast<size_t>(n.Dim("dim1", n.rank(0)))]);
  n.Out(0, n.Transpose(n.in(0), order));
}
FIRN_NNABLA_EXPORT(flip) {
  if (n.rank(0) == 0 || n.List("dims").empty()) return n.Out(0, n.in(0));
  n.Out(0, n.Node("Flip", {n.in(0)}, {{"axes", n.Dims("dims", n.rank(0))}}));
}
V Selected(NnablaExportCall& n, int64_t dim, int64_t index) {
  const int64_t at = index < 0 ? index + n.size(0, dim) : index;
  return n.Slice(n.in(0), dim, at, at + 1);
}
FIRN_NNABLA_EXPORT(select) { n.Out(0, Selected(n, n.Dim("dim", n.rank(0)), n.Int("index"))); }
// Where a slice's places begin and end, in a dimension of this size.
struct Range {
  int64_t start, end;
};
Range RangeOf(const NnablaExportCall& n, int64_t size) {
  const auto at = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t start = at(n.Int("start"));
  return {start, std::max(start, at(n.Int("end")))};
}
FIRN_NNABLA_EXPORT(slice) {
  const int64_t dim = n.Dim("dim", n.rank(0));
  if (SameSizes(n.sizes(0), n.out_sizes(0)) && n.Int("step") == 1) return n.Out(0, n.in(0));
  const Range range = RangeOf(n, n.size(0, dim));
  n.Out(0, n.Slice(n.in(0), dim, range.start, range.end, n.Int("step")));
}
FIRN_NNABLA_EXPORT(slice_scatter) {
  const int64_t dim = n.Dim("dim", n.rank(0)), size = n.size(0, dim), step = n.Int("step");
  const Range range = RangeOf(n, size);
  Numbers from = NnablaNodes::OrderOf(static_cast<int>(size));
  int64_t next = size;
  for (int64_t i = range.start; i < range.end; i += step) from[static_cast<size_t>(i)] = next++;
  if (next == size) return n.Out(0, n.in(0));
  n.Out(0, n.Gather(n.Concat({n.in(0), n.in(1)}, dim), dim, from));
}
FIRN_NNABLA_EXPORT(roll_dim) {
  const int64_t dim = n.Dim("dim", n.rank(0)), size = n.size(0, dim);
  const int64_t cut = ((size - n.Int("shift")) % size + size) % size;
  if (cut == 0) return n.Out(0, n.in(0));
  n.Out(0, n.Concat({n.Slice(n.in(0), dim, cut, size), n.Slice(n.in(0), dim, 0, cut)}, dim));
}

int64_t Mirrored(int64_t at, int64_t size, const std::string& mode) {
  if (mode == "circular") return (at + size) % size;
  if (at < 0) return -at - 1;  // symmetric
  return at < size ? at : 2 * size - 1 - at;
}
// Firn's numbers begin with the last dimension, NNabla's with the first that is padded.
Numbers Widths(const Numbers& pad) {
  Numbers widths;
  for (size_t i = pad.size(); i >= 2; i -= 2) widths.insert(widths.end(), {pad[i - 2], pad[i - 1]});
  return widths;
}
FIRN_NNABLA_EXPORT(pad) {
  const std::string& mode = n.Word("mode");
  Numbers pad = n.List("pad");
  V x = n.in(0);
  if (mode == "symmetric" || mode == "circular") {
    for (size_t k = 0; 2 * k + 1 < pad.size(); ++k) {
      const int64_t dim = n.rank(0) - 1 - static_cast<int64_t>(k);
      if (pad[2 * k] == 0 && pad[2 * k + 1] == 0) continue;
      const int64_t size = n.size(0, dim);
      Numbers from;
      for (int64_t at = -pad[2 * k]; at < size + pad[2 * k + 1]; ++at) {
        from.push_back(Mirrored(at, size, mode));
      }
      x = n.Gather(x, dim, from);
    }
    return n.Out(0, x);
  }
  // Negative numbers take elements away.
  for (size_t k = 0; 2 * k + 1 < pad.size(); ++k) {
    const int64_t dim = n.rank(0) - 1 - static_cast<int64_t>(k);
    const int64_t front = std::min<int64_t>(pad[2 * k], 0),
                  back = std::min<int64_t>(pad[2 * k + 1], 0);
    if (front == 0 && back == 0) continue;
    x = n.Slice(x, dim, -front, n.size(0, dim) + back);
    pad[2 * k] -= front;
    pad[2 * k + 1] -= back;
  }
  if (std::all_of(pad.begin(), pad.end(), [](int64_t p) { return p == 0; })) return n.Out(0, x);
  n.Out(0, n.Node("Pad", {x},
                  {{"pad_width", Widths(pad)},
                   {"mode", mode == "replicate" ? "repeat" : mode.c_str()},
                   {"constant_value", n.Real("value")}},
                  n.out_sizes(0)));
}

FIRN_NNABLA_EXPORT(diagonal) {
  const CapturedDiagonal d = DiagonalOf(n);
  CapturedSizes flat = n.out_sizes(0);
  flat.back() = {d.elements, d.elements};
  n.Out(0, n.Gather(n.Reshape(n.Transpose(n.in(0), d.order), flat), n.out_rank(0) - 1, d.from));
}
FIRN_NNABLA_EXPORT(diag_embed) {
  const int rank = n.rank(0);
  const int64_t size = n.size(0, -1);
  CapturedSizes longer = n.sizes(0);
  longer.back() = {size + 1, size + 1};
  const V x =
      n.Node("Pad", {n.in(0)}, {{"pad_width", Numbers{0, 1}}, {"mode", "constant"}}, longer);
  n.Out(0, n.Gather(x, rank - 1, DiagEmbedPlaces(n)));
}
void Triangle(NnablaExportCall& n, bool upper) {
  n.Out(0, n.Node("Trilu", {n.in(0)}, {{"k", n.Int("diagonal")}, {"upper", upper}}));
}
FIRN_NNABLA_EXPORT(tril) { Triangle(n, false); }
FIRN_NNABLA_EXPORT(triu) { Triangle(n, true); }
FIRN_NNABLA_EXPORT(sliding_window) {
  const int rank = n.rank(0);
  const int64_t dim = n.Dim("dim", rank), size = n.Int("size"), step = n.Int("step");
  const int64_t count = (n.size(0, dim) - size) / step + 1;
  Numbers from;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < size; ++k) from.push_back(i * step + k);
  }
  CapturedSizes sizes = n.sizes(0);
  sizes[static_cast<size_t>(dim)] = {count, count};
  sizes.insert(sizes.begin() + dim + 1, {size, size});
  const V y = n.Reshape(n.Gather(n.in(0), dim, from), sizes);
  Numbers order = NnablaNodes::OrderOf(rank + 1);
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  n.Out(0, n.Transpose(y, order));
}

// Numbers as the result's type has them.
Tensor Typed(const NnablaExportCall& n, const std::vector<double>& values) {
  return FromVector(values).To(n.out_dtype(0)).To(DType::kF64);
}
FIRN_NNABLA_EXPORT(full) {
  const double value = n.Real("value") + static_cast<double>(n.Int("value_rest"));
  n.Out(0, n.Broadcast(n.Number(Typed(n, {value}).ToVector<double>()[0]), n.out_sizes(0)));
}
FIRN_NNABLA_EXPORT(arange) {
  std::vector<double> values;
  const bool real = IsFloating(n.out_dtype(0));
  for (int64_t i = 0; i < n.out_shape(0)[0]; ++i) {
    values.push_back(real ? n.Real("start") + static_cast<double>(i) * n.Real("step")
                          : static_cast<double>(n.Int("first") + i * n.Int("stride")));
  }
  n.Out(0, n.Constant(Typed(n, values)));
}
FIRN_NNABLA_EXPORT(linspace) {
  std::vector<double> values;
  const int64_t count = n.out_shape(0)[0];
  const double start = n.Real("start"), end = n.Real("end");
  for (int64_t i = 0; i < count; ++i) {
    const double part = count < 2 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(start * (1 - part) + end * part);
  }
  n.Out(0, n.Constant(Typed(n, values)));
}

}  // namespace
}  // namespace firn::io::internal
