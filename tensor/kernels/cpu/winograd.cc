// The three passes of Winograd convolution, as chains of the stages in winograd_stages.h.
//
// Forward and the gradient of the input are the same computation: the latter convolves dy with the
// rotated, transposed filters. The filters are transformed once into U (36 * in * out floats, read
// by all threads from the last-level cache). Then each thread walks blocks of tiles on its own: it
// transforms a block into V, multiplies and transforms M back one chunk of output channels at a
// time, so that V and M stay in the caches closest to it.
//
// The gradient of the weights sums over tiles. Where dU is large, all threads share a block of
// transformed tiles: they first transform V and dM together, then add V^T dM into dU, each for its
// own points and channels. Where it is small, threads would often wait for short pieces of work, so
// the tiles are divided into a fixed number of parts, each with a dU of its own, added in order at
// the end. Either way every sum is taken in the same order for any number of threads.

#include "firn/tensor/kernels/cpu/winograd.h"

#include <algorithm>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/internal/winograd_stages.h"

namespace firn {
namespace winograd {
namespace {

// Block sizes; the speed depends little on them (Zen 3, 512 KiB of second-level cache a core).
constexpr int64_t kMaxChunk = 128 / kBlock;  // output channel blocks transformed back together
constexpr int64_t kMaxGradientTiles = 128;   // tiles per block of the weight pass
constexpr int64_t kMaxGradientBlocks = 256 / kBlock;  // output channel blocks of it at a time
constexpr int64_t kSmallGradient = 1024;  // pairs of channels up to which each part has its dU
constexpr int64_t kGradientParts = 16;
constexpr int64_t kMaxPartTiles = 40;  // tiles per block of a part
constexpr int64_t kFilterRows = 16;    // rows of filters transformed at a time

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Splits `n` things into parts of at most `most`, their number a multiple of `multiple` if that
// leaves at least `least` in each; returns the size of a part.
int64_t PartSize(int64_t n, int64_t most, int64_t multiple, int64_t least) {
  int64_t parts = CeilDiv(CeilDiv(n, most), multiple) * multiple;
  parts = std::min(parts, CeilDiv(n, least));
  return CeilDiv(n, parts);
}

// Tiles per block of an image pass: as many as keep one point of V in the first-level cache, but
// enough to reuse U, and more where U does not fit the last-level cache.
constexpr int64_t MaxTiles(int64_t in_channels, int64_t out_channels) {
  constexpr int64_t kPointFloats = 6 << 10;
  constexpr int64_t kCachedFilters = 100'000;  // 14 MB of U
  if (in_channels * out_channels > kCachedFilters) return 48;
  return std::clamp<int64_t>(kPointFloats / in_channels, 24, 48);
}

// How an image pass is cut and where its scratch lies.
struct ImagePlan {
  TileGrid grid;
  int64_t in_channels, out_channels, in_blocks, out_blocks;
  int64_t workers, tiles, tile_blocks, chunk, chunks;
  int64_t u_stride, v_stride, m_stride;

