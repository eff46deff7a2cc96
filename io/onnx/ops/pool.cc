// Pooling. Padding that Firn's own windows do not have is made by Pad, to the end of the last
// window, so that no window reaches beyond.
#include <algorithm>
#include <limits>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

OnnxWindows PoolOf(const OnnxCall& call) {
  std::vector<int64_t> image = ImageAt(call, 0);
  std::vector<int64_t> kernel = KernelOf(call, image.size());
  OnnxWindows w = WindowsOf(call, std::move(image), std::move(kernel));
  for (size_t i = 0; i < w.dims(); ++i) w.Count(i);
  return w;
}

// Whether Firn's own padding says the same.
bool IsPlain(const OnnxWindows& w) {
  bool plain = w.IsEven();
  for (size_t i = 0; i < w.dims(); ++i) plain &= w.begin[i] <= w.kernel[i] / 2;
  return plain;
}

// What is missing behind the image to the end of the last window; negative where no window comes.
std::vector<int64_t> ToLastWindow(const OnnxWindows& w) {
  std::vector<int64_t> end;
  for (size_t i = 0; i < w.dims(); ++i) {
    end.push_back((w.Count(i) - 1) * w.stride[i] + w.Extent(i) - w.image[i] - w.begin[i]);
  }
  return end;
}

// --- Maxima -------------------------------------------------------------------------------------

ValuesAndIndices Maxima(const Tensor& x, const MaxPoolOptions& options) {
  if (x.rank() == 3) return MaxPool1dWithIndices(x, options);
  if (x.rank() == 4) return MaxPool2dWithIndices(x, options);
  return MaxPool3dWithIndices(x, options);
}

Tensor MaximaAlone(const Tensor& x, const MaxPoolOptions& options) {
  if (x.rank() == 3) return MaxPool1d(x, options);
  if (x.rank() == 4) return MaxPool2d(x, options);
  return MaxPool3d(x, options);
}

// Positions in each channel's padded image become those in the whole tensor; with `by_column` the
// first dimension of an image is the one whose neighbours lie together.
Tensor PositionsInAll(const Tensor& indices, const OnnxWindows& w,
                      const std::vector<int64_t>& padded, bool by_column) {
  Tensor rest = indices, place;
  std::vector<int64_t> step(w.dims(), 1);
  int64_t image = 1;
  for (size_t i = 0; i < w.dims(); ++i) {
    const size_t d = by_column ? i : w.dims() - 1 - i;
    step[d] = image;
    image *= w.image[d];
  }
  for (size_t i = w.dims(); i-- > 0;) {
    const Tensor at = (Remainder(rest, padded[i]) - w.begin[i]) * step[i];
    place = place.defined() ? place + at : at;
    rest = Div(rest, padded[i], DivRounding::kFloor);
  }
  std::vector<int64_t> planes(static_cast<size_t>(indices.rank()), 1);
  planes[0] = indices.size(0);
  planes[1] = indices.size(1);
  const Tensor plane = Arange(int64_t{0}, planes[0] * planes[1], int64_t{1},
                              ArangeOptions{.dtype = DType::kI64, .device = indices.device()});
  return place + Reshape(plane * image, planes);
}

TensorList PoolMaxima(const Tensor& given, const OnnxWindows& w, bool indices, bool by_column) {
  MaxPoolOptions options = {
      .kernel = SizesOf(w.kernel), .stride = SizesOf(w.stride), .dilation = SizesOf(w.dilation)};
  const DType dtype = given.dtype();
  Tensor x = IsFloating(dtype) ? given : given.To(DType::kF32);  // integers of 8 bits are exact
  std::vector<int64_t> padded = w.image;
  OnnxWindows here = w;
  if (IsPlain(w)) {
    options.padding = SizesOf(w.begin);
    options.ceil_mode = w.ceil;
    here.begin.assign(w.dims(), 0);  // positions are those without padding
  } else {
    const std::vector<int64_t> end = ToLastWindow(w);
    x = PadImage(x, w.begin, end, -std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < w.dims(); ++i) padded[i] += w.begin[i] + end[i];
  }
  if (!indices) return {MaximaAlone(x, options).To(dtype)};
  const ValuesAndIndices found = Maxima(x, options);
  return {found.values.To(dtype), PositionsInAll(found.indices, here, padded, by_column)};
}

