// What the operations of tensor/ops/linear, conv, pool and vision are in ONNX.
#include <algorithm>
#include <numeric>

#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

V Turned(OnnxExportCall& n, const V& x, int rank) {
  if (rank < 2) return x;
  List order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return n.Transpose(x, order);
}
FIRN_ONNX_EXPORT(matmul) {
  const V a = n.Flag("transpose_a") ? Turned(n, n.in(0), n.rank(0)) : n.in(0);
  const V b = n.Flag("transpose_b") ? Turned(n, n.in(1), n.rank(1)) : n.in(1);
  // ONNX Runtime 1.32 takes a turned matrix before a vector for one that is not turned.
  if (n.rank(0) > 1 && n.rank(1) == 1) {
    return n.Out(0, n.Squeeze(n.Node("MatMul", {a, n.Unsqueeze(b, {1})}), {-1}));
  }
  n.Out(0, n.Node("MatMul", {a, b}));
}
FIRN_ONNX_EXPORT(linear) {
  if (n.rank(0) == 2 && IsFloating(n.dtype(0))) {
    return n.Out(0, n.Node("Gemm", {n.in(0), n.in(1), n.in(2)}, {{"transB", 1}}));
  }
  const V y = n.Node("MatMul", {n.in(0), Turned(n, n.in(1), 2)});
  n.Out(0, n.has(2) ? y + n.in(2) : y);
}

List Twice(List pads) {
  pads.insert(pads.end(), pads.begin(), pads.end());
  return pads;
}
size_t Spatial(const OnnxExportCall& n) { return static_cast<size_t>(n.rank(0)) - 2; }

V Conv(OnnxExportCall& n) {
  const size_t d = Spatial(n);
  return n.Node("Conv", {n.in(0), n.in(1), n.in(2)},
                {{"strides", n.Each("stride", d)},
                 {"pads", Twice(n.Each("padding", d))},
                 {"dilations", n.Each("dilation", d)},
                 {"group", n.Int("groups")}});
}
FIRN_ONNX_EXPORT(conv1d) { n.Out(0, Conv(n)); }
FIRN_ONNX_EXPORT(conv2d) { n.Out(0, Conv(n)); }
FIRN_ONNX_EXPORT(conv3d) { n.Out(0, Conv(n)); }
FIRN_ONNX_EXPORT(conv2d_act) {
  const V y = Conv(n);
  const std::string& activation = n.Word("activation");
  n.Out(0, activation == "none" ? y : n.Node(activation == "relu" ? "Relu" : "Tanh", {y}));
}

