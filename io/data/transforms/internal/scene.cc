// Masks are gathered byte by byte, by a table of where each pixel lies; boxes go through the
// inverse of the matrix by their corners.
#include "firn/io/data/transforms/internal/scene.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "firn/io/data/transforms/internal/image.h"

namespace firn::io::internal {
namespace {

Tensor MovedBoxes(const Tensor& boxes, const AffineMatrix& m, int64_t height, int64_t width) {
  const double det = m[0] * m[4] - m[1] * m[3];
  const auto w = static_cast<double>(width), h = static_cast<double>(height);
  Tensor out = NewTensor(DType::kF64, boxes.shape(), "boxes");
  const double* from = boxes.host_view<double>().data();
  double* to = out.mutable_host_view<double>().data();
  for (int64_t i = 0; i < boxes.size(0); ++i, from += 4, to += 4) {
    double xs[4], ys[4];
    for (int k = 0; k < 4; ++k) {
      const double dx = from[k % 2 * 2] - m[2], dy = from[k / 2 * 2 + 1] - m[5];
      xs[k] = (m[4] * dx - m[1] * dy) / det;
      ys[k] = (m[0] * dy - m[3] * dx) / det;
    }
    to[0] = std::clamp(*std::min_element(xs, xs + 4), 0.0, w);
    to[1] = std::clamp(*std::min_element(ys, ys + 4), 0.0, h);
    to[2] = std::clamp(*std::max_element(xs, xs + 4), 0.0, w);
    to[3] = std::clamp(*std::max_element(ys, ys + 4), 0.0, h);
  }
  return out;
}

// Offsets into a plane of in_height x in_width elements; below 0: beside it.
std::vector<int64_t> Sources(const AffineMatrix& m, int64_t height, int64_t width,
                             int64_t in_height, int64_t in_width) {
  std::vector<int64_t> sources;
  sources.reserve(static_cast<size_t>(height * width));
  const auto w = static_cast<double>(in_width), h = static_cast<double>(in_height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const double px = static_cast<double>(x) + 0.5, py = static_cast<double>(y) + 0.5;
      const double sx = m[0] * px + m[1] * py + m[2], sy = m[3] * px + m[4] * py + m[5];
      const bool inside = sx >= 0 && sx < w && sy >= 0 && sy < h;
      sources.push_back(inside ? static_cast<int64_t>(sy) * in_width + static_cast<int64_t>(sx)
                               : -1);
    }
  }
  return sources;
}

Tensor MovedMask(const Tensor& mask, const AffineMatrix& m, int64_t height, int64_t width) {
  const int64_t in_height = mask.size(-2), in_width = mask.size(-1);
  const std::vector<int64_t> sources = Sources(m, height, width, in_height, in_width);
  std::vector<int64_t> sizes(mask.shape().begin(), mask.shape().end());
  sizes[sizes.size() - 2] = height;
  sizes[sizes.size() - 1] = width;
  Tensor out = NewTensor(mask.dtype(), Shape(sizes), "mask");
  const auto bytes = static_cast<size_t>(SizeOf(mask.dtype()));
  const auto plane = static_cast<size_t>(in_height * in_width) * bytes;
  const char* from = mask.impl()->data;
  char* to = out.impl()->data;
  const size_t planes = out.spec().bytes() / (bytes * sources.size());
  for (size_t p = 0; p < planes; ++p, from += plane) {
    for (const int64_t source : sources) {
      if (source < 0) {
        std::memset(to, 0, bytes);
      } else {
        std::memcpy(to, from + static_cast<size_t>(source) * bytes, bytes);
      }
      to += bytes;
    }
  }
  return out;
}

}  // namespace

void Scene::Move(const AffineMatrix& matrix, int64_t height, int64_t width) {
  for (Tensor& t : boxes) t = MovedBoxes(t, matrix, height, width);
  for (Tensor& t : masks) t = MovedMask(t, matrix, height, width);
}

}  // namespace firn::io::internal
