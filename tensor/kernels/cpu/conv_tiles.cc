// dW[o, c, tap] = sum over images and pixels of y[n, o, pixel] x[n, c, pixel + tap], for stride 1.
//
// With x widened by its padding and y written into images as large, a tap of the kernel is one
// distance between places of y and of x, whatever the pixel: places are one long dimension to sum
// over, and the gradient is a product of matrices for each tap: of y and of x read from another
// place on. The zeros cost (8 + 2)^2 / 8^2 for images of 8 x 8; oneDNN's kernel, which goes along
// the rows of images, has 770 GFLOP/s there on two Sapphire Rapids cores.
//
// Tiles hold 16 channels and 32 places, these in pairs. A pair is one place of the first half of a
// chunk and one of the second half, so that a distance moves both, whether it is even or odd.
// Places are done in chunks, whose tiles stay in a core's cache.

#include "firn/tensor/kernels/cpu/conv_tiles.h"

#include <algorithm>
#include <utility>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/device/tiles.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {

using inner::internal::kTileBits;
using inner::internal::kTileDepth;
using inner::internal::kTileRows;
using inner::internal::kTileSums;

constexpr int64_t kMostTaps = 128;
constexpr int64_t kChunkPlaces = 6144;  // about
constexpr int64_t kPackedAtOnce = 256;  // pairs
// The limits within which it was at least as fast as oneDNN: so few places for a pixel of y, so
// many operations, and either rows too short for oneDNN's kernel or so many products for each
// number that is packed into tiles.
constexpr double kMostWaste = 5, kLeastFlops = 3e5;
constexpr int64_t kShortRows = 28, kManyProducts = 300;

struct TileConv {
  ConvProblem p;
  int64_t height, width;  // of the widened images
  int64_t rows;           // of all of them
  int64_t chunk_rows;     // of a chunk, the last may have fewer
  int64_t reach;          // the largest distance of a tap

  int64_t taps() const { return p.kernel[0] * p.kernel[1] * p.kernel[2]; }
  int64_t distance(int64_t tap) const {
    const int64_t w = tap % p.kernel[2], h = tap / p.kernel[2] % p.kernel[1],
                  d = tap / p.kernel[2] / p.kernel[1];
    const Sizes& dilation = p.attrs.dilation;
    return (d * dilation[0] * height + h * dilation[1]) * width + w * dilation[2];
  }
  // The pairs of places of a chunk, in whole tiles, and the pairs of x that they meet.
  int64_t pairs() const { return (chunk_rows * width + kTileDepth - 1) / kTileDepth * kTileRows; }
  int64_t x_pairs() const { return pairs() + reach; }
};

namespace {

// A chunk's tiles as bits, block of channels by block, and its sums.
struct Buffers {
  uint16_t *y, *x;
  float* sums;

  static int64_t Bits(const TileConv& c) {
    return 2 * (c.p.out * c.pairs() + c.p.in * c.x_pairs());
  }
  Buffers(const TileConv& c, void* workspace)
      : y(static_cast<uint16_t*>(workspace)),
        x(YTiles(c, c.p.out / kTileRows)),
        sums(reinterpret_cast<float*>(y + Bits(c))) {}
  uint16_t* YTiles(const TileConv& c, int64_t block) const {
    return y + block * c.pairs() * 2 * kTileRows;
  }
  uint16_t* XPairs(const TileConv& c, int64_t block) const {
    return x + block * c.x_pairs() * 2 * kTileRows;
  }
};

// The layout of images, and their place in a widened one.
struct Images {
  const uint16_t* data;
  int64_t pixel, block, image;  // elements from one to the next
  Sizes size, low;

