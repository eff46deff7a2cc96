#include "firn/io/monitors/internal/pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// By the least and the largest finite element; constant images become black.
void NormalizeByRange(std::vector<float>* values) {
  float least = std::numeric_limits<float>::infinity(), largest = -least;
  for (float v : *values) {
    if (!std::isfinite(v)) continue;
    least = std::min(least, v);
    largest = std::max(largest, v);
  }
  // In halves, so that the width of the range cannot overflow.
  const float half_width = largest / 2 - least / 2;
  for (float& v : *values) v = half_width > 0 ? (v / 2 - least / 2) / half_width : 0;
}

uint8_t Byte(float value) {
  if (!(value > 0)) return 0;  // NaN too
  return static_cast<uint8_t>(std::min(value, 1.0f) * 255 + 0.5f);
}

// One image's planes to pixels.
Tensor PictureOf(const float* planes, int64_t channels, int64_t height, int64_t width) {
  const int64_t area = height * width, shown = channels == 1 ? 1 : 3;
  std::vector<uint8_t> pixels(static_cast<size_t>(shown * area), 255);
  std::transform(planes, planes + std::min(channels, shown) * area, pixels.begin(), Byte);
  return FromVector(std::move(pixels), {shown, height, width});
}

}  // namespace

std::vector<Tensor> PicturesOf(const Tensor& images, int64_t most,
                               const std::function<Tensor(const Tensor&)>& normalize,
                               std::string_view who) {
  if (images.rank() < 3 || images.num_elements() == 0) {
    RaiseStatus(InvalidArgument("images are ", images.shape().ToString(),
                                " (want [N, ..., channels, height, width])"),
                who);
  }
  const NoGradScope no_grad;
  const int64_t c = images.size(-3), h = images.size(-2), w = images.size(-1);
  Tensor all = Reshape(images.Detach(), {-1, c, h, w});
  const int64_t n = std::min(all.size(0), most);
  all = Cast(all[{Range(0, n)}], DType::kF32);
  if (normalize) {
    const Shape shape = all.shape();
    all = normalize(all);
    if (all.shape() != shape) {
      RaiseStatus(InvalidArgument("normalised images are ", all.shape().ToString(), " (want ",
                                  shape.ToString(), ")"),
                  who);
    }
  }
  std::vector<float> values = all.ToVector<float>();
  if (!normalize) NormalizeByRange(&values);
  std::vector<Tensor> pictures;
  for (int64_t i = 0; i < n; ++i) {
    pictures.push_back(PictureOf(values.data() + i * c * h * w, c, h, w));
  }
  return pictures;
}

Tensor Tile(const std::vector<Tensor>& pictures, int64_t pad) {
  const int64_t channels = pictures[0].size(0), height = pictures[0].size(1);
  const int64_t width = pictures[0].size(2);
  int64_t side = 1;
  while (side * side < static_cast<int64_t>(pictures.size())) ++side;
  Tensor tile = Zeros({channels, side * (height + pad), side * (width + pad)}, DType::kU8);
  for (size_t i = 0; i < pictures.size(); ++i) {
    const int64_t top = static_cast<int64_t>(i) / side * (height + pad);
    const int64_t left = static_cast<int64_t>(i) % side * (width + pad);
    tile[{kAll, Range(top, top + height), Range(left, left + width)}] = pictures[i];
  }
  return tile;
}

}  // namespace firn::io::internal
