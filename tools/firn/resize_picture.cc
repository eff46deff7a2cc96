// Rows and columns one after the other, each output a weighted mean of the inputs below a triangle:
// of the width of one input pixel when enlarging (linear interpolation), of one output pixel when
// reducing, so that nothing is skipped.
#include "tools/firn/resize_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/from.h"

namespace firn::cli {
namespace {

// `x` f32 [outer, n, inner] with n changed to `size`. Inputs outside of [0, n) are 0 where they lie
// in the `pad` on both sides, and are left out beyond; a negative pad cuts off.
std::vector<float> ResizeDimension(const std::vector<float>& x, int64_t outer, int64_t n,
                                   int64_t inner, int64_t size, double pad) {
  const double scale = (static_cast<double>(n) + 2 * pad) / static_cast<double>(size);
  const double reach = std::max(scale, 1.0);
  std::vector<float> y(static_cast<size_t>(outer * size * inner), 0);
  for (int64_t k = 0; k < size; ++k) {
    const double center = (static_cast<double>(k) + 0.5) * scale - pad - 0.5;
    const auto low = static_cast<int64_t>(std::ceil(std::max(center - reach, -pad - 0.5)));
    const auto high = static_cast<int64_t>(
        std::floor(std::min(center + reach, static_cast<double>(n) - 0.5 + pad)));
    double all = 0;
    for (int64_t i = low; i <= high; ++i) {
      all += std::max(0.0, 1 - std::abs(static_cast<double>(i) - center) / reach);
    }
    for (int64_t i = std::max<int64_t>(low, 0); i <= std::min(high, n - 1) && all > 0; ++i) {
      const auto weight = static_cast<float>(
          std::max(0.0, 1 - std::abs(static_cast<double>(i) - center) / reach) / all);
      for (int64_t o = 0; o < outer; ++o) {
        const float* from = &x[static_cast<size_t>((o * n + i) * inner)];
        float* to = &y[static_cast<size_t>((o * size + k) * inner)];
        for (int64_t j = 0; j < inner; ++j) to[j] += weight * from[j];
      }
    }
  }
  return y;
}

// How much is added to either side of `n` (cut off, where it is negative) so that n has the
// proportion to `other` that `size` has to `other_size`.
double PadOf(int64_t n, int64_t other, int64_t size, int64_t other_size, ResizeMode mode) {
  const double wanted =
      static_cast<double>(other) * static_cast<double>(size) / static_cast<double>(other_size);
  const double pad = (wanted - static_cast<double>(n)) / 2;
  return mode == ResizeMode::kStretch || (mode == ResizeMode::kPadding) != (pad > 0) ? 0 : pad;
}

}  // namespace

Tensor ResizePicture(const Tensor& picture, int64_t height, int64_t width, ResizeMode mode) {
  const int64_t c = picture.size(0), h = picture.size(1), w = picture.size(2);
  if (height < 1 || width < 1 || picture.num_elements() == 0) {
    RaiseStatus(InvalidArgument("a picture of ", picture.shape().ToString(), " becomes ", height,
                                " x ", width, ": expected sizes >= 1"),
                "resize");
  }
  std::vector<float> x = picture.ToVector<float>();
  x = ResizeDimension(x, c, h, w, height, PadOf(h, w, height, width, mode));
  x = ResizeDimension(x, c * height, w, 1, width, PadOf(w, h, width, height, mode));
  std::vector<uint8_t> bytes(x.size());
  std::transform(x.begin(), x.end(), bytes.begin(), [](float v) {
    return static_cast<uint8_t>(std::clamp(std::lround(v), 0L, 255L));
  });
  return FromVector(std::move(bytes), {c, height, width});
}

}  // namespace firn::cli
