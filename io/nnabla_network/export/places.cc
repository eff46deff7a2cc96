// NNabla's forms of operations that take elements from places or put them there: those in
// tensor/ops/index, and on images.
//
// A place is a number in all elements of x in their order: a list of such places serves as indices
// of NNabla's Gather, and of ScatterNd, which puts elements into a tensor of zeros.
#include <algorithm>
#include <functional>
#include <numeric>

#include "firn/io/captured/captured_places.h"
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

int64_t Product(const Numbers& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}
// Whether places in so many elements are integers of f32.
bool Counts(NnablaExportCall& n, int64_t elements) {
  if (elements <= int64_t{1} << 24) return true;
  n.Refuse("of more than 2^24 elements, whose places f32 does not hold");
  return false;
}
int64_t StrideOf(const Numbers& sizes, size_t dim) {
  return Product(Numbers(sizes.begin() + static_cast<int64_t>(dim) + 1, sizes.end()));
}
V FromFront(NnablaExportCall& n, const V& places, int64_t size) {
  return places + n.Binary("Less", places, 0) * static_cast<double>(size);
}
V At(NnablaExportCall& n, const V& x, int64_t count, const V& places) {
  return n.Node("Gather", {n.Reshape(x, Numbers{count}), places}, {{"axis", 0}, {"batch_dims", 0}},
                places.sizes);
}
// `count` elements: `values` at the places, 0 elsewhere. Among several at one place the last stays,
// or with `add` their sum.
V Put(NnablaExportCall& n, int64_t count, const V& places, const V& values, bool add) {
  const int64_t size = Product(n.Fixed(places.sizes));
  return n.Node("ScatterNd",
                {n.Reshape(values, Numbers{size}), n.Reshape(places, Numbers{1, size})},
                {{"shape", Numbers{count}}, {"add", add}}, NnablaNodes::Of({count}));
}
// x with values at the places in place of its own.
V Replaced(NnablaExportCall& n, const V& x, const V& places, const V& values) {
  const Numbers sizes = n.Fixed(x.sizes);
  const int64_t count = Product(sizes);
  const V ones = n.Constant(Ones(Shape(n.Fixed(places.sizes))));
  const V is_there = Put(n, count, places, ones, false);
  return n.Reshape(
      n.Where(is_there, Put(n, count, places, values, false), n.Reshape(x, Numbers{count})), sizes);
}

// The elements of x at `index` along `dim`; each index keeps its own place in the other dimensions.
V Along(NnablaExportCall& n, size_t dim, const Numbers& index) {
  const Numbers x = n.shape(0);
  Numbers own = {0};
  for (size_t d = 0; d < x.size(); ++d) {
    const int64_t stride = d == dim ? 0 : StrideOf(x, d);
    Numbers next;
    for (const int64_t place : own) {
      for (int64_t i = 0; i < index[d]; ++i) next.push_back(place + i * stride);
    }
    own = std::move(next);
  }
  return FromFront(n, n.in(1), x[dim]) * static_cast<double>(StrideOf(x, dim)) +
         n.Reshape(n.Ints(own), index);
}
FIRN_NNABLA_EXPORT(gather) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  const int64_t count = Product(n.shape(0));
  if (!Counts(n, count)) return;
  const auto dim = static_cast<size_t>(n.Dim("dim", n.rank(0)));
  n.Out(0, At(n, n.in(0), count, Along(n, dim, n.shape(1))));
}
FIRN_NNABLA_EXPORT(scatter) {
  if (n.rank(0) == 0) return n.Refuse("of a number without dimensions");
  const Numbers index = n.shape(1);
  if (!Counts(n, Product(n.shape(0)))) return;
  if (Product(index) == 0) return n.Out(0, n.in(0));
  V source = n.in(2);
  for (int d = 0; d < n.rank(2); ++d) source = n.Slice(source, d, 0, index[static_cast<size_t>(d)]);
  const V places = Along(n, static_cast<size_t>(n.Dim("dim", n.rank(0))), index);
  n.Out(0, Replaced(n, n.in(0), places, source));
}

