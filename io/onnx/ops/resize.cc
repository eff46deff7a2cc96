// Images at other sizes and places.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

template <class Enum, size_t kN>
Enum Chosen(const OnnxNodeAttributes& call, std::string_view attribute, std::string_view otherwise,
            const std::pair<std::string_view, Enum> (&possible)[kN]) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : possible) words.push_back(word);
  const std::string text = call.OneOf(attribute, otherwise, words);
  for (const auto& [word, value] : possible) {
    if (text == word) return value;
  }
  return possible[0].second;
}

constexpr std::pair<std::string_view, ResizeMode> kModes[] = {{"nearest", ResizeMode::kNearest},
                                                              {"linear", ResizeMode::kLinear},
                                                              {"bilinear", ResizeMode::kLinear},
                                                              {"cubic", ResizeMode::kCubic}};
constexpr std::pair<std::string_view, ResizeNearest> kNearest[] = {
    {"round_prefer_floor", ResizeNearest::kRoundPreferFloor},
    {"round_prefer_ceil", ResizeNearest::kRoundPreferCeil},
    {"floor", ResizeNearest::kFloor},
    {"ceil", ResizeNearest::kCeil}};
constexpr std::pair<std::string_view, ResizeCoordinates> kCoordinates[] = {
    {"half_pixel", ResizeCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
    {"align_corners", ResizeCoordinates::kAlignCorners},
    {"asymmetric", ResizeCoordinates::kAsymmetric},
    {"tf_crop_and_resize", ResizeCoordinates::kCropAndResize},
    {"tf_half_pixel_for_nn", ResizeCoordinates::kHalfPixel}};

Step ResizeBy(const ResizeOptions& options) {
  return One([=](In in) { return firn::Resize(in[0], options); });
}

std::vector<double> NumbersAt(const OnnxCall& call, size_t input, std::string_view what) {
  if (!call.node.Has(input)) return {};
  return call.node.Known(input, what).ToVector<double>();
}

// --- Upsample, and the first Resize -------------------------------------------------------------

Step LowerUpsample(OnnxCall& call, std::vector<double> scales) {
  return ResizeBy({.scales = std::move(scales),
                   .mode = Chosen(call, "mode", "nearest", kModes),
                   .coordinates = ResizeCoordinates::kAsymmetric,
                   .nearest = ResizeNearest::kFloor});
}

const OnnxOps kUpsample1("Upsample", 1, [](OnnxCall& call) -> Step {
  if (call.node.Rank(0) != 4) {
    RefuseNode("input 0 is expected to have 4 dimensions, it is ", call.node.Spec(0).ToString());
  }
  return LowerUpsample(call, {1, 1, call.Float("height_scale"), call.Float("width_scale")});
});
const OnnxOps kUpsample7("Upsample", 7, [](OnnxCall& call) -> Step {
  const std::vector<float> scales = call.Floats("scales").value_or(std::vector<float>());
  return LowerUpsample(call, {scales.begin(), scales.end()});
});
Step LowerUpsampleByInput(OnnxCall& call) {
  return LowerUpsample(call, NumbersAt(call, 1, "scales"));
}
const OnnxOps kUpsample9("Upsample", 9, LowerUpsampleByInput, {.settings = {1}});
const OnnxOps kResize10("Resize", 10, LowerUpsampleByInput, {.settings = {1}});

// --- Resize: X, roi, scales, sizes --------------------------------------------------------------

// Sizes that keep the ratio of an image's sides: within the given ones, or around them.
std::vector<int64_t> WithRatio(const Shape& x, const std::vector<int64_t>& dims,
                               const std::vector<int64_t>& sizes, bool larger) {
  double scale = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const double s = static_cast<double>(sizes[i]) / static_cast<double>(x[dims[i]]);
    scale = i == 0 ? s : larger ? std::max(scale, s) : std::min(scale, s);
  }
  std::vector<int64_t> kept;
  for (const int64_t dim : dims) {
    kept.push_back(static_cast<int64_t>(std::floor(scale * static_cast<double>(x[dim]) + 0.5)));
  }
  return kept;
}

// What says how places are counted.
void ReadCoordinates(const OnnxNodeAttributes& call, ResizeOptions* o) {
  o->mode = Chosen(call, "mode", "nearest", kModes);
  o->nearest = Chosen(call, "nearest_mode", "round_prefer_floor", kNearest);
  o->coordinates = Chosen(call, "coordinate_transformation_mode", "half_pixel", kCoordinates);
  o->cubic_a = call.Float("cubic_coeff_a", -0.75f);
  o->exclude_outside = call.Flag("exclude_outside", false);
  o->extrapolation_value = call.Float("extrapolation_value", 0);
  o->antialias = call.Flag("antialias", false);
  if (call.Text("coordinate_transformation_mode", "") != "tf_half_pixel_for_nn") return;
  // (i + 0.5) / s, of which the floor is the half up of half a pixel less.
  if (o->mode != ResizeMode::kNearest || o->nearest != ResizeNearest::kFloor) {
    RefuseUnsupported("tf_half_pixel_for_nn is supported with nearest_mode floor alone");
  }
  o->nearest = ResizeNearest::kRoundPreferCeil;
}