const OnnxOps kMaxPool("MaxPool", 1, [](OnnxCall& call) -> Step {
  const OnnxWindows windows = PoolOf(call);
  const bool indices = call.node.Wants(1), by_column = call.Flag("storage_order", false);
  return [=](In in) { return PoolMaxima(in[0], windows, indices, by_column); };
});

// --- Sums ---------------------------------------------------------------------------------------

Tensor Average(const Tensor& x, const AvgPoolOptions& options) {
  if (x.rank() == 3) return AvgPool1d(x, options);
  if (x.rank() == 4) return AvgPool2d(x, options);
  return AvgPool3d(x, options);
}

// The sum of each window of x, which is padded already.
Tensor WindowSums(const Tensor& x, const OnnxWindows& w) {
  const bool gaps = std::any_of(w.dilation.begin(), w.dilation.end(), [](auto d) { return d > 1; });
  if (!gaps) {
    return Average(
        x, {.kernel = SizesOf(w.kernel), .stride = SizesOf(w.stride), .divisor_override = 1});
  }
  // Computed as a convolution by ones of one channel after the other.
  OnnxWindows bare = w;
  bare.begin.assign(w.dims(), 0);
  bare.end = bare.begin;
  std::vector<int64_t> one = {x.size(0) * x.size(1), 1}, kernel = {1, 1};
  one.insert(one.end(), x.shape().begin() + 2, x.shape().end());
  kernel.insert(kernel.end(), w.kernel.begin(), w.kernel.end());
  const Tensor y =
      ConvolveOnnx(Reshape(x, one), Ones(Shape(kernel), x.dtype(), x.device()), {}, bare, 1);
  std::vector<int64_t> back(y.shape().begin(), y.shape().end());
  back[0] = x.size(0);
  back[1] = x.size(1);
  return Reshape(y, back);
}

// How many elements a window counts: those of the image, and of the padding that was asked for.
Tensor WindowCounts(const Tensor& x, const OnnxWindows& w, bool with_padding) {
  std::vector<int64_t> ones = {1, 1}, begin = w.begin, end = ToLastWindow(w);
  for (size_t i = 0; i < w.dims(); ++i) {
    ones.push_back(w.image[i] + (with_padding ? w.begin[i] + w.end[i] : 0));
    if (with_padding) {
      begin[i] = 0;
      end[i] -= w.end[i];
    }
  }
  return WindowSums(PadImage(Ones(Shape(ones), x.dtype(), x.device()), begin, end), w);
}

const OnnxOps kAveragePool("AveragePool", 1, [](OnnxCall& call) -> Step {
  const OnnxWindows w = PoolOf(call);
  const bool with_padding = call.Flag("count_include_pad", false);
  const bool gaps = std::any_of(w.dilation.begin(), w.dilation.end(), [](auto d) { return d > 1; });
  return One([=](In in) {
    if (IsPlain(w) && !gaps) {
      return Average(in[0], {.kernel = SizesOf(w.kernel),
                             .stride = SizesOf(w.stride),
                             .padding = SizesOf(w.begin),
                             .ceil_mode = w.ceil,
                             .count_include_pad = with_padding});
    }
    return WindowSums(PadImage(in[0], w.begin, ToLastWindow(w)), w) /
           WindowCounts(in[0], w, with_padding);
  });
});

// The power, a number of any kind at first.
double PowerOf(const OnnxCall& call) {
  return call.opset() < 2 ? call.Float("p", 2) : static_cast<double>(call.Int("p", 2));
}

const OnnxOps kLpPool("LpPool", 1, [](OnnxCall& call) -> Step {
  const OnnxWindows w = PoolOf(call);
  const double p = PowerOf(call);
  return One([=](In in) {
    const Tensor powers = p == 1 ? Abs(in[0]) : p == 2 ? Square(in[0]) : Pow(Abs(in[0]), p);
    const Tensor sums = WindowSums(PadImage(powers, w.begin, ToLastWindow(w)), w);
    return p == 1 ? sums : Pow(sums, 1 / p);
  });
});

// --- Whole images -------------------------------------------------------------------------------

DimList ImageDims(const Tensor& x) {
  std::vector<int64_t> dims;
  for (int i = 2; i < x.rank(); ++i) dims.push_back(i);
  return DimList(dims);
}

