// A row of the result at a time: where each of its pixels lies in the image is the same for all
// channels, so that is worked out once, into arrays, and the channels follow in plain loops.
#include "firn/io/data/transforms/internal/warp.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {
namespace {

// Offsets into a plane of what one row of the result is made of; below 0: beside the image.
struct RowPlaces {
  explicit RowPlaces(int64_t width, bool bilinear) : at(static_cast<size_t>(width)) {
    if (!bilinear) return;
    for (auto* offsets : {&right, &below, &beyond}) offsets->resize(at.size());
    for (auto* parts : {&dx, &dy}) parts->resize(at.size());
  }
  std::vector<int64_t> at, right, below, beyond;
  std::vector<float> dx, dy;
};

struct Source {
  const AffineMatrix& m;
  int64_t height, width;

  // Where the middle of pixel (x, y) of the result lies; false beside the image.
  bool Find(int64_t x, int64_t y, double* sx, double* sy) const {
    const double px = static_cast<double>(x) + 0.5, py = static_cast<double>(y) + 0.5;
    *sx = m[0] * px + m[1] * py + m[2];
    *sy = m[3] * px + m[4] * py + m[5];
    return *sx >= 0 && *sx < static_cast<double>(width) && *sy >= 0 &&
           *sy < static_cast<double>(height);
  }

  // Pillow counts in 1 / 65536 pixels where the image is turned and all numbers are small enough,
  // so that places on the edge of two pixels do not depend on rounding errors of sines.
  bool Fixed(int64_t out_height, int64_t out_width) const {
    const auto small = [&](double x, double y) {
      return std::abs(m[0] * x + m[1] * y + m[2]) < 32768 &&
             std::abs(m[3] * x + m[4] * y + m[5]) < 32768;
    };
    const auto w = static_cast<double>(out_width), h = static_cast<double>(out_height);
    return (m[1] != 0 || m[3] != 0) && std::max(height, width) < 32768 && small(0, 0) &&
           small(w, 0) && small(0, h) && small(w, h);
  }

  void FixedNearest(int64_t y, RowPlaces* row) const {
    const auto fixed = [](double v) { return static_cast<int64_t>(std::floor(v * 65536 + 0.5)); };
    int64_t sx = fixed(m[2] + m[0] * 0.5 + m[1] * 0.5) + y * fixed(m[1]);
    int64_t sy = fixed(m[5] + m[3] * 0.5 + m[4] * 0.5) + y * fixed(m[4]);
    const int64_t right = fixed(m[0]), down = fixed(m[3]);
    for (int64_t& at : row->at) {
      const int64_t ix = sx >> 16, iy = sy >> 16;
      at = ix >= 0 && ix < width && iy >= 0 && iy < height ? iy * width + ix : -1;
      sx += right;
      sy += down;
    }
  }

  void Nearest(int64_t y, RowPlaces* row) const {
    for (size_t x = 0; x < row->at.size(); ++x) {
      double sx, sy;
      const bool inside = Find(static_cast<int64_t>(x), y, &sx, &sy);
      row->at[x] = inside ? static_cast<int64_t>(sy) * width + static_cast<int64_t>(sx) : -1;
    }
  }

  void Bilinear(int64_t y, RowPlaces* row) const {
    const auto inside = [](int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); };
    for (size_t x = 0; x < row->at.size(); ++x) {
      double sx, sy;
      row->at[x] = -1;
      if (!Find(static_cast<int64_t>(x), y, &sx, &sy)) continue;
      const double left = std::floor(sx - 0.5), top = std::floor(sy - 0.5);
      const auto ix = static_cast<int64_t>(left), iy = static_cast<int64_t>(top);
      const int64_t x0 = inside(ix, width), x1 = inside(ix + 1, width);
      const int64_t y0 = inside(iy, height) * width, y1 = inside(iy + 1, height) * width;
      row->at[x] = y0 + x0;
      row->right[x] = y0 + x1;
      row->below[x] = y1 + x0;
      row->beyond[x] = y1 + x1;
      row->dx[x] = static_cast<float>(sx - 0.5 - left);
      row->dy[x] = static_cast<float>(sy - 0.5 - top);
    }
  }
};

template <class T>
T Rounded(float v) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<uint8_t>(v + 0.5f);  // between two pixels, so in range
  } else {
    return v;
  }
}

template <class T>
void TakeNearest(const T* from, const RowPlaces& row, T fill, T* to) {
  for (size_t x = 0; x < row.at.size(); ++x) to[x] = row.at[x] < 0 ? fill : from[row.at[x]];
}

template <class T>
void TakeBilinear(const T* from, const RowPlaces& row, T fill, T* to) {
  for (size_t x = 0; x < row.at.size(); ++x) {
    if (row.at[x] < 0) {
      to[x] = fill;
      continue;
    }
    const auto a = static_cast<float>(from[row.at[x]]), b = static_cast<float>(from[row.right[x]]);
    const auto c = static_cast<float>(from[row.below[x]]),
               d = static_cast<float>(from[row.beyond[x]]);
    const float above = a + row.dx[x] * (b - a), under = c + row.dx[x] * (d - c);
    to[x] = Rounded<T>(above + row.dy[x] * (under - above));
  }
}

