// ONNX's forms of the operations in tensor/ops/pool, and of their gradients.
#include <algorithm>
#include <functional>

#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

bool Adaptive(const OnnxExportCall& n) {
  const List& sizes = n.List("adaptive");
  return std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s != 0; });
}
// A window of one dimension: begin, begin + step, ..., of which those in [0, size) count.
struct Line {
  int64_t begin, count, step;
  double weight;  // of each element
};
// The window that gives mean o of a line of `in` elements.
using WindowOf = std::function<Line(size_t dim, int64_t in, int64_t o)>;
Tensor Shares(const WindowOf& window, size_t dim, int64_t in, int64_t out) {
  std::vector<double> part(static_cast<size_t>(in * out), 0);
  for (int64_t o = 0; o < out; ++o) {
    const Line line = window(dim, in, o);
    for (int64_t k = 0; k < line.count; ++k) {
      const int64_t at = line.begin + k * line.step;
      if (at >= 0 && at < in) part[static_cast<size_t>(at * out + o)] = line.weight;
    }
  }
  return FromVector(part, Shape({in, out}));
}
// Means over windows, dimension by dimension: products with matrices [size, windows]. Gradients are
// products with the transposed matrices.
void MeansByProducts(OnnxExportCall& n, const WindowOf& window, bool grad) {
  V y = n.in(0);
  for (size_t i = 0; i < SpatialDims(n); ++i) {
    const int64_t given = n.size(0, static_cast<int64_t>(i) + 2), made = n.out_shape(0)[i + 2];
    const int64_t in = grad ? made : given, out = grad ? given : made;
    const Tensor shares = Shares(window, i, in, out);
    if (in == out && Allclose(shares, Eye(in).To(DType::kF64), {.rtol = 0, .atol = 0})) continue;
    const V weights = n.Constant(Contiguous(grad ? Transpose(shares, 0, 1) : shares).To(y.dtype));
    y = AlongDim(y, n.rank(0), static_cast<int64_t>(i) + 2, weights);
  }
  n.Out(0, y);
}
WindowOf AdaptiveWindows(OnnxExportCall& n) {
  return [result = n.Each("adaptive", SpatialDims(n))](size_t i, int64_t in, int64_t o) {
    const int64_t begin = o * in / result[i], end = ((o + 1) * in + result[i] - 1) / result[i];
    return Line{begin, end - begin, 1, 1.0 / static_cast<double>(end - begin)};
  };
}
WindowOf FixedWindows(OnnxExportCall& n) {
  const size_t d = SpatialDims(n);
  return
      [kernel = n.Each("kernel", d), stride = n.Each("stride", d), padding = n.Each("padding", d),
       dilation = n.Each("dilation", d), divisor = n.Int("divisor_override"),
       padded = n.Flag("count_include_pad")](size_t i, int64_t in, int64_t o) {
        Line line{o * stride[i] - padding[i], kernel[i], dilation[i], 1};
        int64_t counted = 0;
        for (int64_t k = 0; k < line.count; ++k) {
          const int64_t at = line.begin + k * line.step;
          counted += padded ? at < in + padding[i] : at >= 0 && at < in;
        }
        line.weight = divisor == 0 ? 1.0 / static_cast<double>(counted)
                      : i == 0     ? 1.0 / static_cast<double>(divisor)
                                   : 1.0;
        return line;
      };
}
void AveragePoolGrad(OnnxExportCall& n) {
  MeansByProducts(n, Adaptive(n) ? AdaptiveWindows(n) : FixedWindows(n), true);
}
FIRN_ONNX_EXPORT(avg_pool1d_grad) { AveragePoolGrad(n); }
FIRN_ONNX_EXPORT(avg_pool2d_grad) { AveragePoolGrad(n); }
FIRN_ONNX_EXPORT(avg_pool3d_grad) { AveragePoolGrad(n); }

