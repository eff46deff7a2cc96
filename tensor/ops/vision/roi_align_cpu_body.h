#ifndef FIRN_TENSOR_OPS_VISION_ROI_ALIGN_CPU_BODY_H_
#define FIRN_TENSOR_OPS_VISION_ROI_ALIGN_CPU_BODY_H_

// roi_align and its adjoint on the CPU. A bin's samples lie on a grid, so what its mean takes of an
// element is a product: a share of the element's row and one of its column. The shares are written
// down once for a box and serve all channels. A row of bins is first one line, the sum of rows of x
// by lanes over columns, of which bins then take their columns; the adjoint does both in reverse.
// Where samples are so sparse that most of the line would be for nothing, bins read x themselves.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/kernels/cpu/parts.h"
#include "firn/tensor/ops/vision/roi_align_body.h"

namespace firn::cpu {

template <class T>
struct RoiShare {
  int64_t at;  // a row or a column
  T weight;
};

// What the bins of one side of a box take of `size` elements. Not thread-safe.
template <class T>
class RoiShares {
 public:
  // How many shares there may be.
  static size_t Room(const RoiAlignAttrs& a, int64_t bins, int64_t size) {
    const int64_t samples = a.sampling_ratio > 0 ? a.sampling_ratio : kMostRoiSamples;
    return static_cast<size_t>(bins) * static_cast<size_t>(std::min(size, 2 * samples));
  }
  RoiShares(int64_t bins, int64_t size, RoiShare<T>* shares, int64_t* ends)
      : bins_(bins), size_(size), shares_(shares), ends_(ends) {}

  void Make(const RoiAlignAttrs& a, T from, T to) {
    int64_t count = 0;
    first_ = std::numeric_limits<int64_t>::max();
    last_ = -1;
    for (int64_t bin = 0; bin < bins_; ++bin) {
      const RoiSide<T> side(a, from, to, bin, bins_);
      const T unit = T(1) / static_cast<T>(std::max<int64_t>(1, side.count));
      const int64_t start = count;
      for (int64_t i = 0; i < side.count; ++i) {
        int64_t low = 0, high = 0;
        T part = 0;
        // By rising place, so that a share that two samples have in common is among the last.
        const int64_t sample = side.step < 0 ? side.count - 1 - i : i;
        if (!side.Taps(sample, size_, low, high, part)) continue;
        count = Add(start, count, low, (1 - part) * unit);
        count = Add(start, count, high, part * unit);
      }
      ends_[bin] = count;
      if (count == start) continue;
      first_ = std::min(first_, shares_[start].at);
      last_ = std::max(last_, shares_[count - 1].at);
    }
  }
  const RoiShare<T>* begin(int64_t bin) const { return shares_ + (bin == 0 ? 0 : ends_[bin - 1]); }
  const RoiShare<T>* end(int64_t bin) const { return shares_ + ends_[bin]; }
  int64_t count() const { return ends_[bins_ - 1]; }
  int64_t bins() const { return bins_; }
  // The elements [first, first + length) hold all shares. Requires: there are some.
  int64_t first() const { return first_; }
  int64_t length() const { return last_ - first_ + 1; }

 private:
  // Adds to the share of an element, one of [start, count), or makes one. Returns the new count.
  int64_t Add(int64_t start, int64_t count, int64_t at, T weight) {
    for (int64_t i = count; i > start && shares_[i - 1].at >= at;) {
      if (shares_[--i].at != at) continue;
      shares_[i].weight += weight;
      return count;
    }
    shares_[count] = {at, weight};
    return count + 1;
  }

  const int64_t bins_, size_;
  RoiShare<T>* const shares_;
  int64_t* const ends_;
  int64_t first_ = 0, last_ = -1;
};

// One box at a time, with all of its channels. Not thread-safe.
template <class T>
class RoiGrid {
 public:
  // The workspace is aligned to 64 bytes.
  static size_t Bytes(const RoiAlignShape<T>& s) { return RoiGrid(s, nullptr).bytes_; }

  RoiGrid(const RoiAlignShape<T>& s, char* workspace)
      : s_(s),
        rows_(s.bins_h, s.h, Take<RoiShare<T>>(workspace, Shares::Room(s.a, s.bins_h, s.h)),
              Take<int64_t>(workspace, static_cast<size_t>(s.bins_h))),
        columns_(s.bins_w, s.w, Take<RoiShare<T>>(workspace, Shares::Room(s.a, s.bins_w, s.w)),
                 Take<int64_t>(workspace, static_cast<size_t>(s.bins_w))),
        line_(Take<T>(workspace, static_cast<size_t>(s.w))) {}

  void Make(const T* box) {
    rows_.Make(s_.a, box[2], box[4]);
    columns_.Make(s_.a, box[1], box[3]);
    some_ = rows_.count() > 0 && columns_.count() > 0;
    by_line_ = some_ && columns_.length() <= kSimdLanes<T> * columns_.count();
  }
  // y [bins_h, bins_w] of a channel.
  void Sample(const T* plane, T* y) const {
    if (!some_) {
      std::fill_n(y, s_.bins(), T(0));
      return;
    }
    for (int64_t bin = 0; bin < s_.bins_h; ++bin, y += s_.bins_w) {
      if (by_line_) {
        MixRows(bin, plane);
        TakeColumns(line_, y);
        continue;
      }
      for (int64_t i = 0; i < s_.bins_w; ++i) {
        T sum = 0;
        for (const RoiShare<T>* row = rows_.begin(bin); row < rows_.end(bin); ++row) {
          sum += row->weight * Column(plane + row->at * s_.w, i);
        }
        y[i] = sum;
      }
    }
  }
  // Adds what y's gradient gives to a channel's plane.
  void Spread(const T* dy, T* plane) const {
    if (!some_) return;
    const int64_t first = columns_.first(), length = columns_.length();
    for (int64_t bin = 0; bin < s_.bins_h; ++bin, dy += s_.bins_w) {
      if (by_line_) {
        std::fill_n(line_ + first, length, T(0));
        PutColumns(dy, T(1), line_);
      }
      for (const RoiShare<T>* row = rows_.begin(bin); row < rows_.end(bin); ++row) {
        T* const to = plane + row->at * s_.w;
        if (!by_line_) {
          PutColumns(dy, row->weight, to);
          continue;
        }
        const T weight = row->weight;
        FIRN_INDEPENDENT_STEPS
        for (int64_t i = 0; i < length; ++i) to[first + i] += weight * line_[first + i];
      }
    }
  }

