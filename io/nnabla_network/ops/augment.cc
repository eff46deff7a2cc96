// Random changes of samples. Draws have NNabla's distribution, not its numbers. One difference:
// rectangles of RandomErase end where their area does, NNabla's one row and column later.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

constexpr NnablaOpOptions kDraws = {.draws = true};

const NnablaOps kRandomChoice(
    "RandomChoice", 2, 2,
    [](const Args& a, In in) -> TensorList {
      return {RandomChoice(in[0], in[1], Shape(absl::Span<const int64_t>(a.Ints("shape"))),
                           {.replacement = a.Flag("replace")})};
    },
    kDraws);

const NnablaOps kRandomShift(
    "RandomShift", 1, 1,
    [](const Args& a, In in) -> TensorList {
      const std::string& mode = a.Text("border_mode");
      ShiftBorder border = ShiftBorder::kNearest;
      if (mode == "reflect") {
        border = ShiftBorder::kReflect;
      } else if (mode == "constant") {
        border = ShiftBorder::kConstant;
      } else if (mode != "nearest") {
        RefuseNnabla("border_mode", "nearest, reflect or constant", mode);
      }
      return {RandomShift(
          in[0], a.Ints("shifts"),
          {.border = border, .value = a.Number("constant_value"), .base_dim = a.Int("base_axis")})};
    },
    kDraws);

RandomRange RangeOf(const Args& a, std::string_view name) {
  const std::vector<float>& numbers = a.Floats(name);
  if (numbers.size() != 2) {
    RefuseNnabla(name, "two numbers", absl::StrCat(numbers.size(), " numbers"));
  }
  return {numbers[0], numbers[1]};
}

const NnablaOps kRandomErase(
    "RandomErase", 1, 1,
    [](const Args& a, In in) -> TensorList {
      const bool last = a.Flag("channel_last");
      const int64_t base = a.Int("base_axis");
      const Tensor y = RandomErase(ImagesOf(in[0], base, last),
                                   {.prob = a.Number("prob"),
                                    .area = RangeOf(a, "area_ratios"),
                                    .aspect = RangeOf(a, "aspect_ratios"),
                                    .value = RangeOf(a, "replacements"),
                                    .n = a.Int("n"),
                                    .share = a.Flag("share"),
                                    .base_dim = 1,
                                    .straight_through = !a.Flag("ste_fine_grained")});
      return {FromImages(y, in[0], base, last)};
    },
    kDraws);

// Images are the last three dimensions; sizes before them are not changed.
const NnablaOps kImageAugmentation(
    "ImageAugmentation", 1, 1,
    [](const Args& a, In in) -> TensorList {
      const int64_t base = in[0].rank() - 3;
      if (base < 0) RefuseNnabla("the rank", "at least 3", absl::StrCat(in[0].rank()));
      const std::vector<int64_t>& shape = a.Ints("shape");
      const std::vector<int64_t> sizes(shape.end() - std::min<ptrdiff_t>(3, std::ssize(shape)),
                                       shape.end());
      const Tensor y = ImageAugmentation(ImagesOf(in[0], base, false),
                                         {.shape = Shape(absl::Span<const int64_t>(sizes)),
                                          .pad = Sizes(absl::Span<const int64_t>(a.Ints("pad"))),
                                          .min_scale = a.Number("min_scale"),
                                          .max_scale = a.Number("max_scale"),
                                          .angle = a.Number("angle"),
                                          .aspect_ratio = a.Number("aspect_ratio"),
                                          .distortion = a.Number("distortion"),
                                          .flip_lr = a.Flag("flip_lr"),
                                          .flip_ud = a.Flag("flip_ud"),
                                          .brightness = a.Number("brightness"),
                                          .brightness_each = a.Flag("brightness_each"),
                                          .contrast = a.Number("contrast"),
                                          .contrast_center = a.Number("contrast_center"),
                                          .contrast_each = a.Flag("contrast_each"),
                                          .noise = a.Number("noise")});
      return {FromImages(y, in[0], base, false)};
    },
    kDraws);

// x eps / sqrt(1e-8 + sum x^2) of each sample. NNabla's backward pass writes the gradient into w,
// for the next run; without that, training would give other results.
const NnablaOps kVatNoise("VATNoise", 2, 2, [](const Args& a, In in) -> TensorList {
  if (GradEnabled() && in[1].requires_grad()) {
    RefuseNnabla("w", "one that learns nothing, since NNabla's backward writes into it",
                 "one that takes gradients");
  }
  const Tensor x = in[0].Detach();
  const Tensor rows = RowsOf(x, AxisOf(x, a.Int("base_axis")));
  const Tensor sums = Add(Sum(Mul(rows, rows), 1, true), Tensor(1e-8));
  return {Reshape(Mul(Div(rows, Sqrt(sums)), Tensor(a.Number("eps"))), x.shape())};
});

}  // namespace
}  // namespace firn::io::internal
