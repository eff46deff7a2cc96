#ifndef FIRN_TENSOR_KERNELS_CPU_CHANNEL_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_CHANNEL_ROWS_H_

// Per-channel work where channels lie side by side, [rows, channels]: in matrices, and in images
// that are channels-last, with a row for each pixel. Tasks are tiles of some rows and some
// channels. Each tile leaves its sums in the workspace, where they are added up afterwards. The
// tiles depend on the shape only, so sums do not depend on the threads.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/channel_groups.h"

namespace firn::cpu {

// Rows [begin, end) of `width` channels from `first` on.
struct RowTile {
  int64_t part, begin, end, first, width;
};

struct ChannelRows {
  static constexpr int64_t kWidth = 256;  // channels of a tile, whole sets of lanes
  static constexpr int64_t kMostParts = 64;

  int64_t channels, rows, part_rows, parts;
  bool converted;

  // Whether channels lie side by side: in images of one pixel, whose blocks do not matter, and in
  // channels-last ones, unless a ChannelView takes those.
  static bool Has(const TensorSpec& spec) {
    const bool view = spec.layout.channel_block == kChannelBlock;
    return spec.num_elements() == spec.shape[0] * spec.shape[1] || (IsChannelsLast(spec) && !view);
  }
  // Requires: Has(spec).
  explicit ChannelRows(const TensorSpec& spec)
      : channels(spec.shape[1]),
        rows(channels == 0 ? 0 : spec.num_elements() / channels),
        converted(IsHalf(spec.dtype)) {
    const int64_t width = std::max<int64_t>(1, std::min(channels, kWidth));
    part_rows = std::max({int64_t{64}, 16384 / width, (rows + kMostParts - 1) / kMostParts});
    parts = (rows + part_rows - 1) / part_rows;
  }
  // Room for one number for each channel, in whole sets of lanes.
  int64_t padded() const { return (channels + kLanes - 1) / kLanes * kLanes; }

  // Calls f(tile) for all tiles, in parallel.
  template <class F>
  void ForEachTile(const F& f) const {
    const int64_t across = (channels + kWidth - 1) / kWidth;
    const int64_t elements = std::min(part_rows, rows) * std::min(channels, kWidth);
    ParallelFor(parts * across, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, elements)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t part = i / across, first = i % across * kWidth;
                    f(RowTile{part, part * part_rows, std::min(rows, (part + 1) * part_rows), first,
                              std::min(kWidth, channels - first)});
                  }
                });
  }
  // Calls f(piece) for pieces that make up the tile. Rows are gathered where they are converted or
  // are not whole sets of lanes.
  template <class F>
  FIRN_ALWAYS_INLINE void ForEachPiece(const RowTile& tile, const F& f) const {
    const bool gathered = converted || tile.width % kLanes != 0;
    const int64_t padded = (tile.width + kLanes - 1) / kLanes * kLanes, most = kLanePiece / padded;
    for (int64_t r = tile.begin; r < tile.end; r += most) {
      f(LanePiece{r * channels + tile.first, std::min(most, tile.end - r), tile.width, channels,
                  gathered ? padded : channels, gathered});
    }
  }
};

// Writes f(i, lanes, j) for every element i of the piece, whose channel's numbers are lanes[.][j].
// `numbers`: for the channels of the tile, in whole sets of lanes.
template <int kNumbers, class Acc, class F>
FIRN_ALWAYS_INLINE void WritePiece(const LanePiece& p, const Acc* const (&numbers)[kNumbers],
                                   const RowsOut<Acc>& out, const F& f) {
  alignas(64) Acc results[kLanePiece];
  Acc* const to = p.Room(out, results);
  for (int64_t at = 0; at < p.length; at += kLanes) {
    Acc lanes[kNumbers][kLanes];
    for (int n = 0; n < kNumbers; ++n) std::copy_n(numbers[n] + at, kLanes, lanes[n]);
    for (int64_t q = 0; q < p.runs; ++q) {
      const int64_t i = q * p.step + at;
      FIRN_INDEPENDENT_STEPS
      for (int64_t j = 0; j < kLanes; ++j) to[i + j] = f(i + j, lanes, j);
    }
  }
  p.Write(out, to);
}

