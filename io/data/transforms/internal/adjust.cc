// If an operation's result depends on the byte alone, it is worked out once for all 256 bytes. The
// other loops run over planes side by side without jumps, so that they become vectors.
#include "firn/io/data/transforms/internal/adjust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "firn/io/data/transforms/internal/blend.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/table.h"

namespace firn::io::internal {
namespace {

int64_t PlaneSize(const Tensor& image) { return image.size(1) * image.size(2); }

Tensor NewLike(const Tensor& image, const char* who) {
  return NewImage(image, image.size(1), image.size(2), who);
}

// Every element blended with `from`.
Tensor BlendWithAll(const Tensor& image, double from, double factor, const char* who) {
  const auto part = static_cast<float>(factor);
  if (image.dtype() == DType::kU8) {
    ByteTable table;
    for (int v = 0; v < 256; ++v) {
      table[static_cast<size_t>(v)] =
          Blend(static_cast<uint8_t>(from), static_cast<uint8_t>(v), part);
    }
    return Mapped(image, {&table, 1}, who);
  }
  Tensor out = NewLike(image, who);
  const float* __restrict in = image.host_view<float>().data();
  float* __restrict to = out.mutable_host_view<float>().data();
  for (int64_t i = 0; i < image.num_elements(); ++i) {
    to[i] = Blend(static_cast<float>(from), in[i], part);
  }
  return out;
}

inline uint8_t Luma(uint8_t r, uint8_t g, uint8_t b) {
  return static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16);
}
inline float Luma(float r, float g, float b) { return 0.2989f * r + 0.587f * g + 0.114f * b; }

template <class T>
void GreyPlane(const Tensor& image, T* __restrict to) {
  const int64_t n = PlaneSize(image);
  const T* r = PlaneOf<T>(image, 0).data;
  if (image.size(0) == 1) {
    std::copy_n(r, n, to);
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = Luma(r[i], r[i + n], r[i + 2 * n]);
}

double MeanGrey(const Tensor& image, const char* who) {
  const Tensor grey = Grey(image, 1, who);
  const auto n = static_cast<double>(grey.num_elements());
  return ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    std::conditional_t<std::is_same_v<T, uint8_t>, int64_t, double> sum = 0;
    for (const T v : grey.host_view<T>()) sum += v;
    const double mean = static_cast<double>(sum) / n;
    return std::is_same_v<T, uint8_t> ? std::floor(mean + 0.5) : mean;
  });
}

inline float ToUnit(uint8_t v) { return static_cast<float>(v) / 255; }
inline float ToUnit(float v) { return v; }
inline void FromUnit(float v, uint8_t* to) { *to = static_cast<uint8_t>(v * 255.999f); }
inline void FromUnit(float v, float* to) { *to = v; }

inline float InUnit(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

// What the sixth `sixth` of the circle makes of one channel.
inline float OfSixth(int sixth, float s0, float s1, float s2, float s3, float s4, float s5) {
  const float low = sixth == 0 ? s0 : sixth == 1 ? s1 : s2;
  const float high = sixth == 3 ? s3 : sixth == 4 ? s4 : s5;
  return sixth < 3 ? low : high;
}

// torchvision's _rgb2hsv and _hsv2rgb.
template <class T>
void TurnHue(const T* __restrict from, int64_t n, float turn, T* __restrict to) {
  for (int64_t i = 0; i < n; ++i) {
    const float r = ToUnit(from[i]), g = ToUnit(from[i + n]), b = ToUnit(from[i + 2 * n]);
    const float max = std::max(r, std::max(g, b)), min = std::min(r, std::min(g, b));
    const float range = max - min;
    const float divisor = range == 0 ? 1 : range;
    const float saturation = range / (range == 0 ? 1 : max);
    const float rc = (max - r) / divisor, gc = (max - g) / divisor, bc = (max - b) / divisor;
    const float of_green = 2 + rc - bc, of_blue = 4 + gc - rc;
    const float sixths = max == r ? bc - gc : max == g ? of_green : of_blue;
    const float circle = sixths / 6 + 1 + turn;  // above 0: turn >= -0.5, sixths >= -1
    const float hue = (circle - std::floor(circle)) * 6;
    const float whole = std::floor(hue), part = hue - whole;
    const int sixth = whole < 6 ? static_cast<int>(whole) : 0;
    const float p = InUnit(max * (1 - saturation)), q = InUnit(max * (1 - saturation * part));
    const float t = InUnit(max * (1 - saturation * (1 - part)));
    FromUnit(OfSixth(sixth, max, q, p, p, t, max), to + i);
    FromUnit(OfSixth(sixth, t, max, max, q, p, p), to + i + n);
    FromUnit(OfSixth(sixth, p, p, t, max, max, q), to + i + 2 * n);
  }
}

}  // namespace

Tensor Brightness(const Tensor& image, double factor, const char* who) {
  return BlendWithAll(image, 0, factor, who);
}

Tensor Contrast(const Tensor& image, double factor, const char* who) {
  return BlendWithAll(image, MeanGrey(image, who), factor, who);
}

Tensor Saturation(const Tensor& image, double factor, const char* who) {
  if (image.size(0) == 1) return image;
  const Tensor grey = Grey(image, 1, who);
  Tensor out = NewLike(image, who);
  const int64_t n = PlaneSize(image);
  ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    const T* __restrict from = grey.host_view<T>().data();
    for (int64_t c = 0; c < 3; ++c) {
      const T* __restrict in = PlaneOf<T>(image, c).data;
      T* __restrict to = MutablePlaneOf<T>(out, c).data;
      for (int64_t i = 0; i < n; ++i) to[i] = Blend(from[i], in[i], static_cast<float>(factor));
    }
  });
  return out;
}

Tensor Hue(const Tensor& image, double turn, const char* who) {
  if (image.size(0) == 1) return image;
  Tensor out = NewLike(image, who);
  ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    TurnHue(image.host_view<T>().data(), PlaneSize(image), static_cast<float>(turn),
            out.mutable_host_view<T>().data());
  });
  return out;
}

Tensor Grey(const Tensor& image, int64_t channels, const char* who) {
  Tensor out = NewTensor(image.dtype(), Shape{channels, image.size(1), image.size(2)}, who);
  ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    T* to = out.mutable_host_view<T>().data();
    GreyPlane(image, to);
    for (int64_t c = 1; c < channels; ++c)
      std::copy_n(to, PlaneSize(image), to + c * PlaneSize(image));
  });
  return out;
}

}  // namespace firn::io::internal
