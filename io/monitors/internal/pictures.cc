#include "io/monitors/internal/pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/index.h"
#include "tensor/ops.h"

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

char Byte(float value) {
  if (!(value > 0)) return 0;  // NaN too
  return static_cast<char>(static_cast<int>(std::min(value, 1.0f) * 255 + 0.5f));
}

// One image's planes to pixels.
Picture PictureOf(const float* planes, int64_t channels, int64_t height, int64_t width) {
  Picture picture{width, height, channels == 1 ? 1 : 3, {}};
  const int64_t area = height * width;
  picture.pixels.reserve(static_cast<size_t>(area * picture.channels));
  for (int64_t at = 0; at < area; ++at) {
    for (int64_t c = 0; c < picture.channels; ++c) {
      picture.pixels += c < channels ? Byte(planes[c * area + at]) : Byte(1);
    }
  }
  return picture;
}

}  // namespace

std::vector<Picture> PicturesOf(const Tensor& images, int64_t most,
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
  std::vector<Picture> pictures;
  for (int64_t i = 0; i < n; ++i) {
    pictures.push_back(PictureOf(values.data() + i * c * h * w, c, h, w));
  }
  return pictures;
}

Picture Tile(const std::vector<Picture>& pictures, int64_t pad) {
  const Picture& first = pictures.front();
  int64_t side = 1;
  while (side * side < static_cast<int64_t>(pictures.size())) ++side;
  const int64_t width = first.width + pad, height = first.height + pad;
  Picture tile{side * width, side * height, first.channels, {}};
  tile.pixels.assign(static_cast<size_t>(tile.width * tile.height * tile.channels), '\0');
  const auto row_bytes = static_cast<size_t>(first.width * first.channels);
  for (size_t i = 0; i < pictures.size(); ++i) {
    const int64_t top = static_cast<int64_t>(i) / side * height;
    const int64_t left = static_cast<int64_t>(i) % side * width;
    for (int64_t y = 0; y < first.height; ++y) {
      const int64_t to = ((top + y) * tile.width + left) * tile.channels;
      tile.pixels.replace(static_cast<size_t>(to), row_bytes, pictures[i].pixels,
                          static_cast<size_t>(y) * row_bytes, row_bytes);
    }
  }
  return tile;
}

}  // namespace firn::io::internal