  ImagePlan(const WinogradShape& shape, int64_t in, int64_t out)
      : grid(shape.batch, shape.height, shape.width, shape.kernel),
        in_channels(in),
        out_channels(out),
        in_blocks(in / kBlock),
        out_blocks(out / kBlock),
        workers(NumThreads()),
        tiles(PartSize(grid.tiles(), MaxTiles(in, out), workers, 4)),
        tile_blocks(CeilDiv(grid.tiles(), tiles)),
        chunk(std::min(out_blocks, kMaxChunk)),
        chunks(CeilDiv(out_blocks, chunk)),
        u_stride(PointStride(in * out)),
        v_stride(PointStride(in * tiles)),
        m_stride(PointStride(chunk * kBlock * tiles)) {}
  int64_t filter_floats() const { return kPoints * u_stride; }
  int64_t scratch_floats() const {
    return kPoints * std::min(workers, tile_blocks * chunks) * (v_stride + m_stride);
  }
  int64_t floats() const { return filter_floats() + scratch_floats(); }
};

FilterView ForwardFilters(const WinogradShape& shape) {
  const int64_t taps = shape.kernel * shape.kernel;
  return {.rows = shape.in_channels,
          .columns = shape.out_channels,
          .row_stride = taps,
          .column_stride = taps * shape.in_channels,
          .rotate = false,
          .taps = shape.kernel};
}

void TransformFilters(const ImagePlan& plan, const FilterView& view, const float* weight,
                      float* u) {
  const int64_t panels = CeilDiv(view.columns, kPanel);
  const int64_t parts = CeilDiv(view.rows, kFilterRows);
  ParallelFor(panels * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item % parts * kFilterRows;
      TransformFilter(view, weight, item / parts, {row, std::min(row + kFilterRows, view.rows)}, u,
                      plan.u_stride);
    }
  });
}

void ImagePass(const ImagePlan& plan, const float* x, const float* u, const float* bias, float* y,
               float* scratch) {
  const int64_t items = plan.tile_blocks * plan.chunks;
  ParallelForChunks(items, 1, [&](int worker, int64_t begin, int64_t end) {
    float* v = scratch + worker * kPoints * (plan.v_stride + plan.m_stride);
    float* m = v + kPoints * plan.v_stride;
    int64_t transformed = -1;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item / plan.chunks * plan.tiles;
      const Range tiles{first, std::min(first + plan.tiles, plan.grid.tiles())};
      if (first != transformed) {
        TransformInput(plan.grid, plan.in_channels, x, tiles, v, tiles.size(), plan.v_stride);
        transformed = first;
      }
      const int64_t block = item % plan.chunks * plan.chunk;
      const Range blocks{block, std::min(block + plan.chunk, plan.out_blocks)};
      for (int64_t p = 0; p < kPoints; ++p) {
        MultiplyTiles(tiles.size(), plan.in_blocks, blocks.size(), v + p * plan.v_stride,
                      u + p * plan.u_stride + block * kBlock * plan.in_channels,
                      m + p * plan.m_stride);
      }
      TransformOutput(plan.grid, plan.out_channels, m, plan.m_stride, bias, tiles, blocks, y);
    }
  });
}

// How the weight pass is cut and where its scratch lies: output channels into groups, tiles into
// parts, those into blocks of `tiles`.
struct WeightPlan {
  TileGrid grid;
  int64_t in_blocks, out_blocks, group_blocks, part_tiles, parts, tiles, workers;
  int64_t du_stride, v_stride, dm_stride;

  explicit WeightPlan(const WinogradShape& shape)
      : grid(shape.batch, shape.height, shape.width, shape.kernel),
        in_blocks(shape.in_channels / kBlock),
        out_blocks(shape.out_channels / kBlock),
        group_blocks(PartSize(out_blocks, kMaxGradientBlocks, 1, 1)),
        part_tiles(PartTiles(shape, grid.tiles())),
        parts(CeilDiv(grid.tiles(), part_tiles)),
        tiles(PartSize(part_tiles, parts == 1 ? kMaxGradientTiles : kMaxPartTiles, 1, 1)),
        workers(std::min<int64_t>(NumThreads(), parts)),
        du_stride(PointStride(shape.in_channels * group_blocks * kBlock)),
        v_stride(PointStride(shape.in_channels * tiles)),
        dm_stride(PointStride(group_blocks * kBlock * tiles)) {}
  static int64_t PartTiles(const WinogradShape& shape, int64_t tiles) {
    if (shape.in_channels * shape.out_channels > kSmallGradient) return tiles;
    return CeilDiv(tiles, std::min(kGradientParts, CeilDiv(tiles, kMaxPartTiles)));
  }
  Range TilesOf(int64_t part) const {
    return {part * part_tiles, std::min((part + 1) * part_tiles, grid.tiles())};
  }
  int64_t du_floats() const { return kPoints * du_stride; }
  int64_t scratch_floats() const { return kPoints * (v_stride + dm_stride); }
  int64_t floats() const { return parts * du_floats() + workers * scratch_floats(); }
};

