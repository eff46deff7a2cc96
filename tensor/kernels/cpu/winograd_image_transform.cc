// The image side of Winograd F(4x4,3x3) and F(2x2,5x5): tiles of activations to and from the
// transform domain.
//
// Every transform is one matrix applied to the columns of a tile and then to its rows:
//   B^T = [p 0 -s 0 1 0; 0 -a b^2 -b^2 a 1 0; 0 a b^2 -b^2 -a 1 0;
//          0 -a^2 b -a^2 b 1 0; 0 a^2 b -a^2 -b 1 0; 0 p 0 -s 0 1],  p = a^2 b^2, s = a^2 + b^2
//   A^T = [1 1 1 1 1 0; 0 a -a b -b 0; 0 a^2 a^2 b^2 b^2 0; 0 a^3 -a^3 b^3 -b^3 1]   for tiles of 4
//   A^T = [1 1 1 1 1 0; 0 a -a b -b 1]                                               for tiles of 2
// (after Lavin & Gray; interpolation points 0, a, -a, b, -b, infinity). Rows come in pairs that
// differ in the sign of their odd part, which halves the work. Each element is a vector of kBlock
// channels. Tiles reach over the border of the image: missing columns are skipped, missing rows
// read from a block of zeros, so that the inner loops have no conditions.

#include <algorithm>

#include "firn/tensor/kernels/cpu/internal/winograd_stages.h"

namespace firn::winograd {
namespace {

FIRN_ALWAYS_INLINE void InputTransform(const Channels d[6], Channels t[6]) {
  constexpr float kProduct = kNear2 * kFar2, kSum = kNear2 + kFar2;
  const Channels even1 = d[4] - kFar2 * d[2];
  const Channels odd1 = d[3] - kFar2 * d[1];
  const Channels even2 = d[4] - kNear2 * d[2];
  const Channels odd2 = d[3] - kNear2 * d[1];
  t[0] = d[4] + (kProduct * d[0] - kSum * d[2]);
  t[1] = even1 + kNear * odd1;
  t[2] = even1 - kNear * odd1;
  t[3] = even2 + kFar * odd2;
  t[4] = even2 - kFar * odd2;
  t[5] = d[5] + (kProduct * d[1] - kSum * d[3]);
}

template <int kTile>
FIRN_ALWAYS_INLINE void OutputTransform(const Channels m[6], Channels s[kTile]) {
  const Channels even1 = m[1] + m[2];
  const Channels odd1 = kNear * (m[1] - m[2]);
  const Channels even2 = m[3] + m[4];
  const Channels odd2 = kFar * (m[3] - m[4]);
  s[0] = m[0] + even1 + even2;
  s[1] = odd1 + odd2;
  if constexpr (kTile == 4) {
    s[2] = kNear2 * even1 + kFar2 * even2;
    s[3] = kNear2 * odd1 + kFar2 * odd2;
  }
  s[kTile - 1] += m[5];
}

template <int kTile>
FIRN_ALWAYS_INLINE void OutputAdjoint(const Channels* y, Channels* r) {
  Channels even1 = y[0], odd1 = y[1], even2 = y[0], odd2 = y[1];
  if constexpr (kTile == 4) {
    even1 += kNear2 * y[2];
    odd1 += kNear2 * y[3];
    even2 += kFar2 * y[2];
    odd2 += kFar2 * y[3];
  }
  r[0] = y[0];
  r[1] = even1 + kNear * odd1;
  r[2] = even1 - kNear * odd1;
  r[3] = even2 + kFar * odd2;
  r[4] = even2 - kFar * odd2;
  r[5] = y[kTile - 1];
}

alignas(64) constexpr float kZeros[kPatch * kBlock] = {};

// Walks the tiles of a range, with the image and the start of each tile's outputs.
class TileCursor {
 public:
  TileCursor(const TileGrid& grid, int64_t tile)
      : grid_(grid),
        image_(tile / (grid.rows * grid.columns)),
        row_(tile / grid.columns % grid.rows),
        column_(tile % grid.columns) {}
  int64_t image() const { return image_; }
  int64_t y() const { return row_ * grid_.tile; }
  int64_t x() const { return column_ * grid_.tile; }
  void Next() {
    if (++column_ < grid_.columns) return;
    column_ = 0;
    if (++row_ < grid_.rows) return;
    row_ = 0;
    ++image_;
  }