void ConvTranspose(OnnxExportCall& n) {
  const size_t d = Spatial(n);
  const List stride = n.Each("stride", d), padding = n.Each("padding", d),
             dilation = n.Each("dilation", d);
  List more;
  for (size_t i = 0; i < d; ++i) {
    const auto at = static_cast<int64_t>(i) + 2;
    const int64_t least =
        (n.size(0, at) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (n.size(1, at) - 1) + 1;
    more.push_back(n.Fixed({n.out_sizes(0)[i + 2]})[0] - least);
  }
  n.Out(0, n.Node("ConvTranspose", {n.in(0), n.in(1)},
                  {{"strides", stride},
                   {"pads", Twice(padding)},
                   {"dilations", dilation},
                   {"output_padding", more},
                   {"group", n.Int("groups")}}));
}
FIRN_ONNX_EXPORT(conv_transpose1d) { ConvTranspose(n); }
FIRN_ONNX_EXPORT(conv_transpose2d) { ConvTranspose(n); }
FIRN_ONNX_EXPORT(conv_transpose3d) { ConvTranspose(n); }

// The gradient of weights is a convolution of images whose channels are their batch, where strides
// and dilations change places.
void WeightGrad(OnnxExportCall& n) {
  if (n.Int("groups") != 1) return n.Refuse("with groups");
  const size_t d = Spatial(n);
  List order(d + 2);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  V w = n.Node("Conv", {n.Transpose(n.in(0), order), n.Transpose(n.in(1), order)},
               {{"strides", n.Each("dilation", d)},
                {"pads", Twice(n.Each("padding", d))},
                {"dilations", n.Each("stride", d)}});
  w = n.Transpose(w, order);
  for (size_t i = 0; i < d; ++i) {
    w = n.Slice(w, static_cast<int64_t>(i) + 2, 0, n.out_shape(0)[i + 2]);
  }
  n.Out(0, w);
}
FIRN_ONNX_EXPORT(conv1d_weight_grad) { WeightGrad(n); }
FIRN_ONNX_EXPORT(conv2d_weight_grad) { WeightGrad(n); }
FIRN_ONNX_EXPORT(conv3d_weight_grad) { WeightGrad(n); }

FIRN_ONNX_EXPORT(channel_affine) {
  List sizes(static_cast<size_t>(std::max(n.rank(0) - 1, 1)), 1);
  V y = n.in(0);
  for (size_t i = 1; i <= 2; ++i) {
    if (!n.has(i)) continue;
    sizes[0] = n.size(i, 0);
    const V each = n.Reshape(n.in(i, n.dtype(0)), sizes);
    y = i == 1 ? y * each : y + each;
  }
  n.Out(0, y);
}

bool Adaptive(const OnnxExportCall& n) {
  const List& sizes = n.List("adaptive");
  return std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s != 0; });
}
// A window of one dimension: begin, begin + step, ..., of which those in [0, size) count.
struct Line {
  int64_t begin, count, step;
  double weight;  // of each element
};
// Means over windows dimension by dimension: products with matrices [size, windows].
template <class F>
void MeansByProducts(OnnxExportCall& n, F window) {
  const size_t d = Spatial(n);
  V y = n.in(0);
  for (size_t i = 0; i < d; ++i) {
    const int64_t in = n.size(0, static_cast<int64_t>(i) + 2), out = n.out_shape(0)[i + 2];
    std::vector<double> part(static_cast<size_t>(in * out), 0);
    bool same = in == out;
    for (int64_t o = 0; o < out; ++o) {
      const Line line = window(i, in, o);
      same &= line.begin == o && line.count == 1 && line.weight == 1;
      for (int64_t k = 0; k < line.count; ++k) {
        const int64_t at = line.begin + k * line.step;
        if (at >= 0 && at < in) part[static_cast<size_t>(at * out + o)] = line.weight;
      }
    }
    if (same) continue;
    List order(d + 2);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[i + 2], order.back());
    const V weights = n.Constant(FromVector(part, Shape({in, out})).To(n.dtype(0)));
    y = n.Transpose(n.Node("MatMul", {n.Transpose(y, order), weights}), order);
  }
  n.Out(0, y);
}
void AdaptiveMean(OnnxExportCall& n) {
  const List result = n.Each("adaptive", Spatial(n));
  if (std::all_of(result.begin(), result.end(), [](int64_t s) { return s == 1; }) &&
      n.dtype(0) != DType::kF64) {
    return n.Out(0, n.Node("GlobalAveragePool", {n.in(0)}));
  }
  MeansByProducts(n, [&](size_t i, int64_t in, int64_t o) {
    const int64_t begin = o * in / result[i], end = ((o + 1) * in + result[i] - 1) / result[i];
    return Line{begin, end - begin, 1, 1.0 / static_cast<double>(end - begin)};
  });
}
// What runtimes have no AveragePool for: f64.
void MeanByProducts(OnnxExportCall& n) {
  const size_t d = Spatial(n);
  const List kernel = n.Each("kernel", d), stride = n.Each("stride", d),
             padding = n.Each("padding", d), dilation = n.Each("dilation", d);
  const int64_t divisor = n.Int("divisor_override");
  const bool padded = n.Flag("count_include_pad");
  MeansByProducts(n, [&](size_t i, int64_t in, int64_t o) {
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
  });
}
bool Dilated(const OnnxExportCall& n) {
  const List& dilation = n.List("dilation");
  return std::any_of(dilation.begin(), dilation.end(), [](int64_t d) { return d != 1; });
}
OnnxNodes::Attributes Windows(OnnxExportCall& n) {
  const size_t d = Spatial(n);
  OnnxNodes::Attributes attributes = {{"kernel_shape", n.Each("kernel", d)},
                                      {"strides", n.Each("stride", d)},
                                      {"pads", Twice(n.Each("padding", d))},
                                      {"ceil_mode", n.Flag("ceil_mode")}};
  const List dilation = n.Each("dilation", d), stride = n.Each("stride", d);
  if (Dilated(n)) attributes.emplace_back("dilations", dilation);
  for (size_t i = 0; n.Flag("ceil_mode") && i < d; ++i) {
    // Older operators have windows that begin behind the image, too.
    const int64_t room = n.size(0, static_cast<int64_t>(i) + 2) + 2 * n.Each("padding", d)[i] -
                         dilation[i] * (n.Each("kernel", d)[i] - 1) - 1;
    const int64_t windows = (room + stride[i] - 1) / stride[i] + 1;
    if (windows != n.Fixed({n.out_sizes(0)[i + 2]})[0]) n.NeedsOpset(22);
  }
  return attributes;
}
void AveragePool(OnnxExportCall& n) {
  if (Adaptive(n)) return AdaptiveMean(n);
  if (n.dtype(0) == DType::kF64) return MeanByProducts(n);
  const List kernel = n.Each("kernel", Spatial(n));
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
    const size_t d = Spatial(n);
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
  const OnnxSizes in = n.sizes(0), out = n.out_sizes(0);
  const auto flat = [](const OnnxSizes& sizes) {
    OnnxSizes three = {sizes[0], sizes[1], {1, 1}};
    for (size_t i = 2; i < sizes.size(); ++i) {
      three[2].now *= sizes[i].now;
      three[2].other *= sizes[i].other;
    }
    return three;
  };
  const V zeros = n.ExpandTo(n.Number(0, n.dtype(0)), flat(out));
  OnnxNodes::Attributes attributes = {{"axis", 2}};
  if (add) attributes.emplace_back("reduction", "add");
  const V y =
      n.Node("ScatterElements",
             {zeros, n.ReshapeTo(n.in(1, DType::kI64), flat(in)), n.ReshapeTo(n.in(0), flat(in))},
             attributes);
  n.Out(0, n.ReshapeTo(y, out));
}
FIRN_ONNX_EXPORT(max_pool1d_grad) { Scattered(n, true); }
FIRN_ONNX_EXPORT(max_pool2d_grad) { Scattered(n, true); }
FIRN_ONNX_EXPORT(max_pool3d_grad) { Scattered(n, true); }
FIRN_ONNX_EXPORT(max_unpool2d) { Scattered(n, false); }

