// ONNX's forms of the operations in tensor/ops/linear, conv and vision.
#include <algorithm>

#include "firn/io/captured/captured_places.h"
#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

FIRN_ONNX_EXPORT(matmul) {
  const V a = n.Flag("transpose_a") ? LastTwoTurned(n.in(0), n.rank(0)) : n.in(0);
  const V b = n.Flag("transpose_b") ? LastTwoTurned(n.in(1), n.rank(1)) : n.in(1);
  // ONNX Runtime 1.32 ignores that a matrix in front of a vector is transposed.
  if (n.rank(0) > 1 && n.rank(1) == 1) {
    return n.Out(0, n.Squeeze(n.Node("MatMul", {a, n.Unsqueeze(b, {1})}), {-1}));
  }
  n.Out(0, n.Node("MatMul", {a, b}));
}
FIRN_ONNX_EXPORT(linear) {
  if (n.rank(0) == 2 && IsFloating(n.dtype(0))) {
    return n.Out(0, n.Node("Gemm", {n.in(0), n.in(1), n.in(2)}, {{"transB", 1}}));
  }
  // Gemm adds the bias where Linear does, so that a file that is read again gives the same bits.
  if (IsFloating(n.dtype(0)) && n.has(2)) {
    const V rows = n.Reshape(n.in(0), {-1, n.size(1, 1)});
    return n.Out(
        0, n.ReshapeTo(n.Node("Gemm", {rows, n.in(1), n.in(2)}, {{"transB", 1}}), n.out_sizes(0)));
  }
  const V y = n.Node("MatMul", {n.in(0), LastTwoTurned(n.in(1), 2)});
  n.Out(0, n.has(2) ? y + n.in(2) : y);
}

V Conv(OnnxExportCall& n) {
  const size_t d = SpatialDims(n);
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
  const size_t d = SpatialDims(n);
  n.Out(0, n.Node("ConvTranspose", {n.in(0), n.in(1)},
                  {{"strides", n.Each("stride", d)},
                   {"pads", Twice(n.Each("padding", d))},
                   {"dilations", n.Each("dilation", d)},
                   {"output_padding", OutputPaddingOf(n)},
                   {"group", n.Int("groups")}}));
}
FIRN_ONNX_EXPORT(conv_transpose1d) { ConvTranspose(n); }
FIRN_ONNX_EXPORT(conv_transpose2d) { ConvTranspose(n); }
FIRN_ONNX_EXPORT(conv_transpose3d) { ConvTranspose(n); }

// The gradient of weights is a convolution of images whose channels are their batch, where strides
// and dilations change places. With groups, each group has the batch as its channels.
void WeightGrad(OnnxExportCall& n) {
  const int64_t groups = n.Int("groups"), channels = n.size(0, 1) / groups;
  const size_t d = SpatialDims(n);
  List turned = Counted(static_cast<int>(d) + 2);
  std::swap(turned[0], turned[1]);
  V x = n.in(0);
  if (groups > 1) {
    OnnxSizes apart = n.sizes(0), together = apart;
    apart[1] = {channels, channels};
    apart.insert(apart.begin() + 1, {groups, groups});
    List order = Counted(static_cast<int>(d) + 3);
    std::swap(order[0], order[2]);
    together[0] = {channels, channels};
    together[1] = {groups * n.sizes(0)[0].now, groups * n.sizes(0)[0].other};
    x = n.ReshapeTo(n.Transpose(n.ReshapeTo(x, apart), order), together);
  } else {
    x = n.Transpose(x, turned);
  }
  V w = n.Node("Conv", {x, n.Transpose(n.in(1), turned)},
               {{"strides", n.Each("dilation", d)},
                {"pads", Twice(n.Each("padding", d))},
                {"dilations", n.Each("stride", d)},
                {"group", groups}});
  w = n.Transpose(w, turned);
  for (size_t i = 0; i < d; ++i) {
    w = n.Slice(w, static_cast<int64_t>(i) + 2, 0, n.out_shape(0)[i + 2]);
  }
  n.Out(0, w);
}
FIRN_ONNX_EXPORT(conv1d_weight_grad) { WeightGrad(n); }
FIRN_ONNX_EXPORT(conv2d_weight_grad) { WeightGrad(n); }
FIRN_ONNX_EXPORT(conv3d_weight_grad) { WeightGrad(n); }

// With a scale and a shift the operation rounds once. A product and a sum round twice, but a batch
// normalisation by mean 0 and variance 1 rounds once too. Its number of channels is fixed, so it is
// not used if that number follows the batch.
bool RoundsOnce(OnnxExportCall& n) {
  if (n.rank(0) < 2 || !n.has(1) || !n.has(2)) return false;
  return !n.sizes(1)[0].batch() && n.dtype(1) == n.dtype(0) && n.dtype(2) == n.dtype(0);
}
FIRN_ONNX_EXPORT(channel_affine) {
  if (RoundsOnce(n)) {
    const auto all = [&](double number) {
      return n.Constant(Full({n.size(1, 0)}, number, n.dtype(0)));
    };
    return n.Out(0, n.Node("BatchNormalization", {n.in(0), n.in(1), n.in(2), all(0), all(1)},
                           {{"epsilon", 0.0}}));
  }
  // The number of channels may follow the batch.
  OnnxSizes sizes(static_cast<size_t>(std::max(n.rank(0) - 1, 1)), OnnxSize{1, 1});
  V y = n.in(0);
  for (size_t i = 1; i <= 2; ++i) {
    if (!n.has(i)) continue;
    sizes[0] = n.sizes(i)[0];
    const V each = n.ReshapeTo(n.in(i, n.dtype(0)), sizes);
    y = i == 1 ? y * each : y + each;
  }
  n.Out(0, y);
}

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
  const CapturedWindows w = WindowsOf(n, n.size(0, 2), n.size(0, 3));
  const List &p = w.padding, pads = {0, 0, p[0], p[1], 0, 0, p[0], p[1]};
  OnnxSizes flat = n.sizes(0);
  flat.resize(3);
  flat[2] = {w.height * w.width, w.height * w.width};
  const V x = n.ReshapeTo(n.Node("Pad", {n.in(0), n.Ints(pads)}), flat);
  n.Out(0, n.ReshapeTo(n.Node("Gather", {x, n.Ints(w.from)}, {{"axis", 2}}), n.out_sizes(0)));
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
