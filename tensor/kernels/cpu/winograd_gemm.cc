// The matrix products of Winograd F(4x4,3x3), one transform point at a time.
//
// Both products keep a tile of the result in registers while they walk the inner dimension: per
// step they load a few vectors of the right-hand side, broadcast one element per row of the
// left-hand side and issue rows * vectors fused multiply-adds. With 16 registers 6 x 2 vectors
// (tiles) and 4 x 3 (filters) leave room for the operands and give twelve independent chains,
// enough to cover the latency of two multiply-add units; 32 registers take 14 x 2 and 8 x 3.
// Operands are laid out so that every address within an unrolled step is a constant offset.
// Measured on Zen 3: 98 and 96 of 102 GFLOP/s a core.

#include <algorithm>
#include <array>

#include "firn/tensor/kernels/cpu/internal/winograd_stages.h"

namespace firn::winograd {
namespace {

constexpr int kGradientRows = kBlock / 2;  // output channels of a register tile of dU

// m[w][r] = sum over k of v[k / kBlock][r][k % kBlock] * u[k][w] for r < kRows and w < kWidth.
// `v_stride` and `m_stride` are the distances of channel blocks.
template <int kRows, int kWidth>
void TileKernel(int64_t inner_blocks, const float* v, int64_t v_stride, const float* u, float* m,
                int64_t m_stride) {
  Channels acc[kRows][kWidth] = {};
  for (int64_t block = 0; block < inner_blocks; ++block) {
    Unroll<kBlock>([&](auto k) __attribute__((always_inline)) {
      Channels b[kWidth];
      Unroll<kWidth>([&](auto w) __attribute__((always_inline)) {
        b[w] = LoadOnce(u + (k * kWidth + w) * kBlock);
      });
      Unroll<kRows>([&](auto r) __attribute__((always_inline)) {
        const float a = v[r * kBlock + k];
        Unroll<kWidth>([&](auto w) __attribute__((always_inline)) { acc[r][w] += a * b[w]; });
      });
    });
    v += v_stride;
    u += kBlock * kWidth * kBlock;
  }
  Unroll<kWidth>([&](auto w) __attribute__((always_inline)) {
    Unroll<kRows>([&](auto r) __attribute__((always_inline)) {
      Store(m + w * m_stride + r * kBlock, acc[r][w]);
    });
  });
}

using TileKernelPointer = void (*)(int64_t, const float*, int64_t, const float*, float*, int64_t);

template <int kWidth>
constexpr auto kTileKernels = []<int... I>(std::integer_sequence<int, I...>) {
  return std::array<TileKernelPointer, sizeof...(I)>{TileKernel<I + 1, kWidth>...};
}
(std::make_integer_sequence<int, kTileRows>{});

// du[w][r] (+)= sum over t of dm[t][r] * v[w][t] for r < kGradientRows and w < kWidth.
template <int kWidth>
void GradientKernel(int64_t tiles, const float* dm, const float* v, int64_t v_stride,
                    bool accumulate, float* du, int64_t du_stride) {
  Channels acc[kGradientRows][kWidth] = {};
  // The old values of this tile of dU are needed at the end: prefetch them meanwhile.
  for (int w = 0; w < kWidth; ++w) {
    for (int i = 0; i < kGradientRows * kBlock; i += kCacheLine) {
      __builtin_prefetch(du + w * du_stride + i, 1);
    }
  }
  for (int64_t tile = 0; tile < tiles; ++tile) {
    Channels b[kWidth];
    Unroll<kWidth>([&](auto w)
                       __attribute__((always_inline)) { b[w] = LoadOnce(v + w * v_stride); });
    Unroll<kGradientRows>([&](auto r) __attribute__((always_inline)) {
      const float a = dm[r];
      Unroll<kWidth>([&](auto w) __attribute__((always_inline)) { acc[r][w] += a * b[w]; });
    });
    dm += kBlock;
    v += kBlock;
  }
  Unroll<kWidth>([&](auto w) __attribute__((always_inline)) {
    Unroll<kGradientRows>([&](auto r) __attribute__((always_inline)) {
      float* out = du + w * du_stride + r * kBlock;
      Store(out, accumulate ? Load(out) + acc[r][w] : acc[r][w]);
    });
  });
}

template <int kWidth>
void GradientColumn(int64_t tiles, int64_t out_blocks, const float* v, const float* dm,
                    bool accumulate, float* du) {
  const int64_t block_floats = tiles * kBlock;
  for (int64_t block = 0; block < out_blocks; ++block) {
    for (int row = 0; row < kBlock; row += kGradientRows) {
      GradientKernel<kWidth>(tiles, dm + block * block_floats + row, v, block_floats, accumulate,
                             du + (block * kBlock + row) * kBlock, out_blocks * kBlock * kBlock);
    }
  }
}

using GradientColumnPointer = void (*)(int64_t, int64_t, const float*, const float*, bool, float*);

constexpr auto kGradientColumns = []<int... I>(std::integer_sequence<int, I...>) {
  return std::array<GradientColumnPointer, sizeof...(I)>{GradientColumn<I + 1>...};
}
(std::make_integer_sequence<int, kGradientBlocks>{});

}  // namespace

void MultiplyTiles(int64_t tiles, int64_t inner_blocks, int64_t blocks, const float* v,
                   const float* u, float* m) {
  // Row groups of nearly equal size: a short last group would leave too few chains.
  const int64_t groups = (tiles + kTileRows - 1) / kTileRows;
  const int64_t rows = tiles / groups;
  const int64_t longer_groups = tiles % groups;
  const int64_t block_floats = tiles * kBlock;
  for (int64_t block = 0; block < blocks; block += 2) {
    const bool wide = block + 2 <= blocks;
    const auto& kernels = wide ? kTileKernels<2> : kTileKernels<1>;
    int64_t tile = 0;
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t height = rows + (group < longer_groups);
      kernels[static_cast<size_t>(height - 1)](inner_blocks, v + tile * kBlock, block_floats, u,
                                               m + tile * kBlock, block_floats);
      tile += height;
    }
    u += inner_blocks * kBlock * kPanel;
    m += 2 * block_floats;
  }
}

void MultiplyGradient(int64_t tiles, Range in_blocks, int64_t out_blocks, const float* v,
                      const float* dm, bool accumulate, float* du) {
  const int64_t columns = (in_blocks.size() + kGradientBlocks - 1) / kGradientBlocks;
  int64_t block = in_blocks.begin;
  for (int64_t i = 0; i < columns; ++i) {
    const float* column = v + block * tiles * kBlock;
    float* out = du + block * out_blocks * kBlock * kBlock;
    const int64_t width = (in_blocks.end - block) / (columns - i);
    block += width;
    kGradientColumns[static_cast<size_t>(width - 1)](tiles, out_blocks, column, dm, accumulate,
                                                     out);
  }
}

}  // namespace firn::winograd
