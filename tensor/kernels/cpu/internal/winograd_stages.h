#ifndef FIRN_TENSOR_KERNELS_CPU_INTERNAL_WINOGRAD_STAGES_H_
#define FIRN_TENSOR_KERNELS_CPU_INTERNAL_WINOGRAD_STAGES_H_

#include <cstdint>

#include "firn/tensor/kernels/cpu/internal/winograd_simd.h"

/// The stages that winograd.cc chains into the three passes. Each works on one thread.
///
/// Names follow the literature: the image is cut into tiles of outputs, 4x4 of them for 3x3 filters
/// and 2x2 for 5x5, which both read patches of 6x6 inputs; V is the transformed input, U the
/// transformed filter, M their product. All of them are 36 matrices, one per point p = 6 * row +
/// column of the 6x6 transform domain, PointStride() floats apart. Within one point
///   V, M       [channel block][tile of the tile block][kBlock]
///   U          [panel][input channel][2 * kBlock]: panels of two output channel blocks, the last
///              panel is one block wide where their number is odd
///   dU         [input channel block][output channel][kBlock]
namespace firn::winograd {

inline constexpr int kPatch = 6;  // inputs per tile and dimension
/// The interpolation points are 0, kNear, -kNear, kFar, -kFar and infinity. Lavin & Gray's 1 and 2
/// leave four times the largest error of these, since their powers are further apart; entries of
/// A and B are exact in f32. Among pairs of few binary digits these are the best ones (Barabasz et
/// al., "Error Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural
/// Networks", 2020, has the search).
inline constexpr float kNear = 11.0f / 16, kFar = 3.0f / 2;
inline constexpr float kNear2 = kNear * kNear, kFar2 = kFar * kFar;
/// Outputs per tile and dimension, for filters of that many taps.
constexpr int TileOf(int taps) { return kPatch + 1 - taps; }
inline constexpr int kPoints = kPatch * kPatch;
inline constexpr int kPanel = 2 * kBlock;  // output channels per panel of U
inline constexpr int kCacheLine = 16;      // in floats

/// The tiles of a batch of images, numbered image by image, row by row.
struct TileGrid {
  int64_t batch, height, width;
  int taps, tile;
  int64_t rows, columns;

  TileGrid(int64_t batch_in, int64_t height_in, int64_t width_in, int taps_in)
      : batch(batch_in),
        height(height_in),
        width(width_in),
        taps(taps_in),
        tile(TileOf(taps_in)),
        rows((height_in + tile - 1) / tile),
        columns((width_in + tile - 1) / tile) {}
  int64_t tiles() const { return batch * rows * columns; }
  /// How far a patch reaches over its tile on each side.
  int64_t halo() const { return taps / 2; }
};

/// A range [begin, end) of tiles or channel blocks.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// Distance in floats between the matrices of two points that hold `floats` each: an odd number of
/// cache lines, so that the 36 streams of a transform fall into different cache sets.
constexpr int64_t PointStride(int64_t floats) {
  return ((floats + kCacheLine - 1) / kCacheLine | 1) * kCacheLine;
}

/// V = B^T d B of `tiles` of the activation `x` with `channels` channels. Channel blocks of V are
/// `pitch` tiles apart, so that threads can fill parts of one V.
void TransformInput(const TileGrid& grid, int64_t channels, const float* x, Range tiles, float* v,
                    int64_t pitch, int64_t point_stride);

/// A dy A^T, the adjoint of the output transform, laid out as V, for `blocks` of the channels.
void TransformOutputGradient(const TileGrid& grid, int64_t channels, const float* dy, Range tiles,
                             Range blocks, float* v, int64_t pitch, int64_t point_stride);

/// y = A^T M A + bias for `blocks` of the `channels` channels of y; M holds these blocks only.
void TransformOutput(const TileGrid& grid, int64_t channels, const float* m, int64_t point_stride,
                     const float* bias, Range tiles, Range blocks, float* y);

/// How a filter bank [out][in][taps][taps] is read as the right-hand side of a product: rows are
/// the channels summed over, columns the channels produced.
struct FilterView {
  int64_t rows, columns;
  int64_t row_stride, column_stride;  // in floats
  bool rotate;                        // by 180 degrees, as the gradient of the input needs
  int taps;
};

/// U = G g G^T for the rows `rows` of panel number `panel`.
void TransformFilter(const FilterView& view, const float* weight, int64_t panel, Range rows,
                     float* u, int64_t point_stride);

/// dweight = G^T dU G for input channel block `block` and the output channels `outputs`.
void TransformFilterGradient(int taps, const float* du, int64_t point_stride, int64_t in_channels,
                             int64_t out_channels, int64_t block, Range outputs, float* dweight);

/// m[column block][tile][kBlock] = sum over k of v[k / kBlock][tile][k % kBlock] * u[k][column]
/// for one point and the panels that begin at u and hold `blocks` column blocks together.
void MultiplyTiles(int64_t tiles, int64_t inner_blocks, int64_t blocks, const float* v,
                   const float* u, float* m);

/// du[c][o][kBlock] (+)= sum over tiles of dm[o / kBlock][tile][o % kBlock] * v[c][tile][kBlock]
/// for one point and input channel blocks `in_blocks`; adds to what is there if `accumulate`.
void MultiplyGradient(int64_t tiles, Range in_blocks, int64_t out_blocks, const float* v,
                      const float* dm, bool accumulate, float* du);

/// Register tiles: tiles of M that MultiplyTiles, and input channel blocks that MultiplyGradient,
/// work on at a time.
inline constexpr int kTileRows = kSimdBytes == 64 ? 14 : kSimdBytes == 32 ? 6 : 2;
inline constexpr int kGradientBlocks = kSimdBytes == 16 ? 1 : 3;

}  // namespace firn::winograd

#endif  // FIRN_TENSOR_KERNELS_CPU_INTERNAL_WINOGRAD_STAGES_H_
