// Images, signals and random draws.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

Sizes SizesAs(const Args& a, std::string_view name) {
  const std::vector<int64_t>& sizes = a.Ints(name);
  if (sizes.empty() || sizes.size() > Sizes::kMost) {
    RefuseNnabla(absl::StrCat("the length of ", std::string(name)), "from 1 to 3",
                 absl::StrCat(sizes.size()));
  }
  return Sizes(absl::Span<const int64_t>(sizes));
}

Shape ShapeAs(const Args& a, std::string_view name) {
  return Shape(absl::Span<const int64_t>(a.Ints(name)));
}

// The last dimensions get other sizes. NNabla's element i without half pixels is at i in / out.
const NnablaOps kInterpolate("Interpolate", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t>& sizes = a.Ints("output_size");
  const auto count = static_cast<int64_t>(sizes.size());
  const bool last = a.Flag("channel_last"), linear = a.Text("mode") == "linear";
  const int64_t base = in[0].rank() - count - 1;
  if (base < 0) {
    RefuseNnabla("the length of output_size", absl::StrCat("at most ", in[0].rank() - 1),
                 absl::StrCat(count));
  }
  if (!linear && a.Text("mode") != "nearest") {
    RefuseNnabla("mode", "linear or nearest", a.Text("mode"));
  }
  const Tensor images = ImagesOf(in[0], base, last);
  ResizeOptions options = {.sizes = sizes,
                           .mode = linear ? ResizeMode::kLinear : ResizeMode::kNearest};
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < count; ++i) dims.push_back(2 + i);
  options.dims = dims;
  options.coordinates = ResizeCoordinates::kAsymmetric;
  if (linear && a.Flag("half_pixel")) options.coordinates = ResizeCoordinates::kHalfPixel;
  if (linear && a.Flag("align_corners")) options.coordinates = ResizeCoordinates::kAlignCorners;
  if (!linear && (a.Flag("half_pixel_for_nn") || !a.Flag("half_pixel"))) {
    const Sizes to{absl::Span<const int64_t>(sizes)};
    const bool middle = a.Flag("half_pixel_for_nn");
    const Tensor y = Interpolate(
        images,
        {.size = to, .mode = middle ? InterpolateMode::kNearestExact : InterpolateMode::kNearest});
    return {FromImages(y, in[0], base, last)};
  }
  if (!linear) {
    options.coordinates = ResizeCoordinates::kHalfPixel;
    options.nearest = ResizeNearest::kFloor;
  }
  return {FromImages(Resize(images, options), in[0], base, last)};
});

ResizeMode ModeOf(const std::string& mode) {
  if (mode == "nearest") return ResizeMode::kNearest;
  if (mode == "linear") return ResizeMode::kLinear;
  if (mode == "cubic") return ResizeMode::kCubic;
  RefuseNnabla("mode", "nearest, linear or cubic", mode);
}

ResizeCoordinates CoordinatesOf(const std::string& mode) {
  if (mode == "half_pixel") return ResizeCoordinates::kHalfPixel;
  if (mode == "pytorch_half_pixel") return ResizeCoordinates::kPytorchHalfPixel;
  if (mode == "align_corners") return ResizeCoordinates::kAlignCorners;
  if (mode == "asymmetric") return ResizeCoordinates::kAsymmetric;
  if (mode == "tf_crop_and_resize") return ResizeCoordinates::kCropAndResize;
  RefuseNnabla("coordinate_transformation_mode",
               "half_pixel, pytorch_half_pixel, align_corners, asymmetric or tf_crop_and_resize",
               mode);
}

ResizeNearest NearestOf(const std::string& mode) {
  if (mode == "round_prefer_floor") return ResizeNearest::kRoundPreferFloor;
  if (mode == "round_prefer_ceil") return ResizeNearest::kRoundPreferCeil;
  if (mode == "floor") return ResizeNearest::kFloor;
  if (mode == "ceil") return ResizeNearest::kCeil;
  RefuseNnabla("nearest_mode", "round_prefer_floor, round_prefer_ceil, floor or ceil", mode);
}

const NnablaOps kOnnxResize("ONNXResize", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<float>&scales = a.Floats("scales"), &roi = a.Floats("roi");
  ResizeOptions options = {.mode = ModeOf(a.Text("mode")),
                           .coordinates = CoordinatesOf(a.Text("coordinate_transformation_mode")),
                           .nearest = NearestOf(a.Text("nearest_mode")),
                           .cubic_a = a.Number("cubic_coeff_a"),
                           .exclude_outside = a.Int("exclude_outside") != 0,
                           .extrapolation_value = a.Number("extrapolation_value")};
  options.scales.assign(scales.begin(), scales.end());
  if (scales.empty()) options.sizes = a.Ints("sizes");
  // NNabla aligns corners of whole elements, whatever the scales.
  if (options.coordinates == ResizeCoordinates::kAlignCorners && !scales.empty()) {
    if (scales.size() != static_cast<size_t>(in[0].rank())) {
      RefuseNnabla("the length of scales", absl::StrCat(in[0].rank()), absl::StrCat(scales.size()));
    }
    for (size_t i = 0; i < scales.size(); ++i) {
      const double size =
          std::floor(static_cast<float>(in[0].size(static_cast<int64_t>(i))) * scales[i]);
      if (!(size >= 1 && size <= 1 << 24)) RefuseNnabla("scales", "sizes from 1 to 2^24", "others");
      options.sizes.push_back(static_cast<int64_t>(size));
    }
    options.scales.clear();
  }
  if (options.coordinates == ResizeCoordinates::kCropAndResize) {
    options.roi.assign(roi.begin(), roi.end());
  }
  return {Resize(in[0], options)};
});

