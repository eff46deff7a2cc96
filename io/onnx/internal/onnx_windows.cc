// A separate Pad makes padding that differs on the two sides, since Firn's own operations have one
// number for both.
#include "firn/io/onnx/internal/onnx_windows.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// One number a dimension, `otherwise` where the attribute is absent.
std::vector<int64_t> NumbersOf(const OnnxCall& call, std::string_view attribute, size_t count,
                               int64_t otherwise, int64_t least) {
  std::vector<int64_t> numbers =
      call.Ints(attribute).value_or(std::vector<int64_t>(count, otherwise));
  if (numbers.empty()) numbers.assign(count, otherwise);
  if (numbers.size() != count || *std::min_element(numbers.begin(), numbers.end()) < least) {
    RefuseNode("attribute \"", attribute, "\" is expected to have ", count, " numbers of ", least,
               " or more");
  }
  RequireSizes(numbers, attribute, least);
  return numbers;
}

}  // namespace

void RequireSizes(absl::Span<const int64_t> numbers, std::string_view what, int64_t least) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const int64_t n : numbers) {
    if (n >= least && n <= kMost) continue;
    RefuseNode(what, " is expected to have numbers from ", least, " to ", kMost, ", got ", n);
  }
}

std::vector<int64_t> ImageAt(const OnnxCall& call, size_t input) {
  const Shape& shape = call.node.ShapeAt(input);
  if (shape.rank() < 3 || shape.rank() > 5) {
    RefuseNode("input ", input, " is expected to have 3 to 5 dimensions, it has ", shape.rank());
  }
  return {shape.begin() + 2, shape.end()};
}

int64_t OnnxWindows::Count(size_t i) const {
  const int64_t rest = image[i] + begin[i] + end[i] - Extent(i);
  if (rest < 0) RefuseNode("a window of ", Extent(i), " does not fit into the padded image");
  int64_t count = (rest + (ceil ? stride[i] - 1 : 0)) / stride[i] + 1;
  if (ceil && (count - 1) * stride[i] >= image[i] + begin[i]) --count;
  return count;
}

OnnxWindows WindowsOf(const OnnxCall& call, std::vector<int64_t> image,
                      std::vector<int64_t> kernel) {
  const size_t dims = image.size();
  RequireSizes(image, "the image");
  RequireSizes(kernel, "the window");
  OnnxWindows w;
  w.image = std::move(image);
  w.kernel = std::move(kernel);
  w.stride = NumbersOf(call, "strides", dims, 1, 1);
  w.dilation = NumbersOf(call, "dilations", dims, 1, 1);
  w.ceil = call.Flag("ceil_mode", false);
  w.begin.assign(dims, 0);
  w.end.assign(dims, 0);
  const std::string how =
      call.OneOf("auto_pad", "NOTSET", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"});
  if (how == "NOTSET") {
    const std::vector<int64_t> pads = NumbersOf(call, "pads", 2 * dims, 0, 0);
    w.begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(dims));
    w.end.assign(pads.begin() + static_cast<ptrdiff_t>(dims), pads.end());
  } else if (how != "VALID") {
    for (size_t i = 0; i < dims; ++i) {
      const int64_t count = (w.image[i] + w.stride[i] - 1) / w.stride[i];
      const int64_t all =
          std::max<int64_t>(0, (count - 1) * w.stride[i] + w.Extent(i) - w.image[i]);
      w.begin[i] = how == "SAME_UPPER" ? all / 2 : all - all / 2;
      w.end[i] = all - w.begin[i];
    }
  }
  return w;
}

std::vector<int64_t> KernelOf(const OnnxCall& call, size_t dims) {
  return NumbersOf(call, "kernel_shape", dims, 1, 1);
}

Sizes SizesOf(const std::vector<int64_t>& numbers) {
  return Sizes(absl::Span<const int64_t>(numbers));
}

Tensor PadImage(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                double value) {
  std::vector<int64_t> pad;
  bool any = false;
  for (size_t i = begin.size(); i-- > 0;) {
    pad.push_back(begin[i]);
    pad.push_back(end[i]);
    any |= begin[i] != 0 || end[i] != 0;
  }
  return any ? Pad(x, pad, {.value = value}) : x;
}

Tensor PerChannel(const Tensor& x, int rank) {
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[1] = x.num_elements();
  return Reshape(x, shape);
}

Tensor ConvolveOnnx(const Tensor& x, const Tensor& w, const Tensor& bias,
                    const OnnxWindows& windows, int64_t groups) {
  ConvOptions options = {.stride = SizesOf(windows.stride),
                         .padding = ConvPadding(SizesOf(windows.begin)),
                         .dilation = SizesOf(windows.dilation),
                         .groups = groups};
  Tensor image = x;
  if (!windows.IsEven()) {
    image = PadImage(x, windows.begin, windows.end);
    options.padding = 0;
  }
  if (windows.dims() == 1) return Conv1d(image, w, bias, options);
  if (windows.dims() == 2) return Conv2d(image, w, bias, options);
  return Conv3d(image, w, bias, options);
}

}  // namespace firn::io::internal