// Computes V (unless it is null) and dM of a block of tiles, which the threads share.
void TransformOperands(const WeightPlan& plan, const float* x, const float* dy, Range tiles,
                       Range blocks, float* v, float* dm) {
  ParallelFor(tiles.size(), 1, [&](int64_t begin, int64_t end) {
    const Range part{tiles.begin + begin, tiles.begin + end};
    if (v != nullptr) {
      TransformInput(plan.grid, plan.in_blocks * kBlock, x, part, v + begin * kBlock, tiles.size(),
                     plan.v_stride);
    }
    TransformOutputGradient(plan.grid, plan.out_blocks * kBlock, dy, part, blocks,
                            dm + begin * kBlock, tiles.size(), plan.dm_stride);
  });
}

void MultiplyGradients(const WeightPlan& plan, int64_t tiles, int64_t out_blocks, const float* v,
                       const float* dm, bool accumulate, float* du) {
  const int64_t columns = CeilDiv(plan.in_blocks, kGradientBlocks);
  ParallelFor(kPoints * columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t p = item / columns;
      const int64_t block = item % columns * kGradientBlocks;
      MultiplyGradient(tiles, {block, std::min(block + kGradientBlocks, plan.in_blocks)},
                       out_blocks, v + p * plan.v_stride, dm + p * plan.dm_stride, accumulate,
                       du + p * plan.du_stride);
    }
  });
}

// Computes dU of `tiles`, of which there is at least one. `has_v`: scratch holds their V already.
void SumGradients(const WeightPlan& plan, const float* x, const float* dy, Range tiles,
                  Range blocks, bool has_v, float* scratch, float* du) {
  float* dm = scratch + kPoints * plan.v_stride;
  for (int64_t first = tiles.begin; first < tiles.end; first += plan.tiles) {
    const Range some{first, std::min(first + plan.tiles, tiles.end)};
    TransformOperands(plan, x, dy, some, blocks, has_v ? nullptr : scratch, dm);
    MultiplyGradients(plan, some.size(), blocks.size(), scratch, dm, first > tiles.begin, du);
  }
}

// The same in parts, which are added to the first part's dU.
void SumPartGradients(const WeightPlan& plan, const float* x, const float* dy, float* scratch,
                      float* du) {
  ParallelForChunks(plan.parts, 1, [&](int worker, int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      SumGradients(plan, x, dy, plan.TilesOf(part), {0, plan.out_blocks}, false,
                   scratch + worker * plan.scratch_floats(), du + part * plan.du_floats());
    }
  });
  const int64_t pairs = plan.in_blocks * plan.out_blocks * kBlock * kBlock;
  ParallelFor(kPoints, 8, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      float* sum = du + p * plan.du_stride;
      for (int64_t part = 1; part < plan.parts; ++part) {
        const float* from = sum + part * plan.du_floats();
        for (int64_t i = 0; i < pairs; ++i) sum[i] += from[i];
      }
    }
  });
}

void TransformFilterGradients(const WeightPlan& plan, int64_t out_blocks, const float* du,
                              float* dweight) {
  const int64_t out_channels = out_blocks * kBlock;
  const int64_t parts = CeilDiv(out_channels, kFilterRows);
  ParallelFor(parts * plan.in_blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / plan.in_blocks * kFilterRows;
      TransformFilterGradient(plan.grid.taps, du, plan.du_stride, plan.in_blocks * kBlock,
                              out_channels, item % plan.in_blocks,
                              {row, std::min(row + kFilterRows, out_channels)}, dweight);
    }
  });
}

}  // namespace
}  // namespace winograd

bool WinogradSupports(const WinogradShape& shape) {
  return shape.batch > 0 && shape.height > 0 && shape.width > 0 && shape.in_channels > 0 &&
         shape.out_channels > 0 && (shape.kernel == 3 || shape.kernel == 5) &&
         shape.in_channels % kChannelBlock == 0 && shape.out_channels % kChannelBlock == 0;
}