const NnablaOps kAffineGrid("AffineGrid", 1, 1, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t> size = Joined({in[0].size(0), 1}, a.Ints("size"));
  return {AffineGrid(in[0], Shape(absl::Span<const int64_t>(size)), a.Flag("align_corners"))};
});

const NnablaOps kWarp("WarpByGrid", 2, 2, [](const Args& a, In in) -> TensorList {
  const std::string &mode = a.Text("mode"), &padding = a.Text("padding_mode");
  GridSampleOptions options = {.align_corners = a.Flag("align_corners")};
  if (mode == "nearest") options.mode = GridSampleMode::kNearest;
  if (padding == "repeat") options.padding = GridSamplePadding::kBorder;
  if (padding == "reflect") options.padding = GridSamplePadding::kReflection;
  const bool last = a.Flag("channel_last");
  return {FromImages(GridSample(ImagesOf(in[0], 1, last), in[1], options), in[0], 1, last)};
});

const NnablaOps kWarpByFlow("WarpByFlow", 2, 2, [](const Args&, In in) -> TensorList {
  return {WarpByFlow(in[0], in[1])};
});

// Images have their channels last; the result is [n, h, w, shifts...], Firn's [n, shifts..., h, w].
const NnablaOps kPatches("PatchCorrelation", 2, 2, [](const Args& a, In in) -> TensorList {
  const std::vector<int64_t>& padding = a.Ints("padding");
  if (padding.size() != 4 || padding[0] != padding[1] || padding[2] != padding[3]) {
    RefuseNnabla("padding", "four numbers, the same at both ends",
                 absl::StrCat(padding.size(), " numbers or others at one end"));
  }
  const Tensor y = PatchCorrelation(Movedim(in[0], -1, 1), Movedim(in[1], -1, 1),
                                    {.patch = SizesAs(a, "patch"),
                                     .shift = SizesAs(a, "shift"),
                                     .patch_step = SizesAs(a, "patch_step"),
                                     .shift_step = SizesAs(a, "shift_step"),
                                     .padding = Sizes(padding[0], padding[2])});
  return {Permute(y, {0, 3, 4, 1, 2})};
});

const NnablaOps kRoiAlign("RoiAlign", 2, 2, [](const Args& a, In in) -> TensorList {
  const std::vector<float>& scale = a.Floats("spatial_scale");
  if (scale.empty() || scale.front() != scale.back() || a.Flag("channel_last")) {
    RefuseNnabla("RoiAlign", "of channels first, with one scale for both dimensions", "of others");
  }
  return {RoiAlign(
      in[0], in[1], SizesAs(a, "output_size"),
      {.spatial_scale = scale[0], .sampling_ratio = a.Int("sampling_ratio"), .aligned = true})};
});

const NnablaOps kNms("NmsDetection2d", 1, 1, [](const Args& a, In in) -> TensorList {
  return {NmsDetection2d(in[0], {.threshold = a.Number("thresh"),
                                 .nms = a.Number("nms"),
                                 .per_class = a.Flag("nms_per_class")})};
});

// --- Signals ------------------------------------------------------------------------------------

// The last dimension is of real and imaginary parts.
TensorList Transformed(const Args& a, In in, bool inverse) {
  const int64_t count = a.Int("signal_ndim");
  if (count < 1 || count >= in[0].rank()) {
    RefuseNnabla("signal_ndim", absl::StrCat("from 1 to ", in[0].rank() - 1), absl::StrCat(count));
  }
  std::vector<int64_t> dims;
  for (int64_t i = -count; i < 0; ++i) dims.push_back(i);
  const FftNorm norm = a.Flag("normalized") ? FftNorm::kOrtho : FftNorm::kBackward;
  return {inverse ? Ifft(in[0], dims, norm) : Fft(in[0], dims, norm)};
}
const NnablaOps kFft("FFT", 1, 1, [](const Args& a, In in) { return Transformed(a, in, false); });
const NnablaOps kIfft("IFFT", 1, 1, [](const Args& a, In in) { return Transformed(a, in, true); });

Tensor WindowOf(const Args& a) {
  const std::string& type = a.Text("window_type");
  const int64_t size = a.Int("window_size");
  if (type == "hanning") return HannWindow(size);
  if (type == "hamming") return HammingWindow(size);
  if (type != "rectangular") {
    RefuseNnabla("window_type", "hanning, hamming or rectangular", type);
  }
  return Ones({size});
}