double Radians(double degrees) { return degrees * (3.141592653589793 / 180); }

Point MiddleOf(const Tensor& image) {
  return {static_cast<double>(image.size(2)) * 0.5, static_cast<double>(image.size(1)) * 0.5};
}

// Python's round(v, 15), which makes turns by 90 degrees exact.
double Rounded15(double v) { return std::nearbyint(v * 1e15) / 1e15; }

}  // namespace

void RequireWarpable(Interpolation interpolation, const char* who) {
  if (interpolation != Interpolation::kBicubic) return;
  RaiseStatus(InvalidArgument("expected nearest or bilinear interpolation, got bicubic"), who);
}

Tensor Warp(const Tensor& image, int64_t height, int64_t width, const AffineMatrix& matrix,
            Interpolation interpolation, double fill, const char* who) {
  Tensor out = NewImage(image, height, width, who);
  const bool bilinear = interpolation == Interpolation::kBilinear;
  const Source source = {matrix, image.size(1), image.size(2)};
  RowPlaces row(width, bilinear);
  const bool fixed = source.Fixed(height, width);
  ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    for (int64_t y = 0; y < height; ++y) {
      if (bilinear) {
        source.Bilinear(y, &row);
      } else if (fixed) {
        source.FixedNearest(y, &row);
      } else {
        source.Nearest(y, &row);
      }
      for (int64_t c = 0; c < image.size(0); ++c) {
        const T* from = PlaneOf<T>(image, c).data;
        T* to = MutablePlaneOf<T>(out, c).row(y);
        bilinear ? TakeBilinear(from, row, static_cast<T>(fill), to)
                 : TakeNearest(from, row, static_cast<T>(fill), to);
      }
    }
  });
  return out;
}

AffineMatrix InverseAffine(const AffineOptions& options, const Point& center) {
  const double turn = Radians(options.degrees);
  const double sx = Radians(options.shear_x), sy = Radians(options.shear_y);
  const double a = std::cos(turn - sy) / std::cos(sy);
  const double b = -std::cos(turn - sy) * std::tan(sx) / std::cos(sy) - std::sin(turn);
  const double c = std::sin(turn - sy) / std::cos(sy);
  const double d = -std::sin(turn - sy) * std::tan(sx) / std::cos(sy) + std::cos(turn);
  AffineMatrix m = {d / options.scale,  -b / options.scale, 0,
                    -c / options.scale, a / options.scale,  0};
  const double x = -center.x - options.translate_x, y = -center.y - options.translate_y;
  m[2] = m[0] * x + m[1] * y + center.x;
  m[5] = m[3] * x + m[4] * y + center.y;
  return m;
}

Tensor WarpAffine(const Tensor& image, const AffineOptions& options, Scene* scene,
                  const char* who) {
  RequirePixel(image, options.fill, "fill", who);
  const AffineMatrix m = InverseAffine(options, options.center.value_or(MiddleOf(image)));
  if (scene != nullptr) scene->Move(m, image.size(1), image.size(2));
  return Warp(image, image.size(1), image.size(2), m, options.interpolation, options.fill, who);
}

// Pillow's Image.rotate.
Tensor WarpRotation(const Tensor& image, const RotateOptions& options, Scene* scene,
                    const char* who) {
  RequirePixel(image, options.fill, "fill", who);
  const auto w = static_cast<double>(image.size(2)), h = static_cast<double>(image.size(1));
  const double turn = -Radians(std::fmod(options.degrees, 360.0));
  const double cos = Rounded15(std::cos(turn)), sin = Rounded15(std::sin(turn));
  AffineMatrix m = {cos, sin, 0, -sin, cos, 0};
  const auto at = [&m](double x, double y) {
    return Point{m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]};
  };
  const Point center = options.center.value_or(MiddleOf(image));
  const Point moved = at(-center.x, -center.y);
  m[2] = moved.x + center.x;
  m[5] = moved.y + center.y;
  int64_t height = image.size(1), width = image.size(2);
  if (options.expand) {
    const Point corners[] = {at(0, 0), at(w, 0), at(w, h), at(0, h)};
    const auto [x0, x1] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
    const auto [y0, y1] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
    const double nw = std::ceil(x1) - std::floor(x0), nh = std::ceil(y1) - std::floor(y0);
    // A thin line becomes a square that is almost empty, as large as its length squared.
    const double most = std::max(134217728.0, 4 * h * w);
    if (nh * nw > most) {
      RaiseStatus(InvalidArgument("expected at most ", static_cast<int64_t>(most), " pixels, got ",
                                  nh, " x ", nw, " of an image of ", h, " x ", w, " turned by ",
                                  options.degrees, " degrees"),
                  who);
    }
    const Point start = at(-(nw - w) / 2, -(nh - h) / 2);
    m[2] = start.x;
    m[5] = start.y;
    width = static_cast<int64_t>(nw);
    height = static_cast<int64_t>(nh);
  }
  if (scene != nullptr) scene->Move(m, height, width);
  return Warp(image, height, width, m, options.interpolation, options.fill, who);
}

}  // namespace firn::io::internal