// Indices of several dimensions, those of the call from input `first` on.
struct Indexed {
  V places;      // of the shape of the indices, then the other dimensions of x
  Numbers back;  // that brings these into the result's order
};
Indexed IndexedBy(NnablaExportCall& n, size_t first) {
  const Numbers x = n.shape(0), dims = n.Dims("dims", n.rank(0));
  Indexed indexed;
  V places = n.Number(0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = static_cast<size_t>(dims[i]);
    places = places + FromFront(n, n.in(first + i), x[d]) * static_cast<double>(StrideOf(x, d));
  }
  const auto shared = static_cast<int64_t>(places.rank());
  Numbers own = {0}, others, sizes = n.Fixed(places.sizes);
  for (size_t d = 0; d < x.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end()) continue;
    others.push_back(x[d]);
    Numbers next;
    for (const int64_t place : own) {
      for (int64_t k = 0; k < x[d]; ++k) next.push_back(place + k * StrideOf(x, d));
    }
    own = std::move(next);
  }
  sizes.insert(sizes.end(), others.size(), 1);
  indexed.places = n.Reshape(places, sizes) + n.Reshape(n.Ints(own), others);
  // The dimensions of the indices stand where they were if they were neighbours, else in front.
  bool neighbours = true;
  for (size_t i = 1; i < dims.size(); ++i) neighbours &= dims[i] == dims[i - 1] + 1;
  indexed.back = NnablaNodes::OrderOf(indexed.places.rank());
  if (neighbours && !dims.empty()) {
    std::rotate(indexed.back.begin(), indexed.back.begin() + shared,
                indexed.back.begin() + shared + dims[0]);
  }
  return indexed;
}
FIRN_NNABLA_EXPORT(index) {
  const Numbers dims = n.Dims("dims", n.rank(0));
  if (dims.size() == 1) {
    const V at = FromFront(n, n.in(1), n.size(0, dims[0]));
    return n.Out(
        0, n.Node("Gather", {n.in(0), at}, {{"axis", dims[0]}, {"batch_dims", 0}}, n.out_sizes(0)));
  }
  const int64_t count = Product(n.shape(0));
  if (!Counts(n, count)) return;
  const Indexed indexed = IndexedBy(n, 1);
  n.Out(0, n.Transpose(At(n, n.in(0), count, indexed.places), indexed.back));
}
V PutInto(NnablaExportCall& n, bool add) {
  const Numbers x = n.shape(0);
  const int64_t count = Product(x);
  if (!Counts(n, count)) return n.in(0);
  const Indexed indexed = IndexedBy(n, 2);
  CapturedSizes wanted;
  Numbers front(indexed.back.size());
  for (size_t d = 0; d < indexed.back.size(); ++d) {
    wanted.push_back(indexed.places.sizes[static_cast<size_t>(indexed.back[d])]);
    front[static_cast<size_t>(indexed.back[d])] = static_cast<int64_t>(d);
  }
  if (Product(n.Fixed(wanted)) == 0) return n.in(0);
  const V values = n.Transpose(n.Broadcast(n.in(1), wanted), front);
  if (!add) return Replaced(n, n.in(0), indexed.places, values);
  return n.in(0) + n.Reshape(Put(n, count, indexed.places, values, true), x);
}
FIRN_NNABLA_EXPORT(index_put) { n.Out(0, PutInto(n, n.Flag("accumulate"))); }
FIRN_NNABLA_EXPORT(index_write) { n.Write(0, PutInto(n, false)); }

// --- Images -------------------------------------------------------------------------------------

// [n, c, pooled...] at its positions in [n, c, image...].
FIRN_NNABLA_EXPORT(max_unpool2d) {
  const Numbers image = n.out_shape(0), pooled = n.shape(0);
  const int64_t count = Product(image);
  if (!Counts(n, count)) return;
  const int64_t each = StrideOf(image, 1);
  Numbers own;
  for (int64_t i = 0; i < image[0] * image[1]; ++i) own.push_back(i * each);
  const V places = n.in(1) + n.Reshape(n.Ints(own), Numbers{image[0], image[1], 1, 1});
  n.Out(0, n.Reshape(Put(n, count, places, n.in(0), false), image));
}