const NnablaOps kStft("STFT", 1, 1, [](const Args& a, In in) -> TensorList {
  if (a.Flag("as_istft_backward")) RefuseNnabla("as_istft_backward", "false", "true");
  const bool reflect = a.Text("pad_mode") == "reflect";
  const Tensor y = Stft(in[0], a.Int("fft_size"),
                        {.hop = a.Int("stride"),
                         .win_length = a.Int("window_size"),
                         .window = WindowOf(a),
                         .center = a.Flag("center"),
                         .pad_mode = reflect ? PadMode::kReflect : PadMode::kConstant});
  return {Select(y, -1, 0), Select(y, -1, 1)};
});
const NnablaOps kIstft("ISTFT", 2, 2, [](const Args& a, In in) -> TensorList {
  if (a.Flag("as_stft_backward")) RefuseNnabla("as_stft_backward", "false", "true");
  const int64_t size = a.Int("fft_size");
  Tensor y = Stack({in[0], in[1]}, -1);
  // At an odd size NNabla takes the last coefficient once, though it stands for two: only that of
  // half an even size is its own mirror image.
  if (size % 2 == 1 && size > 1 && y.rank() >= 3) {
    y = SliceScatter(y, Mul(Slice(y, -3, -1), 0.5), -3, -1);
  }
  return {Istft(y, size,
                {.hop = a.Int("stride"),
                 .win_length = a.Int("window_size"),
                 .window = WindowOf(a),
                 .center = a.Flag("center")})};
});

// --- Draws --------------------------------------------------------------------------------------

constexpr NnablaOpOptions kDraws = {.draws = true};

const NnablaOps kDropout(
    "Dropout", 1, 1,
    [](const Args& a, In in) -> TensorList { return {Dropout(in[0], a.Number("p"), true)}; },
    kDraws);
const NnablaOps kRand(
    "Rand", 0, 0,
    [](const Args& a, In) -> TensorList {
      return {Rand(ShapeAs(a, "shape"), a.Number("low"), a.Number("high"))};
    },
    kDraws);
const NnablaOps kRandn(
    "Randn", 0, 0,
    [](const Args& a, In) -> TensorList {
      return {Randn(ShapeAs(a, "shape"), a.Number("mu"), a.Number("sigma"))};
    },
    kDraws);
const NnablaOps kRandint(
    "Randint", 0, 0,
    [](const Args& a, In) -> TensorList {
      return {NumbersOf(Randint(a.Int("low"), a.Int("high"), ShapeAs(a, "shape")))};
    },
    kDraws);
const NnablaOps kRandBinomial(
    "RandBinomial", 0, 0,
    [](const Args& a, In) -> TensorList {
      const Tensor count = Full(ShapeAs(a, "shape"), static_cast<double>(a.Int("n")));
      return {NumbersOf(Binomial(count, FullLike(count, a.Number("p"))))};
    },
    kDraws);
const NnablaOps kRandBeta(
    "RandBeta", 0, 0,
    [](const Args& a, In) -> TensorList {
      const Tensor alpha = Full(ShapeAs(a, "shape"), a.Number("alpha"));
      return {RandBeta(alpha, FullLike(alpha, a.Number("beta")))};
    },
    kDraws);
const NnablaOps kRandGamma(
    "RandGamma", 0, 0,
    [](const Args& a, In) -> TensorList {
      const Tensor k = Full(ShapeAs(a, "shape"), a.Number("k"));
      return {RandGamma(k, FullLike(k, a.Number("theta")))};
    },
    kDraws);
const NnablaOps kRandomCrop(
    "RandomCrop", 1, 1,
    [](const Args& a, In in) -> TensorList {
      return {RandomCrop(in[0], ShapeAs(a, "shape"), a.Int("base_axis"))};
    },
    kDraws);
const NnablaOps kRandomFlip(
    "RandomFlip", 1, 1,
    [](const Args& a, In in) -> TensorList {
      return {RandomFlip(in[0],
                         {.dims = AxesOf(in[0], a.Ints("axes")), .base_dim = a.Int("base_axis")})};
    },
    kDraws);

// --- The largest elements -----------------------------------------------------------------------

const NnablaOps kTopKData("TopKData", 1, 1, [](const Args& a, In in) -> TensorList {
  const int64_t base = a.Int("base_axis"), k = a.Int("k");
  const Tensor rows = RowsOf(in[0], base);
  const Tensor keys = a.Flag("abs") ? Abs(rows) : rows;
  const Tensor indices = Topk(keys, k, 1, {.largest = a.Flag("largest")}).indices;
  const Tensor values = Gather(rows, 1, indices);
  const std::vector<int64_t> sizes = Joined(SizesOf(in[0], 0, base), {k});
  const Tensor y = a.Flag("reduce")
                       ? Reshaped(values, sizes)
                       : Reshape(Scatter(ZerosLike(rows), 1, indices, values), in[0].shape());
  return {y, Reshaped(NumbersOf(indices), sizes)};
});
const NnablaOps kTopKGrad("TopKGrad", 1, 1, [](const Args& a, In in) -> TensorList {
  return {TopKGrad(in[0], a.Int("k"), {.abs = a.Flag("abs"), .base_dim = a.Int("base_axis")})};
});

}  // namespace
}  // namespace firn::io::internal