 private:
  using Shares = RoiShares<T>;

  // The next `count` elements of the workspace; counts bytes alone where there is none yet.
  template <class U>
  U* Take(char* workspace, size_t count) {
    const size_t at = bytes_;
    bytes_ += (count * sizeof(U) + 63) / 64 * 64;
    return workspace == nullptr ? nullptr : reinterpret_cast<U*>(workspace + at);
  }

  // line_ = the shares of rows of x that a row of bins takes, where columns have shares.
  void MixRows(int64_t bin, const T* plane) const {
    using inner::internal::LoadAll, inner::internal::LoadPart;
    constexpr int64_t kLanes = kSimdLanes<T>;
    const RoiShare<T>*const begin = rows_.begin(bin), *const end = rows_.end(bin);
    const int64_t length = columns_.length();
    const T* const from = plane + columns_.first();
    T* const to = line_ + columns_.first();
    if (length < kLanes) {
      Vec<T> sum = {};
      for (const RoiShare<T>* row = begin; row < end; ++row) {
        sum += row->weight * LoadPart(from + row->at * s_.w, length);
      }
      inner::internal::StorePart<T>(sum, length, to);
      return;
    }
    for (int64_t i = 0; i < length; i += kLanes) {
      const int64_t at = std::min(i, length - kLanes);  // the last one meets the one before it
      Vec<T> sum = {};
      for (const RoiShare<T>* row = begin; row < end; ++row) {
        sum += row->weight * LoadAll(from + row->at * s_.w + at);
      }
      inner::internal::StoreAll<T>(sum, to + at);
    }
  }
  T Column(const T* line, int64_t bin) const {
    T sum = 0;
    for (const RoiShare<T>* share = columns_.begin(bin); share < columns_.end(bin); ++share) {
      sum += share->weight * line[share->at];
    }
    return sum;
  }
  void TakeColumns(const T* line, T* y) const {
    for (int64_t i = 0; i < s_.bins_w; ++i) y[i] = Column(line, i);
  }
  void PutColumns(const T* dy, T weight, T* line) const {
    const RoiShare<T>* share = columns_.begin(0);
    for (int64_t i = 0; i < s_.bins_w; ++i) {
      const T own = weight * dy[i];
      for (; share < columns_.end(i); ++share) line[share->at] += share->weight * own;
    }
  }

  size_t bytes_ = 0;
  const RoiAlignShape<T> s_;
  Shares rows_, columns_;
  T* const line_;
  bool some_ = false, by_line_ = false;
};

// The pieces of work: channels of boxes, and planes of x. Those of one box, or one sample, are
// neighbours and share what RoiGrid writes down, so parts are not small.
inline constexpr int64_t kRoiChannels = 4;

template <class T>
void RoiAlignParts(const RoiAlignShape<T>& s, const T* x, const T* boxes, T* y, char* workspace) {
  const size_t bytes = RoiGrid<T>::Bytes(s);
  ForEachPart(s.k * s.c, kRoiChannels, [&](int64_t part, int64_t begin, int64_t end) {
    RoiGrid<T> grid(s, workspace + static_cast<size_t>(part) * bytes);
    ForEachRowOf(begin, end, s.c, [&](int64_t k, int64_t first, int64_t last) {
      const T* const box = boxes + 5 * k;
      const int64_t sample = RoiSample(box, s.n);
      T* const to = y + k * s.c * s.bins();
      if (sample < 0) {
        std::fill(to + first * s.bins(), to + last * s.bins(), T(0));
        return;
      }
      grid.Make(box);
      for (int64_t c = first; c < last; ++c) {
        grid.Sample(x + (sample * s.c + c) * s.h * s.w, to + c * s.bins());
      }
    });
  });
}

template <class T>
void RoiAlignGradParts(const RoiAlignShape<T>& s, const T* dy, const T* boxes, T* dx,
                       char* workspace) {
  const size_t bytes = RoiGrid<T>::Bytes(s);
  ForEachPart(s.n * s.c, kRoiChannels, [&](int64_t part, int64_t begin, int64_t end) {
    std::fill(dx + begin * s.h * s.w, dx + end * s.h * s.w, T(0));
    RoiGrid<T> grid(s, workspace + static_cast<size_t>(part) * bytes);
    ForEachRowOf(begin, end, s.c, [&](int64_t sample, int64_t first, int64_t last) {
      for (int64_t k = 0; k < s.k; ++k) {
        if (RoiSample(boxes + 5 * k, s.n) != sample) continue;
        grid.Make(boxes + 5 * k);
        for (int64_t c = first; c < last; ++c) {
          grid.Spread(dy + (k * s.c + c) * s.bins(), dx + (sample * s.c + c) * s.h * s.w);
        }
      }
    });
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_VISION_ROI_ALIGN_CPU_BODY_H_
