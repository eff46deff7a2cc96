// Pillow's ImageOps: a table of 256 bytes for each channel, from its histogram. And its filter
// SMOOTH, which sharpness is measured from.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "firn/io/data/transforms/internal/adjust.h"
#include "firn/io/data/transforms/internal/blend.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/table.h"

namespace firn::io::internal {
namespace {

using Histogram = std::array<int64_t, 256>;

Histogram HistogramOf(const Tensor& image, int64_t c) {
  Histogram histogram = {};
  const Plane<const uint8_t> plane = PlaneOf<uint8_t>(image, c);
  for (int64_t i = 0; i < plane.height * plane.width; ++i) ++histogram[plane.data[i]];
  return histogram;
}

ByteTable Identity() {
  ByteTable table;
  for (size_t v = 0; v < 256; ++v) table[v] = static_cast<uint8_t>(v);
  return table;
}

ByteTable StretchTable(const Histogram& histogram) {
  ByteTable table = Identity();
  const auto used = [](int64_t n) { return n != 0; };
  const auto low = std::find_if(histogram.begin(), histogram.end(), used) - histogram.begin();
  const auto high = histogram.rend() - std::find_if(histogram.rbegin(), histogram.rend(), used) - 1;
  if (high <= low) return table;
  const double scale = 255.0 / static_cast<double>(high - low);
  const double offset = -static_cast<double>(low) * scale;
  for (size_t v = 0; v < 256; ++v) {
    const double made = static_cast<double>(v) * scale + offset;
    table[v] = static_cast<uint8_t>(std::clamp(made, 0.0, 255.0));
  }
  return table;
}

ByteTable EqualTable(const Histogram& histogram) {
  ByteTable table = Identity();
  int64_t values = 0, total = 0, last = 0;
  for (const int64_t n : histogram) {
    values += n != 0 ? 1 : 0;
    total += n;
    if (n != 0) last = n;
  }
  const int64_t step = (total - last) / 255;
  if (values <= 1 || step == 0) return table;
  int64_t sum = step / 2;
  for (size_t v = 0; v < 256; ++v) {
    table[v] = static_cast<uint8_t>(std::min<int64_t>(sum / step, 255));
    sum += histogram[v];
  }
  return table;
}

template <class MakeTable>
Tensor MappedByHistogram(const Tensor& image, MakeTable make, const char* who) {
  std::vector<ByteTable> tables;
  for (int64_t c = 0; c < image.size(0); ++c) tables.push_back(make(HistogramOf(image, c)));
  return Mapped(image, tables, who);
}

// A sum of thirteenths as a pixel.
template <class T>
T Thirteenth(float sum) {
  const float v = sum / 13;
  if constexpr (std::is_same_v<T, uint8_t>) return static_cast<uint8_t>(v + 0.5f);
  return static_cast<T>(v);
}

template <class T>
void SharpenPlane(const Plane<const T>& from, float factor, const Plane<T>& to) {
  std::copy_n(from.data, from.height * from.width, to.data);
  for (int64_t y = 1; y + 1 < from.height; ++y) {
    const T* __restrict a = from.row(y - 1);
    const T* __restrict b = from.row(y);
    const T* __restrict c = from.row(y + 1);
    T* __restrict out = to.row(y);
    for (int64_t x = 1; x + 1 < from.width; ++x) {
      const auto f = [](T v) { return static_cast<float>(v); };
      const float around = f(a[x - 1]) + f(a[x]) + f(a[x + 1]) + f(b[x - 1]) + f(b[x + 1]) +
                           f(c[x - 1]) + f(c[x]) + f(c[x + 1]);
      out[x] = Blend(Thirteenth<T>(around + 5 * f(b[x])), b[x], factor);
    }
  }
}

}  // namespace

Tensor Mapped(const Tensor& image, absl::Span<const ByteTable> tables, const char* who) {
  Tensor out = NewImage(image, image.size(1), image.size(2), who);
  for (int64_t c = 0; c < image.size(0); ++c) {
    const uint8_t* __restrict table =
        tables[tables.size() == 1 ? 0 : static_cast<size_t>(c)].data();
    const Plane<const uint8_t> from = PlaneOf<uint8_t>(image, c);
    uint8_t* __restrict to = MutablePlaneOf<uint8_t>(out, c).data;
    for (int64_t i = 0; i < from.height * from.width; ++i) to[i] = table[from.data[i]];
  }
  return out;
}

Tensor Posterized(const Tensor& image, int bits, const char* who) {
  ByteTable table;
  for (size_t v = 0; v < 256; ++v) table[v] = static_cast<uint8_t>(v >> (8 - bits) << (8 - bits));
  return Mapped(image, {&table, 1}, who);
}

Tensor Solarized(const Tensor& image, double threshold, const char* who) {
  ByteTable table = Identity();
  for (size_t v = 0; v < 256; ++v) {
    if (static_cast<double>(v) >= threshold) table[v] = static_cast<uint8_t>(255 - v);
  }
  return Mapped(image, {&table, 1}, who);
}

Tensor AutoContrasted(const Tensor& image, const char* who) {
  return MappedByHistogram(image, StretchTable, who);
}

Tensor Equalized(const Tensor& image, const char* who) {
  return MappedByHistogram(image, EqualTable, who);
}

Tensor Sharpness(const Tensor& image, double factor, const char* who) {
  Tensor out = NewImage(image, image.size(1), image.size(2), who);
  ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    for (int64_t c = 0; c < image.size(0); ++c) {
      SharpenPlane(PlaneOf<T>(image, c), static_cast<float>(factor), MutablePlaneOf<T>(out, c));
    }
  });
  return out;
}

}  // namespace firn::io::internal
