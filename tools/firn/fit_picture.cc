// Sizes are computed in whole numbers, so that a square result is to the pixel what torchvision's
// transforms give.
#include "tools/firn/fit_picture.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/crop.h"
#include "firn/io/data/transforms/resize.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 20;  // of a side, as io::Resize has it

const char* NameOf(bool bicubic) { return bicubic ? "bicubic" : "bilinear"; }

}  // namespace

io::Transform FitPicture(const PictureFit& fit) {
  const auto interpolation =
      fit.bicubic ? io::Interpolation::kBicubic : io::Interpolation::kBilinear;
  const io::ResizeOptions stretched = {
      .height = fit.height, .width = fit.width, .interpolation = interpolation};
  if (fit.shorter == 0) return io::Resize(stretched);
  (void)io::Resize(stretched);  // checks the sides
  const int64_t side = std::min(fit.height, fit.width);
  const auto grown = [&](int64_t pixels) { return (2 * pixels * fit.shorter + side) / (2 * side); };
  const bool small = fit.shorter < side;
  if (small || fit.shorter > kMostPixels ||
      std::max(grown(fit.height), grown(fit.width)) > kMostPixels) {
    RaiseStatus(
        InvalidArgument("expected at least ", side, " pixels for the shorter side, of which ",
                        fit.height, " x ", fit.width, " is cut, and at most ", kMostPixels,
                        " for each, got ", fit.shorter),
        "pictures");
  }
  const int64_t height = grown(fit.height), width = grown(fit.width);
  const io::Transform crop = io::CenterCrop({.height = fit.height, .width = fit.width});
  return [=](Tensor picture) {
    if (picture.rank() != 3 || picture.num_elements() == 0) return crop(std::move(picture));
    const int64_t h = picture.size(1), w = picture.size(2);
    const bool by_height = height * w >= width * h;
    const io::ResizeOptions cover = {.height = by_height ? height : width * h / w,
                                     .width = by_height ? height * w / h : width,
                                     .interpolation = interpolation};
    return crop(io::Resize(cover)(std::move(picture)));
  };
}

std::string FitText(const PictureFit& fit) {
  const std::string size = absl::StrCat(fit.height, " x ", fit.width);
  if (fit.shorter == 0) {
    return absl::StrCat("stretched to ", size, " (", NameOf(fit.bicubic),
                        "; firn forward --resize)");
  }
  return absl::StrCat("resized to ", fit.shorter, " pixels at the shorter side (",
                      NameOf(fit.bicubic), "), then the middle ", size,
                      " cut out (firn forward --crop ", fit.shorter,
                      fit.bicubic ? " --bicubic)" : ")");
}

}  // namespace firn::cli