// Adds up in the order of pooling, from which Firn's exporter makes such nodes. Images with nothing
// in them or of more dimensions are added up like means.
Tensor GlobalAverage(const Tensor& x) {
  if (x.rank() < 3) return x;
  if (x.num_elements() > 0) {
    if (x.rank() == 3) return AdaptiveAvgPool1d(x, 1);
    if (x.rank() == 4) return AdaptiveAvgPool2d(x, 1);
    if (x.rank() == 5) return AdaptiveAvgPool3d(x, 1);
  }
  return Mean(x, ImageDims(x), true);
}
const OnnxOps kGlobalAveragePool("GlobalAveragePool", 1, Unary(GlobalAverage));
const OnnxOps kGlobalMaxPool("GlobalMaxPool", 1, Unary([](const Tensor& x) {
                               return x.rank() < 3 ? x : Amax(x, ImageDims(x), true);
                             }));
const OnnxOps kGlobalLpPool("GlobalLpPool", 1, [](OnnxCall& call) -> Step {
  const double p = PowerOf(call);
  return One([=](In in) { return Norm(in[0], p, ImageDims(in[0]), true); });
});

// --- MaxUnpool: positions are those in an image of the usual size, behind which zeros follow ----

const OnnxOps kMaxUnpool(
    "MaxUnpool", 9,
    [](OnnxCall& call) -> Step {
      const std::vector<int64_t> image = ImageAt(call, 0);
      const OnnxWindows w = WindowsOf(call, image, KernelOf(call, image.size()));
      const Shape& x = call.node.ShapeAt(0);
      std::vector<int64_t> usual = {x[0], x[1]}, more(w.dims(), 0);
      for (size_t i = 0; i < w.dims(); ++i) {
        usual.push_back((image[i] - 1) * w.stride[i] - w.begin[i] - w.end[i] + w.kernel[i]);
      }
      if (call.node.Has(2)) {
        const std::vector<int64_t> wanted = call.node.KnownInts(2, "output_shape");
        if (wanted.size() != usual.size()) {
          RefuseNode("output_shape is expected to have ", usual.size(), " numbers");
        }
        RequireSizes(wanted, "output_shape");
        for (size_t i = 0; i < w.dims(); ++i) more[i] = wanted[i + 2] - usual[i + 2];
      }
      const Shape result(usual);
      const std::vector<int64_t> none(w.dims(), 0);
      return One([=](In in) {
        const Tensor zeros = Zeros({result.num_elements()}, in[0].dtype(), in[0].device());
        const Tensor flat = Scatter(zeros, 0, Flatten(in[1]), Flatten(in[0]));
        return PadImage(Reshape(flat, result), none, more);
      });
    },
    {.settings = {2}});

// --- Boxes --------------------------------------------------------------------------------------

const OnnxOps kMaxRoiPool("MaxRoiPool", 1, [](OnnxCall& call) -> Step {
  const std::vector<int64_t> size = call.Ints("pooled_shape").value_or(std::vector<int64_t>());
  if (size.size() != 2) RefuseNode("attribute \"pooled_shape\" is expected to have 2 numbers");
  const double scale = call.Float("spatial_scale", 1);
  return One([=](In in) { return RoiPool(in[0], in[1], SizesOf(size), scale); });
});

void CheckRoiAlign(const OnnxNodeAttributes& node) {
  if (node.OneOf("mode", "avg", {"avg", "max"}) == "max") {
    RefuseUnsupported("mode max is not supported");
  }
}

Step LowerRoiAlign(OnnxCall& call, bool aligned) {
  const Sizes size(call.Int("output_height", 1), call.Int("output_width", 1));
  const int64_t ratio = call.Int("sampling_ratio", 0);
  const double scale = call.Float("spatial_scale", 1);
  return One([=](In in) {
    const Tensor which = Unsqueeze(in[2].To(in[1].dtype()), 1);
    return RoiAlign(in[0], Concat({which, in[1]}, 1), size,
                    {.spatial_scale = scale, .sampling_ratio = ratio, .aligned = aligned});
  });
}

const OnnxOps kRoiAlign10("RoiAlign", 10,
                          [](OnnxCall& call) -> Step { return LowerRoiAlign(call, false); },
                          {.check = CheckRoiAlign});
const OnnxOps kRoiAlign16("RoiAlign", 16,
                          [](OnnxCall& call) -> Step {
                            return LowerRoiAlign(
                                call,
                                call.OneOf("coordinate_transformation_mode", "half_pixel",
                                           {"half_pixel", "output_half_pixel"}) == "half_pixel");
                          },
                          {.check = CheckRoiAlign});

}  // namespace
}  // namespace firn::io::internal