size_t WinogradWorkspace(const WinogradShape& shape, ConvPass pass) {
  int64_t floats = 0;
  switch (pass) {
    case ConvPass::kForward:
      floats = winograd::ImagePlan(shape, shape.in_channels, shape.out_channels).floats();
      break;
    case ConvPass::kBackwardData:
      floats = winograd::ImagePlan(shape, shape.out_channels, shape.in_channels).floats();
      break;
    case ConvPass::kBackwardWeight:
      floats = winograd::WeightPlan(shape).floats();
      break;
  }
  return static_cast<size_t>(floats) * sizeof(float);
}

int64_t WinogradFilterFloats(const WinogradShape& shape) {
  return winograd::ImagePlan(shape, shape.in_channels, shape.out_channels).filter_floats();
}

void WinogradTransformFilters(const WinogradShape& shape, const float* weight, float* filters) {
  const winograd::ImagePlan plan(shape, shape.in_channels, shape.out_channels);
  winograd::TransformFilters(plan, winograd::ForwardFilters(shape), weight, filters);
}

size_t WinogradFilteredWorkspace(const WinogradShape& shape) {
  const winograd::ImagePlan plan(shape, shape.in_channels, shape.out_channels);
  return static_cast<size_t>(plan.scratch_floats()) * sizeof(float);
}

void WinogradForwardFiltered(const WinogradShape& shape, const float* x, const float* filters,
                             const float* bias, float* y, void* workspace) {
  const winograd::ImagePlan plan(shape, shape.in_channels, shape.out_channels);
  winograd::ImagePass(plan, x, filters, bias, y, static_cast<float*>(workspace));
}

void WinogradForward(const WinogradShape& shape, const float* x, const float* weight,
                     const float* bias, float* y, void* workspace) {
  float* filters = static_cast<float*>(workspace);
  WinogradTransformFilters(shape, weight, filters);
  WinogradForwardFiltered(shape, x, filters, bias, y, filters + WinogradFilterFloats(shape));
}

void WinogradBackwardData(const WinogradShape& shape, const float* dy, const float* weight,
                          float* dx, void* workspace) {
  const winograd::ImagePlan plan(shape, shape.out_channels, shape.in_channels);
  const int64_t taps = shape.kernel * shape.kernel;
  const winograd::FilterView view{.rows = shape.out_channels,
                                  .columns = shape.in_channels,
                                  .row_stride = taps * shape.in_channels,
                                  .column_stride = taps,
                                  .rotate = true,
                                  .taps = shape.kernel};
  float* u = static_cast<float*>(workspace);
  winograd::TransformFilters(plan, view, weight, u);
  winograd::ImagePass(plan, dy, u, nullptr, dx, u + winograd::kPoints * plan.u_stride);
}

void WinogradBackwardWeight(const WinogradShape& shape, const float* x, const float* dy,
                            float* dweight, void* workspace) {
  const winograd::WeightPlan plan(shape);
  float* du = static_cast<float*>(workspace);
  float* scratch = du + plan.parts * plan.du_floats();
  const bool one_block = plan.tiles == plan.grid.tiles();  // then V stays for all blocks
  for (int64_t block = 0; block < plan.out_blocks; block += plan.group_blocks) {
    const winograd::Range blocks{block, std::min(block + plan.group_blocks, plan.out_blocks)};
    if (plan.parts > 1) {
      winograd::SumPartGradients(plan, x, dy, scratch, du);
    } else {
      winograd::SumGradients(plan, x, dy, plan.TilesOf(0), blocks, one_block && block > 0, scratch,
                             du);
    }
    winograd::TransformFilterGradients(
        plan, blocks.size(), du,
        dweight + block * winograd::kBlock * shape.in_channels * shape.kernel * shape.kernel);
  }
}

}  // namespace firn