// Two sums for each channel of a tile, in double before they lose digits.
template <class Acc>
class TileSums {
 public:
  explicit TileSums(int64_t width) : width_(width) {}

  // Adds the two numbers that f(i, c) returns, for every element i of the piece; c is the entry of
  // `numbers` for its channel.
  template <class F>
  FIRN_ALWAYS_INLINE void Add(const LanePiece& p, const Acc* numbers, const F& f) {
    for (int64_t at = 0; at < p.length; at += kLanes) {
      Acc a[kLanes], b[kLanes], c[kLanes];  // local copies, whose address nothing else has
      std::copy_n(a_ + at, kLanes, a);
      std::copy_n(b_ + at, kLanes, b);
      std::copy_n(numbers + at, kLanes, c);
      for (int64_t q = 0; q < p.runs; ++q) {
        const int64_t i = q * p.step + at;
        FIRN_INDEPENDENT_STEPS
        for (int64_t j = 0; j < kLanes; ++j) {
          const auto [v, w] = f(i + j, c[j]);
          a[j] += v;
          b[j] += w;
        }
      }
      std::copy_n(a, kLanes, a_ + at);
      std::copy_n(b, kLanes, b_ + at);
    }
    added_ += p.runs;
    if (added_ >= kMost) Fold();
  }
  // Folds, and copies both sums of each channel to `first` and `second`.
  void Done(double* first, double* second) {
    Fold();
    std::copy_n(sums_, width_, first);
    std::copy_n(sums_ + ChannelRows::kWidth, width_, second);
  }

 private:
  static constexpr int64_t kMost = 128;  // rows after which sums are folded

  void Fold() {
    added_ = 0;
    for (int64_t j = 0; j < width_; ++j) {
      sums_[j] += static_cast<double>(a_[j]);
      sums_[ChannelRows::kWidth + j] += static_cast<double>(b_[j]);
    }
    std::fill_n(a_, width_, Acc{0});
    std::fill_n(b_, width_, Acc{0});
  }

  const int64_t width_;
  int64_t added_ = 0;
  alignas(64) Acc a_[ChannelRows::kWidth] = {}, b_[ChannelRows::kWidth] = {};
  double sums_[2 * ChannelRows::kWidth] = {};
};

// The workspace between the passes: two sums of every part for every channel, and kNumbers numbers
// for every channel.
template <class Acc, int kNumbers>
class RowScratch {
 public:
  static size_t Bytes(const ChannelRows& v) {
    return static_cast<size_t>(2 * v.parts * v.channels) * sizeof(double) +
           static_cast<size_t>(kNumbers * v.padded()) * sizeof(Acc);
  }
  RowScratch(const ChannelRows& v, void* workspace)
      : v_(v),
        sums_(static_cast<double*>(workspace)),
        numbers_(reinterpret_cast<Acc*>(sums_ + 2 * v.parts * v.channels)) {}

  // The place of a part's sums, of which there are two for each channel.
  double* Sums(int64_t part, int which) const { return sums_ + (2 * part + which) * v_.channels; }
  void Keep(const RowTile& tile, TileSums<Acc>& sums) const {
    sums.Done(Sums(tile.part, 0) + tile.first, Sums(tile.part, 1) + tile.first);
  }
  Acc* Numbers(int which) const { return numbers_ + which * v_.padded(); }

  // Calls f(c, first, second) with the sums over all parts for every channel, in parallel.
  template <class F>
  void ForEachChannel(const F& f) const {
    ParallelFor(v_.padded() / kLanes, 4, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin * kLanes; at < end * kLanes; at += kLanes) {
        const int64_t n = std::min(kLanes, v_.channels - at);
        double totals[2][kLanes] = {};
        for (int64_t p = 0; p < v_.parts; ++p) {
          for (int which : {0, 1}) {
            const double* const sums = Sums(p, which) + at;
            for (int64_t j = 0; j < n; ++j) totals[which][j] += sums[j];
          }
        }
        for (int64_t j = 0; j < n; ++j) f(at + j, totals[0][j], totals[1][j]);
        for (int i = 0; i < kNumbers; ++i) std::fill_n(Numbers(i) + at + n, kLanes - n, Acc{0});
      }
    });
  }

 private:
  const ChannelRows& v_;
  double* const sums_;
  Acc* const numbers_;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CHANNEL_ROWS_H_
