#ifndef FIRN_TENSOR_KERNELS_CPU_CHANNEL_GROUPS_H_
#define FIRN_TENSOR_KERNELS_CPU_CHANNEL_GROUPS_H_

// Per-channel work that goes more than once over each group of a ChannelView: one parallel loop
// over the groups, which does all passes over a group while that is in cache.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/channels.h"
#include "firn/tensor/kernels/cpu/rows.h"

namespace firn::cpu {

// Elements of a piece that goes through a tile: whole sets of lanes.
inline constexpr int64_t kLanePiece = 128 * kLanes;

// Runs of `length` elements, the first of which belongs to lane 0. They lie `stride` apart, the
// first one at element `first` of the tensor; after reading they lie `step` apart, in a tile if
// they are gathered.
struct LanePiece {
  int64_t first, runs, length, stride, step;
  bool gathered;

  // Calls f(i, j) for every element i that was read and its lane j.
  template <class F>
  FIRN_ALWAYS_INLINE void ForEach(const F& f) const {
    if (gathered) return ForEachLane(runs * step, f);
    if (length % kLanes != 0) {
      for (int64_t q = 0; q < runs; ++q) {
        const int64_t at = q * step;
        ForEachLane(length, [&](int64_t i, int64_t j) { f(at + i, j); });
      }
      return;
    }
    for (int64_t q = 0; q < runs; ++q) {  // without a remainder, sums stay in registers
      for (int64_t i = q * step; i < q * step + length; i += kLanes) {
        FIRN_INDEPENDENT_STEPS
        for (int64_t j = 0; j < kLanes; ++j) f(i + j, j);
      }
    }
  }
  // The same in order, one element after the other, for sums whose order counts.
  template <class F>
  void ForEachInOrder(const F& f) const {
    for (int64_t q = 0; q < (gathered ? 1 : runs); ++q) {
      for (int64_t i = 0; i < (gathered ? runs * step : length); ++i) f(q * step + i, i % kLanes);
    }
  }
  // The place for elements that Write then stores to y.
  template <class Acc>
  Acc* Room(const RowsOut<Acc>& y, Acc* tile) const {
    return gathered ? tile : y.At(first, tile);
  }
  template <class Acc>
  void Write(const RowsOut<Acc>& y, const Acc* tile) const {
    if (!gathered) return y.Done(first, length, tile);
    y.Store(first, {runs, length, stride, step}, tile);
  }
};

// Pieces of an input; each is fetched once for several loops over it.
template <class Acc>
class PieceReader {
 public:
  explicit PieceReader(const RowsIn<Acc>& x) : x_(x) {}
  bool given() const { return x_.given(); }
  const RowsIn<Acc>& rows() const { return x_; }
  const Acc* Read(const LanePiece& p) {
    if (p.first == first_) return piece_;
    first_ = p.first;
    if (!p.gathered) return piece_ = x_.At(p.first, p.length, tile_);
    x_.Load(p.first, {p.runs, p.length, p.stride, p.step}, tile_);
    for (int64_t q = 0; q < p.runs && p.length < p.step; ++q) {  // lanes without a channel
      std::fill(tile_ + q * p.step + p.length, tile_ + (q + 1) * p.step, Acc{0});
    }
    return piece_ = tile_;
  }

 private:
  const RowsIn<Acc> x_;
  int64_t first_ = -1;
  const Acc* piece_ = nullptr;
  alignas(64) Acc tile_[kLanePiece];
};

struct ChannelGroups {
  int64_t batch, groups;
  int64_t block;  // channels of a group, one or those of a ChannelView
  int64_t run;    // elements of a group in one sample
  int64_t per_sample;
  bool converted;

  // Requires: what ViewChannels does.
  explicit ChannelGroups(const TensorSpec& spec) {
    const ChannelView v = ViewChannels(spec);
    batch = v.batch, groups = v.groups, block = v.block, run = v.run;
    per_sample = v.groups * v.run;
    converted = IsHalf(spec.dtype);
  }
  // The number of elements of one channel.
  int64_t per_channel() const { return batch * (run / block); }

  // Calls f(piece) for pieces that make up the group. Short runs are gathered into tiles where that
  // makes fewer and longer loops, or where elements are converted anyway.
  template <class F>
  FIRN_ALWAYS_INLINE void ForEachPiece(int64_t group, const F& f) const {
    if (2 * run > kLanePiece) {
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t first = n * per_sample + group * run;
        for (int64_t at = 0; at < run; at += kLanePiece) {
          f(LanePiece{first + at, 1, std::min(kLanePiece, run - at), 0, 0, false});
        }
      }
      return;
    }
    if (run == 0) return;
    const int64_t most = kLanePiece / run;
    const bool gather = converted || run % kLanes != 0;
    for (int64_t n = 0; n < batch; n += most) {
      const int64_t first = n * per_sample + group * run, runs = std::min(most, batch - n);
      if (per_sample == run) {  // there is nothing between them
        f(LanePiece{first, 1, runs * run, 0, 0, false});
      } else {
        f(LanePiece{first, runs, run, per_sample, gather ? run : per_sample, gather});
      }
    }
  }
};

// Two sums for each channel of a group, in lanes, and in double before these lose digits.
template <class Acc>
class ChannelSums {
 public:
  explicit ChannelSums(int64_t block) : block_(block) {}

  // Adds the two numbers that f(i, j) returns, for every element i of the piece and its lane j.
  template <class F>
  FIRN_ALWAYS_INLINE void Add(const LanePiece& piece, const F& f) {
    Acc a[kLanes], b[kLanes];  // local copies, whose address nothing else has
    std::copy_n(a_, kLanes, a);
    std::copy_n(b_, kLanes, b);
    piece.ForEach([&](int64_t i, int64_t j) {
      const auto [v, w] = f(i, j);
      a[j] += v;
      b[j] += w;
    });
    std::copy_n(a, kLanes, a_);
    std::copy_n(b, kLanes, b_);
    const int64_t in_a_run = piece.gathered ? piece.step : piece.length;
    added_ += (piece.runs * in_a_run + kLanes - 1) / kLanes;
    if (added_ >= kMost) Fold();
  }
  // Requires: channel < block.
  double first(int64_t channel) {
    Fold();
    return sums_[channel];
  }
  double second(int64_t channel) {
    Fold();
    return sums_[kLanes + channel];
  }

 private:
  static constexpr int64_t kMost = 128;  // numbers added to a lane since it was last folded

  void Fold() {
    if (added_ == 0) return;
    added_ = 0;
    for (int64_t j = 0; j < kLanes; ++j) {
      sums_[j & (block_ - 1)] += static_cast<double>(a_[j]);
      sums_[kLanes + (j & (block_ - 1))] += static_cast<double>(b_[j]);
    }
    std::fill_n(a_, kLanes, Acc{0});
    std::fill_n(b_, kLanes, Acc{0});
  }

  const int64_t block_;
  int64_t added_ = 0;
  Acc a_[kLanes] = {}, b_[kLanes] = {};
  double sums_[2 * kLanes] = {};
};

// Calls f(g) for every group of channels, in parallel.
template <class F>
void ForEachGroup(const ChannelGroups& v, const F& f) {
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, v.batch * v.run));
  ParallelFor(v.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) f(g);
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CHANNEL_GROUPS_H_