FIRN_NNABLA_EXPORT(unfold) {
  if (n.rank(0) != 4) return n.Refuse("of anything but [n, c, height, width]");
  const CapturedWindows w = WindowsOf(n, n.size(0, 2), n.size(0, 3));
  const Numbers &p = w.padding, ends = {0, 0, 0, 0, p[0], p[0], p[1], p[1]};
  CapturedSizes padded = n.sizes(0);
  padded[2] = {w.height, w.height};
  padded[3] = {w.width, w.width};
  const V image =
      n.Node("Pad", {n.in(0)}, {{"pad_width", ends}, {"mode", "constant"}, {"constant_value", 0.0}},
             padded);
  padded.resize(3);
  padded[2] = {w.height * w.width, w.height * w.width};
  n.Out(0, n.Reshape(n.Gather(n.Reshape(image, padded), 2, w.from), n.out_sizes(0)));
}
FIRN_NNABLA_EXPORT(fold) {
  if (n.out_rank(0) != 4) return n.Refuse("to anything but [n, c, height, width]");
  const Numbers image = n.out_shape(0);
  const CapturedWindows w = WindowsOf(n, image[2], image[3]);
  const auto count = static_cast<int64_t>(w.from.size());
  const Numbers flat = {image[0], image[1], count};
  const V zeros =
      n.Broadcast(n.Number(0), NnablaNodes::Of({image[0], image[1], w.height * w.width}));
  const V index =
      n.Broadcast(n.Reshape(n.Ints(w.from), Numbers{1, 1, count}), NnablaNodes::Of(flat));
  const V sums = n.Node("ScatterAdd", {zeros, index, n.Reshape(n.in(0), flat)}, {{"axis", 2}});
  V y = n.Reshape(sums, Numbers{image[0], image[1], w.height, w.width});
  for (int64_t d = 0; d < 2; ++d) {
    const int64_t begin = w.padding[static_cast<size_t>(d)];
    y = n.Slice(y, 2 + d, begin, begin + image[static_cast<size_t>(2 + d)]);
  }
  n.Out(0, y);
}

// Boxes [n, 5] as NNabla takes them, moved by half an element and scaled. Boxes of images that do
// not exist, infinite boxes and, if the number of samples depends on their size, inverted boxes
// give 0 in Firn.
FIRN_NNABLA_EXPORT(roi_align) {
  const double scale = n.Real("spatial_scale");
  const V image = n.Node("Floor", {n.Slice(n.in(1), 1, 0, 1)});
  V inside = n.Binary("LogicalAnd", n.Binary("GreaterEqual", image, 0),
                      n.Binary("Less", image, static_cast<double>(n.size(0, 0))));
  V corners = n.Slice(n.in(1), 1, 1, 5) * scale;
  const V finite = n.Binary("Less", n.Node("Abs", {corners}), 0x1p60);
  corners = n.Where(finite, corners, n.Number(0));
  inside = inside * n.Reduce("Min", finite, {1}, true);
  V begin = n.Slice(corners, 1, 0, 2), size = n.Slice(corners, 1, 2, 4) - begin;
  if (!n.Flag("aligned")) {
    begin = begin + 0.5;
    size = n.Binary("Maximum2", size, 1);
  } else if (n.Int("sampling_ratio") <= 0) {
    inside = inside * n.Reduce("Min", n.Binary("Greater", size, 0), {1}, true);
  }
  corners = n.Concat({begin, begin + size}, 1);
  const V y = n.Node("RoiAlign", {n.in(0), n.Concat({image * inside, corners}, 1)},
                     {{"output_size", n.Each("output_size", 2)},
                      {"spatial_scale", Numbers{1, 1}},
                      {"sampling_ratio", n.Int("sampling_ratio")}},
                     n.out_sizes(0));
  n.Out(0, n.Where(n.Unsqueeze(inside, {2, 3}), y, n.Number(0)));
}
// NNabla's images have their channels last, and its shifts behind the places.
FIRN_NNABLA_EXPORT(patch_correlation) {
  const Numbers last = {0, 2, 3, 1}, padding = n.Each("padding", 2);
  CapturedSizes sizes;
  for (const size_t d : {0, 3, 4, 1, 2}) sizes.push_back(n.out_sizes(0)[d]);
  const V y = n.Node("PatchCorrelation", {n.Transpose(n.in(0), last), n.Transpose(n.in(1), last)},
                     {{"patch", n.Each("patch", 2)},
                      {"shift", n.Each("shift", 2)},
                      {"patch_step", n.Each("patch_step", 2)},
                      {"shift_step", n.Each("shift_step", 2)},
                      {"padding", Numbers{padding[0], padding[0], padding[1], padding[1]}}},
                     sizes);
  n.Out(0, n.Transpose(y, {0, 3, 4, 1, 2}));
}

}  // namespace
}  // namespace firn::io::internal