Step LowerResize(OnnxCall& call) {
  ResizeOptions o;
  ReadCoordinates(call, &o);
  const Shape& x = call.node.ShapeAt(0);
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  if (const auto axes = call.Ints("axes")) dims = call.Axes(*axes, x.rank());
  o.dims = DimList(dims);
  o.scales = NumbersAt(call, 2, "scales");
  if (call.node.Has(3)) o.sizes = call.node.KnownInts(3, "sizes");
  if (!o.sizes.empty()) o.scales.clear();
  if (std::max(o.sizes.size(), o.scales.size()) != dims.size()) {
    RefuseNode("scales or sizes are expected to have ", dims.size(), " numbers");
  }
  const std::string policy =
      call.OneOf("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  if (policy != "stretch" && !o.sizes.empty()) {
    o.sizes = WithRatio(x, dims, o.sizes, policy == "not_smaller");
  }
  if (o.coordinates == ResizeCoordinates::kCropAndResize) o.roi = NumbersAt(call, 1, "roi");
  return ResizeBy(o);
}

const OnnxOps kResize11("Resize", 11, LowerResize,
                        {.settings = {1, 2, 3}, .check = [](const OnnxNodeAttributes& node) {
                           ResizeOptions o;
                           ReadCoordinates(node, &o);
                         }});

// --- Places -------------------------------------------------------------------------------------

constexpr std::pair<std::string_view, GridSampleMode> kSampleModes[] = {
    {"linear", GridSampleMode::kLinear},
    {"bilinear", GridSampleMode::kLinear},
    {"nearest", GridSampleMode::kNearest},
    {"cubic", GridSampleMode::kCubic},
    {"bicubic", GridSampleMode::kCubic}};
constexpr std::pair<std::string_view, GridSamplePadding> kSamplePadding[] = {
    {"zeros", GridSamplePadding::kZeros},
    {"border", GridSamplePadding::kBorder},
    {"reflection", GridSamplePadding::kReflection}};

const OnnxOps kGridSample("GridSample", 16, [](OnnxCall& call) -> Step {
  if (call.node.Rank(0) < 4 || call.node.Rank(0) > 5) {
    RefuseUnsupported("only images and volumes are supported");
  }
  const GridSampleOptions options = {
      .mode = Chosen(call, "mode", "linear", kSampleModes),
      .padding = Chosen(call, "padding_mode", "zeros", kSamplePadding),
      .align_corners = call.Flag("align_corners", false)};
  if (options.mode == GridSampleMode::kCubic && call.node.Rank(0) != 4) {
    RefuseUnsupported("mode cubic is supported for images alone");
  }
  return One([=](In in) { return GridSample(in[0], in[1].To(in[0].dtype()), options); });
});

const OnnxOps kAffineGrid("AffineGrid", 20,
                          [](OnnxCall& call) -> Step {
                            const Shape size(call.node.KnownInts(1, "size"));
                            const bool corners = call.Flag("align_corners", false);
                            return One([=](In in) { return AffineGrid(in[0], size, corners); });
                          },
                          {.settings = {1}});

// The middle of each axis is cut out, or zeros are put around it; the odd one is behind.
const OnnxOps kCenterCropPad("CenterCropPad", 18,
                             [](OnnxCall& call) -> Step {
                               const Shape& x = call.node.ShapeAt(0);
                               const std::vector<int64_t> wanted = call.node.KnownInts(1, "shape");
                               std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
                               std::iota(axes.begin(), axes.end(), 0);
                               if (const auto given = call.Ints("axes"))
                                 axes = call.Axes(*given, x.rank());
                               if (axes.size() != wanted.size()) {
                                 RefuseNode("shape is expected to have ", axes.size(),
                                            " numbers, it has ", wanted.size());
                               }
                               std::vector<int64_t> begin(static_cast<size_t>(x.rank())),
                                   end = begin;
                               RequireSizes(wanted, "shape");
                               for (size_t i = 0; i < axes.size(); ++i) {
                                 const int64_t more = wanted[i] - x[axes[i]];
                                 begin[static_cast<size_t>(axes[i])] = more / 2;
                                 end[static_cast<size_t>(axes[i])] = more - more / 2;
                               }
                               return One([=](In in) { return PadImage(in[0], begin, end); });
                             },
                             {.settings = {1}});

const OnnxOps kNonMaxSuppression("NonMaxSuppression", 10,
                                 [](OnnxCall& call) -> Step {
                                   NonMaxSuppressionOptions o;
                                   if (call.node.Has(2))
                                     o.max_per_class =
                                         call.node.KnownInt(2, "max_output_boxes_per_class");
                                   if (call.node.Has(3))
                                     o.iou_threshold = call.node.KnownNumber(3, "iou_threshold");
                                   if (call.node.Has(4))
                                     o.score_threshold =
                                         call.node.KnownNumber(4, "score_threshold");
                                   o.center_box = call.Flag("center_point_box", false);
                                   return One(
                                       [=](In in) { return NonMaxSuppression(in[0], in[1], o); });
                                 },
                                 {.settings = {2, 3, 4}});

}  // namespace
}  // namespace firn::io::internal
