// Convolutions of floating point numbers.
#include <algorithm>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// The kernel's sizes, which the weight has behind [out, in].
std::vector<int64_t> KernelOfWeight(const OnnxCall& call, size_t input, size_t dims) {
  const Shape& w = call.node.ShapeAt(input);
  if (w.rank() != static_cast<int>(dims) + 2) {
    RefuseNode("input ", input, " is expected to have ", dims + 2, " dimensions, it has ",
               w.rank());
  }
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  if (call.Ints("kernel_shape").value_or(kernel) != kernel) {
    RefuseNode("attribute \"kernel_shape\" is expected to be the weight's, ", w.ToString());
  }
  return kernel;
}

const OnnxOps kConv("Conv", 1, [](OnnxCall& call) -> Step {
  const std::vector<int64_t> image = ImageAt(call, 0);
  const OnnxWindows windows = WindowsOf(call, image, KernelOfWeight(call, 1, image.size()));
  const int64_t groups = call.Int("group", 1);
  return One([=](In in) { return ConvolveOnnx(in[0], in[1], At(in, 2), windows, groups); });
});

// --- ConvTranspose ------------------------------------------------------------------------------

// About the full result, in which every tap of every element is: what is cut off before (`begin`),
// and the size that is left, which may reach beyond its end.
struct Transposed {
  OnnxWindows windows;
  std::vector<int64_t> begin, size, full;
  int64_t groups = 1;
};

Transposed TransposedOf(const OnnxCall& call) {
  const std::vector<int64_t> image = ImageAt(call, 0);
  const size_t dims = image.size();
  Transposed t;
  t.windows = WindowsOf(call, image, KernelOfWeight(call, 1, dims));
  t.groups = call.Int("group", 1);
  const auto more = call.Ints("output_padding").value_or(std::vector<int64_t>(dims, 0));
  const auto wanted = call.Ints("output_shape").value_or(std::vector<int64_t>());
  if (more.size() != dims || (!wanted.empty() && wanted.size() != dims)) {
    RefuseNode("output_padding and output_shape are expected to have ", dims, " numbers");
  }
  RequireSizes(more, "output_padding");
  RequireSizes(wanted, "output_shape");
  const std::string how = call.Text("auto_pad", "NOTSET");
  const bool same = how.starts_with("SAME");
  for (size_t i = 0; i < dims; ++i) {
    const OnnxWindows& w = t.windows;
    const int64_t full = w.stride[i] * (image[i] - 1) + w.Extent(i);
    int64_t begin = w.begin[i], size = full + more[i] - w.begin[i] - w.end[i];
    if (same || !wanted.empty()) {
      size = wanted.empty() ? image[i] * w.stride[i] : wanted[i];
      const int64_t all = std::max<int64_t>(0, full + more[i] - size);
      begin = how == "SAME_UPPER" ? all / 2 : all - all / 2;
    }
    if (size < 1) RefuseNode("an output of size ", size, " is expected to be 1 or more");
    t.begin.push_back(begin);
    t.size.push_back(size);
    t.full.push_back(full);
  }
  return t;
}

// Whether Firn's own padding says the same: the result loses as much on both sides, and then grows
// at its end.
bool IsPlain(const Transposed& t) {
  for (size_t i = 0; i < t.begin.size(); ++i) {
    const int64_t more = t.size[i] - (t.full[i] - 2 * t.begin[i]);
    if (more < 0 || more >= std::max(t.windows.stride[i], t.windows.dilation[i])) return false;
  }
  return true;
}

Tensor ConvolveTransposed(const Tensor& x, const Tensor& w, const Tensor& bias,
                          const ConvTransposeOptions& options) {
  if (x.rank() == 3) return ConvTranspose1d(x, w, bias, options);
  if (x.rank() == 4) return ConvTranspose2d(x, w, bias, options);
  return ConvTranspose3d(x, w, bias, options);
}

Tensor RunTransposed(const Transposed& t, const Tensor& x, const Tensor& w, const Tensor& bias) {
  ConvTransposeOptions options = {.stride = SizesOf(t.windows.stride),
                                  .groups = t.groups,
                                  .dilation = SizesOf(t.windows.dilation)};
  std::vector<int64_t> begin, end, more;
  for (size_t i = 0; i < t.begin.size(); ++i) {
    begin.push_back(-t.begin[i]);
    end.push_back(t.size[i] + t.begin[i] - t.full[i]);
    more.push_back(t.size[i] - (t.full[i] - 2 * t.begin[i]));
  }
  if (IsPlain(t)) {
    options.padding = SizesOf(t.begin);
    options.output_padding = SizesOf(more);
    return ConvolveTransposed(x, w, bias, options);
  }
  const Tensor y = PadImage(ConvolveTransposed(x, w, {}, options), begin, end);
  return bias.defined() ? y + PerChannel(bias, y.rank()) : y;
}

const OnnxOps kConvTranspose("ConvTranspose", 1, [](OnnxCall& call) -> Step {
  const Transposed t = TransposedOf(call);
  return One([=](In in) { return RunTransposed(t, in[0], in[1], At(in, 2)); });
});

// --- DeformConv: torchvision's, with padding that may differ on the two sides -------------------

const OnnxOps kDeformConv("DeformConv", 19, [](OnnxCall& call) -> Step {
  const std::vector<int64_t> image = ImageAt(call, 0);
  if (image.size() != 2) {
    RefuseUnsupported("only images of 2 dimensions are supported");
  }
  const OnnxWindows w = WindowsOf(call, image, KernelOfWeight(call, 1, 2));
  const int64_t groups = call.Int("group", 1);
  return One([=](In in) {
    const bool even = w.IsEven();
    return DeformConv2d(even ? in[0] : PadImage(in[0], w.begin, w.end), in[2], in[1], At(in, 3),
                        At(in, 4),
                        {.stride = SizesOf(w.stride),
                         .padding = even ? SizesOf(w.begin) : Sizes(0),
                         .dilation = SizesOf(w.dilation),
                         .groups = groups});
  });
});

// --- Windows as columns, put back into their image ----------------------------------------------

const OnnxOps kCol2Im("Col2Im", 18,
                      [](OnnxCall& call) -> Step {
                        const std::vector<int64_t> image = call.node.KnownInts(1, "image_shape");
                        if (image.empty() || image.size() > 3) {
                          RefuseUnsupported("only images of 1 to 3 dimensions are supported");
                        }
                        const std::vector<int64_t> block = call.node.KnownInts(2, "block_shape");
                        if (block.size() != image.size()) {
                          RefuseNode("block_shape is expected to have ", image.size(),
                                     " numbers, it has ", block.size());
                        }
                        const OnnxWindows w = WindowsOf(call, image, block);
                        std::vector<int64_t> padded, cut_begin, cut_end;
                        for (size_t i = 0; i < image.size(); ++i) {
                          padded.push_back(image[i] + w.begin[i] + w.end[i]);
                          cut_begin.push_back(-w.begin[i]);
                          cut_end.push_back(-w.end[i]);
                        }
                        return One([=](In in) {
                          const Tensor y =
                              Fold(in[0], {.output_size = SizesOf(padded),
                                           .kernel = SizesOf(w.kernel),
                                           .dilation = SizesOf(w.dilation),
                                           .stride = SizesOf(w.stride),
                                           .dims = static_cast<int64_t>(padded.size())});
                          return PadImage(y, cut_begin, cut_end);
                        });
                      },
                      {.settings = {1, 2}});

}  // namespace
}  // namespace firn::io::internal