 private:
  const TileGrid& grid_;
  int64_t image_, row_, column_;
};

// Reads the kSize x kSize square of a plane whose first element is (y0, x0), zero outside the
// plane, and writes its kPatch x kPatch transform to `out`, one point per `point_stride`.
template <int kSize, void (*kTransform)(const Channels*, Channels*)>
inline void TransformSquare(const float* plane, const TileGrid& grid, int64_t y0, int64_t x0,
                            float* out, int64_t point_stride) {
  const float* lines[kSize];
  for (int i = 0; i < kSize; ++i) {
    const int64_t y = y0 + i;
    const bool inside = y >= 0 && y < grid.height;
    lines[i] = inside ? plane + (y * grid.width + x0) * kBlock : kZeros;
  }
  const int first = static_cast<int>(std::max<int64_t>(0, -x0));
  const int last = static_cast<int>(std::min<int64_t>(kSize, grid.width - x0));
  Channels half[kPatch][kSize];
  for (int j = 0; j < kSize; ++j) {
    Channels line[kPatch] = {};
    if (j >= first && j < last) {
      Channels d[kSize];
      Unroll<kSize>([&](auto i)
                        __attribute__((always_inline)) { d[i] = Load(lines[i] + j * kBlock); });
      kTransform(d, line);
    }
    Unroll<kPatch>([&](auto i) __attribute__((always_inline)) { half[i][j] = line[i]; });
  }
  for (int i = 0; i < kPatch; ++i) {
    Channels line[kPatch];
    kTransform(half[i], line);
    Unroll<kPatch>([&](auto j) __attribute__((always_inline)) {
      Store(out + (i * kPatch + j) * point_stride, line[j]);
    });
  }
}

template <int kSize, void (*kTransform)(const Channels*, Channels*)>
void TransformTiles(const TileGrid& grid, int64_t halo, int64_t channels, const float* x,
                    Range tiles, Range blocks, float* v, int64_t pitch, int64_t point_stride) {
  const int64_t plane_floats = grid.height * grid.width * kBlock;
  const int64_t image_blocks = channels / kBlock;
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    TileCursor cursor(grid, tiles.begin);
    float* out = v + (block - blocks.begin) * pitch * kBlock;
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, cursor.Next(), out += kBlock) {
      const float* plane = x + (cursor.image() * image_blocks + block) * plane_floats;
      TransformSquare<kSize, kTransform>(plane, grid, cursor.y() - halo, cursor.x() - halo, out,
                                         point_stride);
    }
  }
}

template <int kTile>
void TransformOutputTiles(const TileGrid& grid, int64_t channels, const float* m,
                          int64_t point_stride, const float* bias, Range tiles, Range blocks,
                          float* y) {
  const int64_t plane_floats = grid.height * grid.width * kBlock;
  const int64_t image_blocks = channels / kBlock;
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const Channels offset = bias == nullptr ? Channels{} : LoadUnaligned(bias + block * kBlock);
    TileCursor cursor(grid, tiles.begin);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, cursor.Next()) {
      Channels half[kTile][kPatch];
      for (int j = 0; j < kPatch; ++j) {
        Channels column[kPatch], result[kTile];
        Unroll<kPatch>([&](auto i) __attribute__((always_inline)) {
          column[i] = Load(m + (i * kPatch + j) * point_stride);
        });
        OutputTransform<kTile>(column, result);
        Unroll<kTile>([&](auto i) __attribute__((always_inline)) { half[i][j] = result[i]; });
      }
      m += kBlock;
      const int64_t rows = std::min<int64_t>(kTile, grid.height - cursor.y());
      const int64_t columns = std::min<int64_t>(kTile, grid.width - cursor.x());
      float* out = y + (cursor.image() * image_blocks + block) * plane_floats +
                   (cursor.y() * grid.width + cursor.x()) * kBlock;
      for (int64_t i = 0; i < rows; ++i, out += grid.width * kBlock) {
        Channels line[kTile];
        OutputTransform<kTile>(half[i], line);
        Unroll<kTile>([&](auto j) __attribute__((always_inline)) {
          if (j < columns) Store(out + j * kBlock, line[j] + offset);
        });
      }
    }
  }
}

}  // namespace

void TransformInput(const TileGrid& grid, int64_t channels, const float* x, Range tiles, float* v,
                    int64_t pitch, int64_t point_stride) {
  TransformTiles<kPatch, InputTransform>(grid, grid.halo(), channels, x, tiles,
                                         {0, channels / kBlock}, v, pitch, point_stride);
}

void TransformOutputGradient(const TileGrid& grid, int64_t channels, const float* dy, Range tiles,
                             Range blocks, float* v, int64_t pitch, int64_t point_stride) {
  const auto transform =
      grid.tile == 4 ? TransformTiles<4, OutputAdjoint<4>> : TransformTiles<2, OutputAdjoint<2>>;
  transform(grid, 0, channels, dy, tiles, blocks, v, pitch, point_stride);
}

void TransformOutput(const TileGrid& grid, int64_t channels, const float* m, int64_t point_stride,
                     const float* bias, Range tiles, Range blocks, float* y) {
  const auto transform = grid.tile == 4 ? TransformOutputTiles<4> : TransformOutputTiles<2>;
  transform(grid, channels, m, point_stride, bias, tiles, blocks, y);
}

}  // namespace firn::winograd