FIRN_ONNX_EXPORT(grid_sample) {
  n.NeedsOpset(16);
  if (n.Flag("pixels")) return n.Refuse("with places in pixels");
  const std::string& mode = n.Word("mode");
  const bool words = n.opset() >= 20;
  n.Out(0, n.Node("GridSample", {n.in(0), n.in(1)},
                  {{"mode", words && mode == "bilinear"  ? "linear"
                            : words && mode == "bicubic" ? "cubic"
                                                         : mode.c_str()},
                   {"padding_mode", n.Word("padding")},
                   {"align_corners", n.Flag("align_corners")}}));
}
FIRN_ONNX_EXPORT(unfold) {
  if (n.rank(0) != 4) return n.Refuse("of anything but [n, c, height, width]");
  const size_t d = 2;
  const List kernel = n.Each("kernel", d), dilation = n.Each("dilation", d),
             padding = n.Each("padding", d), stride = n.Each("stride", d);
  const int64_t height = n.size(0, 2) + 2 * padding[0], width = n.size(0, 3) + 2 * padding[1];
  List pads = {0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]}, from;
  for (int64_t i = 0; i < kernel[0]; ++i) {
    for (int64_t j = 0; j < kernel[1]; ++j) {
      for (int64_t y = i * dilation[0]; y + (kernel[0] - 1 - i) * dilation[0] < height;
           y += stride[0]) {
        for (int64_t x = j * dilation[1]; x + (kernel[1] - 1 - j) * dilation[1] < width;
             x += stride[1]) {
          from.push_back(y * width + x);
        }
      }
    }
  }
  OnnxSizes flat = n.sizes(0);
  flat.resize(3);
  flat[2] = {height * width, height * width};
  const V x = n.ReshapeTo(n.Node("Pad", {n.in(0), n.Ints(pads)}), flat);
  n.Out(0, n.ReshapeTo(n.Node("Gather", {x, n.Ints(from)}, {{"axis", 2}}), n.out_sizes(0)));
}
FIRN_ONNX_EXPORT(fold) {
  n.NeedsOpset(18);
  const auto d = static_cast<size_t>(n.out_rank(0)) - 2;
  n.Out(0,
        n.Node("Col2Im", {n.in(0), n.Ints(n.Each("output_size", d)), n.Ints(n.Each("kernel", d))},
               {{"dilations", n.Each("dilation", d)},
                {"pads", Twice(n.Each("padding", d))},
                {"strides", n.Each("stride", d)}}));
}

}  // namespace
}  // namespace firn::io::internal
