// NNabla's forms of the operations in tensor/ops/linear, conv and pool.
#include <algorithm>

#include "firn/io/captured/captured_places.h"
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

FIRN_NNABLA_EXPORT(matmul) {
  const V a = n.Flag("transpose_a") && n.rank(0) > 1 ? n.Swapped(n.in(0)) : n.in(0);
  const V b = n.Flag("transpose_b") && n.rank(1) > 1 ? n.Swapped(n.in(1)) : n.in(1);
  n.Out(0, n.Matmul(a, b));
}
// NNabla's weights are [in, out].
FIRN_NNABLA_EXPORT(linear) {
  V x = n.in(0);
  if (x.rank() == 1) x = n.Unsqueeze(x, {0});
  CapturedSizes sizes = x.sizes;
  sizes.back() = n.out_sizes(0).back();
  n.Out(0,
        n.Node("Affine", {x, n.Swapped(n.in(1)), n.in(2)}, {{"base_axis", x.rank() - 1}}, sizes));
}

size_t Spatial(const NnablaExportCall& n) { return static_cast<size_t>(n.rank(0)) - 2; }

V Conv(NnablaExportCall& n) {
  const size_t d = Spatial(n);
  return n.Node("Convolution", {n.in(0), n.in(1), n.in(2)},
                {{"base_axis", 1},
                 {"pad", n.Each("padding", d)},
                 {"stride", n.Each("stride", d)},
                 {"dilation", n.Each("dilation", d)},
                 {"group", n.Int("groups")}},
                n.out_sizes(0));
}
FIRN_NNABLA_EXPORT(conv1d) { n.Out(0, Conv(n)); }
FIRN_NNABLA_EXPORT(conv2d) { n.Out(0, Conv(n)); }
FIRN_NNABLA_EXPORT(conv3d) { n.Out(0, Conv(n)); }
FIRN_NNABLA_EXPORT(conv2d_act) {
  const V y = Conv(n);
  const std::string& activation = n.Word("activation");
  n.Out(0, activation == "none" ? y : n.Node(activation == "relu" ? "ReLU" : "Tanh", {y}));
}
void ConvTranspose(NnablaExportCall& n) {
  const size_t d = Spatial(n);
  n.Out(0, n.Node("Deconvolution", {n.in(0), n.in(1)},
                  {{"base_axis", 1},
                   {"pad", n.Each("padding", d)},
                   {"stride", n.Each("stride", d)},
                   {"dilation", n.Each("dilation", d)},
                   {"group", n.Int("groups")},
                   {"output_padding", OutputPaddingOf(n)}},
                  n.out_sizes(0)));
}
FIRN_NNABLA_EXPORT(conv_transpose1d) { ConvTranspose(n); }
FIRN_NNABLA_EXPORT(conv_transpose2d) { ConvTranspose(n); }
FIRN_NNABLA_EXPORT(conv_transpose3d) { ConvTranspose(n); }

FIRN_NNABLA_EXPORT(channel_affine) {
  Numbers sizes(static_cast<size_t>(n.rank(0)), 1);
  V y = n.in(0);
  for (size_t i = 1; i <= 2; ++i) {
    if (!n.has(i)) continue;
    sizes[1] = n.size(i, 0);
    const V each = n.Reshape(n.in(i), sizes);
    y = i == 1 ? y * each : y + each;
  }
  n.Out(0, y);
}

// --- Pooling: of images and volumes, so lines are images of height 1 ----------------------------

struct Windows {
  Numbers kernel, stride, padding;
  bool border = true;  // whether windows that go beyond the end are left out
};
// An empty kernel in the result means that the call was refused.
Windows WindowsOf(NnablaExportCall& n, bool max) {
  const size_t d = Spatial(n);
  Windows w;
  const Numbers& adaptive = n.List("adaptive");
  if (std::any_of(adaptive.begin(), adaptive.end(), [](int64_t s) { return s != 0; })) {
    const Numbers result = n.Each("adaptive", d);
    for (size_t i = 0; i < d; ++i) {
      const int64_t in = n.size(0, static_cast<int64_t>(i) + 2);
      if (in % result[i] != 0) {
        n.Refuse("with windows of several sizes");
        return {};
      }
      w.kernel.push_back(in / result[i]);
    }
    w.stride = w.kernel;
    w.padding.assign(d, 0);
    return w;
  }
  w.kernel = n.Each("kernel", d);
  w.stride = n.Each("stride", d);
  w.padding = n.Each("padding", d);
  bool exact = true, beyond = true;
  for (size_t i = 0; i < d; ++i) {
    const int64_t in = n.size(0, static_cast<int64_t>(i) + 2),
                  out = n.out_spec(0).shape[static_cast<int>(i) + 2];
    exact &= out == (in + 2 * w.padding[i] - w.kernel[i]) / w.stride[i] + 1;
    beyond &= out == (in + w.padding[i] - 1) / w.stride[i] + 1;
    if (n.Each("dilation", d)[i] != 1) n.Refuse("with a dilation");
  }
  w.border = exact;
  if (!exact && (!max || !beyond)) n.Refuse("with windows beyond the end, as ceil_mode has them");
  return w;
}
V Pooled(NnablaExportCall& n, const char* type, Windows w, NnablaNodes::Arguments more) {
  V x = n.in(0);
  CapturedSizes sizes = n.out_sizes(0);
  if (w.kernel.size() == 1) {
    x = n.Unsqueeze(x, {2});
    sizes.insert(sizes.begin() + 2, {1, 1});
    for (Numbers* list : {&w.kernel, &w.stride}) list->insert(list->begin(), 1);
    w.padding.insert(w.padding.begin(), 0);
  }
  NnablaNodes::Arguments arguments = {
      {"kernel", w.kernel}, {"stride", w.stride}, {"ignore_border", w.border}, {"pad", w.padding}};
  for (NnablaArg& arg : more) arguments.push_back(std::move(arg));
  return n.Node(type, {x}, std::move(arguments), sizes);
}
void MaxPool(NnablaExportCall& n) {
  if (n.wants(1)) return n.Refuse("whose positions are wanted");
  const Windows w = WindowsOf(n, true);
  if (n.refused().empty()) n.Out(0, Pooled(n, "MaxPooling", w, {}));
}
FIRN_NNABLA_EXPORT(max_pool1d) { MaxPool(n); }
FIRN_NNABLA_EXPORT(max_pool2d) { MaxPool(n); }
FIRN_NNABLA_EXPORT(max_pool3d) { MaxPool(n); }
void AveragePool(NnablaExportCall& n) {
  const Windows w = WindowsOf(n, false);
  if (!n.refused().empty()) return;
  const int64_t divisor = n.Int("divisor_override");
  if (divisor == 0) {
    return n.Out(0,
                 Pooled(n, "AveragePooling", w, {{"including_pad", n.Flag("count_include_pad")}}));
  }
  n.Out(0, Pooled(n, "SumPooling", w, {}) / static_cast<double>(divisor));
}
FIRN_NNABLA_EXPORT(avg_pool1d) { AveragePool(n); }
FIRN_NNABLA_EXPORT(avg_pool2d) { AveragePool(n); }
FIRN_NNABLA_EXPORT(avg_pool3d) { AveragePool(n); }

}  // namespace
}  // namespace firn::io::internal