  Images(const TensorSpec& spec, const void* bits, const Sizes& sizes, const Sizes& padding)
      : data(static_cast<const uint16_t*>(bits)), size(sizes), low(padding) {
    const int64_t pixels = size[0] * size[1] * size[2], channels = spec.shape[1];
    const bool blocks = spec.layout.channel_block == kTileRows;
    pixel = blocks ? kTileRows : channels;
    block = blocks ? kTileRows * pixels : kTileRows;
    image = channels * pixels;
  }
  // The first of 16 channels of a row of widened images, null where it is padding or behind the
  // last.
  const uint16_t* Row(const TileConv& c, int64_t row, int64_t channels) const {
    const int64_t of_image = c.rows / c.p.batch;
    if (row >= c.rows) return nullptr;
    const int64_t d = row % of_image / c.height - low[0], h = row % c.height - low[1];
    if (d < 0 || d >= size[0] || h < 0 || h >= size[1]) return nullptr;
    return data + row / of_image * image + channels * block + (d * size[1] + h) * size[2] * pixel;
  }
};

// 16 channels of places [begin, end) of the chunk that begins with `row`, place by place.
void ReadPlaces(const TileConv& c, const Images& from, int64_t row, int64_t channels, int64_t begin,
                int64_t end, uint16_t* to) {
  for (int64_t at = begin; at < end;) {
    const int64_t w = at % c.width, n = std::min(c.width - w, end - at);
    const uint16_t* const source = from.Row(c, row + at / c.width, channels);
    const int64_t first = std::clamp(from.low[2] - w, int64_t{0}, n);
    const int64_t last =
        source == nullptr ? first : std::clamp(from.low[2] + from.size[2] - w, first, n);
    std::fill_n(to, first * kTileRows, uint16_t{0});
    for (int64_t i = first; i < last; ++i) {
      std::copy_n(source + (w + i - from.low[2]) * from.pixel, kTileRows, to + i * kTileRows);
    }
    std::fill_n(to + last * kTileRows, (n - last) * kTileRows, uint16_t{0});
    to += n * kTileRows;
    at += n;
  }
}

// Pairs [begin, end) of 16 channels, channel by channel in turn, of the chunk that begins with
// `row`. Places from `last` on count as zeros.
void ReadPairs(const TileConv& c, const Images& from, int64_t row, int64_t channels, int64_t begin,
               int64_t end, int64_t last, uint16_t* to) {
  typedef uint16_t Place __attribute__((vector_size(2 * kTileRows), may_alias));
  typedef uint16_t Both __attribute__((vector_size(4 * kTileRows), may_alias));
  alignas(64) uint16_t places[2][kPackedAtOnce * kTileRows];
  for (int half : {0, 1}) {
    const int64_t first = begin + half * c.pairs(), behind = end + half * c.pairs();
    const int64_t own = std::clamp(last, first, behind);
    ReadPlaces(c, from, row, channels, first, own, places[half]);
    std::fill_n(places[half] + (own - first) * kTileRows, (behind - own) * kTileRows, uint16_t{0});
  }
  for (int64_t i = 0; i < (end - begin) * kTileRows; i += kTileRows) {
    const auto& a = *reinterpret_cast<const Place*>(places[0] + i);
    const auto& b = *reinterpret_cast<const Place*>(places[1] + i);
    *reinterpret_cast<Both*>(to + 2 * i) =
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24,
                                9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

// Calls pack(channels, begin, end) for pieces of `pairs` pairs of all blocks of channels, in
// parallel. Blocks of the same places follow each other: two of them have a cache line in common.
template <class F>
void ForEachPiece(int64_t blocks, int64_t pairs, const F& pack) {
  const int64_t pieces = (pairs + kPackedAtOnce - 1) / kPackedAtOnce;
  ParallelFor(pieces * blocks, 4, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = i / blocks * kPackedAtOnce;
      pack(i % blocks, begin, std::min(pairs, begin + kPackedAtOnce));
    }
  });
}

// Packs the chunk that begins with `row` into tiles.
void Pack(const TileConv& c, const Images& x, const Images& y, int64_t row, const Buffers& to) {
  ForEachPiece(c.p.out / kTileRows, c.pairs(), [&](int64_t channels, int64_t begin, int64_t end) {
    alignas(64) uint16_t pairs[2 * kPackedAtOnce * kTileRows];
    // Places behind the chunk belong to the next one.
    ReadPairs(c, y, row, channels, begin, end, c.chunk_rows * c.width, pairs);
    uint16_t* const tiles = to.YTiles(c, channels) + begin * 2 * kTileRows;
    for (int64_t at = 0; at < (end - begin) * 2 * kTileRows; at += kTileBits) {
      inner::internal::CopyTransposed(kTileRows, kTileRows, 2 * sizeof(uint16_t), pairs + at,
                                      kTileRows, tiles + at, kTileRows);
    }
  });
  ForEachPiece(c.p.in / kTileRows, c.x_pairs(), [&](int64_t channels, int64_t begin, int64_t end) {
    ReadPairs(c, x, row, channels, begin, end, INT64_MAX,
              to.XPairs(c, channels) + begin * 2 * kTileRows);
  });
}

// Multiplies up to two blocks of channels of either side for one tap.
struct Product {
  int64_t y_block, x_block, tap;
};

template <int kLeft, int kRight>
void Multiply(const TileConv& c, const Buffers& in, const Product& at, bool fresh) {
  const uint16_t *a[kLeft], *b[kRight];
  float* sums[kLeft][kRight];
  for (int i = 0; i < kLeft; ++i) a[i] = in.YTiles(c, at.y_block + i);
  for (int j = 0; j < kRight; ++j) {
    b[j] = in.XPairs(c, at.x_block + j) + c.distance(at.tap) * 2 * kTileRows;
    for (int i = 0; i < kLeft; ++i) {
      const int64_t pair = (at.y_block + i) * (c.p.in / kTileRows) + at.x_block + j;
      sums[i][j] = in.sums + (pair * c.taps() + at.tap) * kTileSums;
    }
  }
  inner::internal::MultiplyTiles<kLeft, kRight>(a, b, c.pairs() / kTileRows, fresh, sums);
}

void MultiplyAll(const TileConv& c, const Buffers& in, bool fresh) {
  const int64_t y_blocks = c.p.out / kTileRows, x_blocks = c.p.in / kTileRows;
  const int64_t across = (x_blocks + 1) / 2, down = (y_blocks + 1) / 2, taps = c.taps();
  ParallelFor(down * across * taps, 1, [&](int64_t begin, int64_t end) {
    const inner::internal::TileScope tiles;
    for (int64_t i = begin; i < end; ++i) {
      const Product at = {i / taps / across * 2, i / taps % across * 2, i % taps};
      const bool left = at.y_block + 1 < y_blocks, right = at.x_block + 1 < x_blocks;
      if (left && right) {
        Multiply<2, 2>(c, in, at, fresh);
      } else if (left) {
        Multiply<2, 1>(c, in, at, fresh);
      } else if (right) {
        Multiply<1, 2>(c, in, at, fresh);
      } else {
        Multiply<1, 1>(c, in, at, fresh);
      }
    }
  });
}

// From sums [y block][x block][tap][o][c] to a row-major weight.
void WriteWeight(const TileConv& c, const float* sums, BFloat16* weight) {
  const int64_t x_blocks = c.p.in / kTileRows, taps = c.taps();
  ParallelFor(c.p.out * x_blocks, 16, [&](int64_t begin, int64_t end) {
    alignas(64) float turned[kMostTaps * kTileRows];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / x_blocks, block = i % x_blocks;
      const float* const from =
          sums + (o / kTileRows * x_blocks + block) * taps * kTileSums + o % kTileRows * kTileRows;
      inner::internal::CopyTransposed(taps, kTileRows, sizeof(float), from, kTileSums, turned,
                                      taps);
      FromFloats(turned, taps * kTileRows, weight + i * kTileRows * taps);
    }
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TileConv>> TileConvFor(const ConvProblem& p, DType dtype) {
  FIRN_RETURN_IF(dtype != DType::kBF16 || !inner::internal::HasTiles() || !MultipliesTiles(),
                 Unimplemented("takes bf16 where the processor multiplies tiles of it"));
  const ConvAttrs& a = p.attrs;
  FIRN_RETURN_IF(!a.stride.Are(1) || a.groups != 1 || p.in % kTileRows != 0 ||
                     p.out % kTileRows != 0 || p.flops() < kLeastFlops,
                 Unimplemented("wants stride 1, one group, channels in multiples of ", kTileRows,
                               " and ", kLeastFlops, " operations"));
  auto c = std::make_shared<TileConv>();
  c->p = p;
  const auto widened = [&](int i) { return p.out_size[i] + (p.kernel[i] - 1) * a.dilation[i]; };
  c->height = widened(1), c->width = widened(2);
  c->rows = p.batch * widened(0) * c->height;
  const double places = static_cast<double>(c->rows) * static_cast<double>(c->width);
  const double pixels = static_cast<double>(p.batch * p.out_size[0] * p.out_size[1]) *
                        static_cast<double>(p.out_size[2]);
  FIRN_RETURN_IF(c->taps() > kMostTaps || places > kMostWaste * pixels,
                 Unimplemented("wants kernels of at most ", kMostTaps,
                               " numbers that are small beside the image"));
  const bool many = p.in * p.out * c->taps() >= kManyProducts * (p.in + p.out);
  FIRN_RETURN_IF(p.out_size[2] >= kShortRows && !many, Unimplemented("slower than oneDNN's"));
  const int64_t rows_at_once = std::max<int64_t>(1, kChunkPlaces / c->width);
  const int64_t chunks = (c->rows + rows_at_once - 1) / rows_at_once;
  c->chunk_rows = (c->rows + chunks - 1) / chunks;
  c->reach = c->distance(c->taps() - 1);
  // The pairs of x beyond its own that every chunk packs into tiles.
  FIRN_RETURN_IF(c->reach > c->pairs(), Unimplemented("wants taps that are near each other"));
  return c;
}

size_t TileConvWorkspace(const TileConv& c) {
  return static_cast<size_t>(Buffers::Bits(c)) * sizeof(uint16_t) +
         static_cast<size_t>(c.p.out * c.p.in * c.taps()) * sizeof(float);
}

void TileConvWeightGrad(const TileConv& c, const TensorSpec& x_spec, const void* x,
                        const TensorSpec& y_spec, const void* y, void* weight, void* workspace) {
  const Buffers buffers(c, workspace);
  const Images of_x(x_spec, x, c.p.in_size, c.p.attrs.padding);
  const Images of_y(y_spec, y, c.p.out_size, Sizes::Each(Sizes::kMost, 0));
  for (int64_t row = 0; row < c.rows; row += c.chunk_rows) {
    Pack(c, of_x, of_y, row, buffers);
    MultiplyAll(c, buffers, row == 0);
  }
  WriteWeight(c, buffers.sums, static_cast<BFloat16*>(weight));
}

}  // namespace firn::cpu