void AdaptiveMean(OnnxExportCall& n) {
  const List result = n.Each("adaptive", SpatialDims(n));
  if (std::all_of(result.begin(), result.end(), [](int64_t s) { return s == 1; }) &&
      n.dtype(0) != DType::kF64) {
    return n.Out(0, n.Node("GlobalAveragePool", {n.in(0)}));
  }
  MeansByProducts(n, AdaptiveWindows(n), false);
}
bool Dilated(const OnnxExportCall& n) {
  const List& dilation = n.List("dilation");
  return std::any_of(dilation.begin(), dilation.end(), [](int64_t d) { return d != 1; });
}
OnnxNodes::Attributes Windows(OnnxExportCall& n) {
  const size_t d = SpatialDims(n);
  OnnxNodes::Attributes attributes = {{"kernel_shape", n.Each("kernel", d)},
                                      {"strides", n.Each("stride", d)},
                                      {"pads", Twice(n.Each("padding", d))},
                                      {"ceil_mode", n.Flag("ceil_mode")}};
  const List dilation = n.Each("dilation", d), stride = n.Each("stride", d);
  if (Dilated(n)) attributes.emplace_back("dilations", dilation);
  for (size_t i = 0; n.Flag("ceil_mode") && i < d; ++i) {
    // Older operators also count windows that begin behind the image.
    const int64_t room = n.size(0, static_cast<int64_t>(i) + 2) + 2 * n.Each("padding", d)[i] -
                         dilation[i] * (n.Each("kernel", d)[i] - 1) - 1;
    const int64_t windows = (room + stride[i] - 1) / stride[i] + 1;
    if (windows != n.Fixed({n.out_sizes(0)[i + 2]})[0]) n.NeedsOpset(22);
  }
  return attributes;
}
void AveragePool(OnnxExportCall& n) {
  if (Adaptive(n)) return AdaptiveMean(n);
  if (n.dtype(0) == DType::kF64) {  // runtimes have no AveragePool of it
    return MeansByProducts(n, FixedWindows(n), false);
  }
  const List kernel = n.Each("kernel", SpatialDims(n));
  if (Dilated(n)) n.NeedsOpset(19);
  const int64_t divisor = n.Int("divisor_override");
  OnnxNodes::Attributes attributes = Windows(n);
  attributes.emplace_back("count_include_pad", divisor != 0 || n.Flag("count_include_pad"));
  V y = n.Node("AveragePool", {n.in(0)}, attributes);
  if (divisor != 0) {
    if (n.Flag("ceil_mode")) n.Refuse("with a divisor and ceil_mode");
    double volume = 1;
    for (const int64_t k : kernel) volume *= static_cast<double>(k);
    y = y * (volume / static_cast<double>(divisor));
  }
  n.Out(0, y);
}
FIRN_ONNX_EXPORT(avg_pool1d) { AveragePool(n); }
FIRN_ONNX_EXPORT(avg_pool2d) { AveragePool(n); }
FIRN_ONNX_EXPORT(avg_pool3d) { AveragePool(n); }

// Positions in ONNX count over the whole tensor, here over one channel of one image.
void MaxPool(OnnxExportCall& n) {
  OnnxNodes::Attributes attributes;
  if (Adaptive(n)) {
    const size_t d = SpatialDims(n);
    const List result = n.Each("adaptive", d);
    List kernel;
    for (size_t i = 0; i < d; ++i) {
      const int64_t in = n.size(0, static_cast<int64_t>(i) + 2);
      if (in % result[i] != 0) return n.Refuse("with windows of several sizes");
      kernel.push_back(in / result[i]);
    }
    attributes = {{"kernel_shape", kernel}, {"strides", kernel}};
  } else {
    attributes = Windows(n);
  }
  const auto found = n.NodeOf("MaxPool", {n.in(0)}, {n.dtype(0), DType::kI64}, attributes);
  n.Out(0, found[0]);
  if (!n.wants(1)) return;
  int64_t channel = 1;
  for (int d = 2; d < n.rank(0); ++d) channel *= n.size(0, d);
  n.Out(1, n.Node("Mod", {found[1], n.Integer(channel)}));
}
FIRN_ONNX_EXPORT(max_pool1d) { MaxPool(n); }
FIRN_ONNX_EXPORT(max_pool2d) { MaxPool(n); }
FIRN_ONNX_EXPORT(max_pool3d) { MaxPool(n); }

// [n, c, pooled...] to its places in [n, c, image...].
void Scattered(OnnxExportCall& n, bool add) {
  if (add) n.NeedsOpset(16);
  const OnnxSizes in = FlatImages(n.sizes(0)), out = n.out_sizes(0);
  const V zeros = n.ExpandTo(n.Number(0, n.dtype(0)), FlatImages(out));
  OnnxNodes::Attributes attributes = {{"axis", 2}};
  if (add) attributes.emplace_back("reduction", "add");
  const V y =
      n.Node("ScatterElements",
             {zeros, n.ReshapeTo(n.in(1, DType::kI64), in), n.ReshapeTo(n.in(0), in)}, attributes);
  n.Out(0, n.ReshapeTo(y, out));
}
FIRN_ONNX_EXPORT(max_pool1d_grad) { Scattered(n, true); }
FIRN_ONNX_EXPORT(max_pool2d_grad) { Scattered(n, true); }
FIRN_ONNX_EXPORT(max_pool3d_grad) { Scattered(n, true); }
FIRN_ONNX_EXPORT(max_unpool2d) { Scattered(n, false); }

void GatheredFromImage(OnnxExportCall& n) {
  const V image = n.ReshapeTo(n.in(0), FlatImages(n.sizes(0)));
  const V at = n.ReshapeTo(n.in(1, DType::kI64), FlatImages(n.sizes(1)));
  n.Out(0, n.ReshapeTo(n.Node("GatherElements", {image, at}, {{"axis", 2}}), n.out_sizes(0)));
}
FIRN_ONNX_EXPORT(max_pool1d_gather) { GatheredFromImage(n); }
FIRN_ONNX_EXPORT(max_pool2d_gather) { GatheredFromImage(n); }
FIRN_ONNX_EXPORT(max_pool3d_gather) { GatheredFromImage(n); }

}  // namespace
}  // namespace firn::io::internal
