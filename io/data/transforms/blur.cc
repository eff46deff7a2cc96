// Two passes of sums of shifted rows, in floats: along each row, which is laid out with its
// reflected ends first, then down the columns.
#include "firn/io/data/transforms/blur.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::Plane;

std::vector<float> Weights(int64_t kernel, double sigma) {
  std::vector<double> exact(static_cast<size_t>(kernel));
  double sum = 0;
  for (int64_t i = 0; i < kernel; ++i) {
    const double d = static_cast<double>(i - kernel / 2) / sigma;
    sum += exact[static_cast<size_t>(i)] = std::exp(-0.5 * d * d);
  }
  std::vector<float> weights;
  for (const double w : exact) weights.push_back(static_cast<float>(w / sum));
  return weights;
}

int64_t Reflected(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

// Adds w times a row.
void AddRow(float w, const float* __restrict from, int64_t n, float* __restrict to) {
  for (int64_t i = 0; i < n; ++i) to[i] += w * from[i];
}

template <class T>
void Store(const float* __restrict from, int64_t n, T* __restrict to) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, uint8_t>) {
      to[i] = static_cast<uint8_t>(std::nearbyint(std::min(from[i], 255.0f)));
    } else {
      to[i] = from[i];
    }
  }
}

struct Room {
  std::vector<float> line;   // a row and what is reflected at its ends
  std::vector<float> image;  // after the first pass
  std::vector<float> sum;
};

template <class T>
void BlurPlane(const Plane<const T>& from, const std::vector<float>& weights, Room* room,
               const Plane<T>& to) {
  const auto kernel = static_cast<int64_t>(weights.size());
  const int64_t half = kernel / 2, w = from.width, h = from.height;
  for (int64_t y = 0; y < h; ++y) {
    const T* row = from.row(y);
    float* line = room->line.data();
    for (int64_t x = 0; x < w; ++x) line[half + x] = static_cast<float>(row[x]);
    for (int64_t x = 1; x <= half; ++x) {
      line[half - x] = static_cast<float>(row[Reflected(-x, w)]);
      line[half + w - 1 + x] = static_cast<float>(row[Reflected(w - 1 + x, w)]);
    }
    float* sum = room->image.data() + y * w;
    std::fill_n(sum, w, 0.0f);
    for (int64_t k = 0; k < kernel; ++k) AddRow(weights[static_cast<size_t>(k)], line + k, w, sum);
  }
  for (int64_t y = 0; y < h; ++y) {
    std::fill(room->sum.begin(), room->sum.end(), 0.0f);
    for (int64_t k = 0; k < kernel; ++k) {
      AddRow(weights[static_cast<size_t>(k)], room->image.data() + Reflected(y + k - half, h) * w,
             w, room->sum.data());
    }
    Store(room->sum.data(), w, to.row(y));
  }
}

}  // namespace

Transform GaussianBlur(const GaussianBlurOptions& options) {
  const char* const who = "gaussian_blur";
  if (options.kernel < 1 || options.kernel > 1023 || options.kernel % 2 == 0) {
    RaiseStatus(InvalidArgument("kernel is ", options.kernel, " (want an odd number, 1 to 1023)"),
                who);
  }
  internal::RequireInterval(options.sigma, std::numeric_limits<double>::min(), "sigma", who);
  return [options, who](const Tensor& image, RandomGenerator& random) {
    const Tensor from = internal::CheckedImage(image, who);
    const int64_t h = from.size(1), w = from.size(2), half = options.kernel / 2;
    if (h <= half || w <= half) {
      RaiseStatus(InvalidArgument("expected an image of more than ", half,
                                  " pixels in each direction for a kernel of ", options.kernel,
                                  ", got ", h, " x ", w),
                  who);
    }
    const std::vector<float> weights =
        Weights(options.kernel, internal::Uniform(random, options.sigma));
    Tensor out = internal::NewImage(from, h, w, who);
    Room room;
    room.line.resize(static_cast<size_t>(w + 2 * half));
    room.image.resize(static_cast<size_t>(h * w));
    room.sum.resize(static_cast<size_t>(w));
    internal::ForPixels(from, [&](auto pixel) {
      using T = decltype(pixel);
      for (int64_t c = 0; c < from.size(0); ++c) {
        BlurPlane(internal::PlaneOf<T>(from, c), weights, &room,
                  internal::MutablePlaneOf<T>(out, c));
      }
    });
    return out;
  };
}

}  // namespace firn::io
