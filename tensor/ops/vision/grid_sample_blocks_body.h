#ifndef FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_BLOCKS_BODY_H_
#define FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_BLOCKS_BODY_H_

// grid_sample and its gradient on the CPU: what a few hundred places are made of is written down
// once for all channels, and then a channel's plane at a time is read or added to, which stays in
// the nearest cache. Lanes run over places. All sums are in the order of the portable kernels.

#include <algorithm>
#include <cstring>
#include <limits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/simd_gather.h"
#include "firn/device/simd_part.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/ops/vision/grid_sample_body.h"

namespace firn::cpu {

// Elements and weights of up to `room()` neighbouring places, a line for each tap. Not thread-safe.
template <class T>
class GridBlock {
 public:
  static constexpr int64_t kLanes = kSimdLanes<T>, kSlots = 2048;

  explicit GridBlock(const GridShape<T>& s) : s_(s) {
    const int of_axis = s.w.a.mode == GridSampleMode::kNearest ? 1
                        : s.w.a.mode == GridSampleMode::kCubic ? 4
                                                               : 2;
    taps_ = of_axis * of_axis * (s.dims == 3 ? of_axis : 1);
    room_ = kSlots / taps_;
  }
  int64_t room() const { return room_; }

  // Places with these n numbers of the grid. `see(slot, place, i, j, k)` is told of each tap.
  template <class See>
  void Make(const T* grid, int64_t n, const See& see) {
    for (int64_t p = 0; p < n; ++p) {
      const GridPlace<T> place(s_, grid + p * s_.dims);
      int64_t at = p;
      for (int k = 0; k < place.z.count; ++k) {
        for (int j = 0; j < place.y.count; ++j) {
          const bool row = place.z.at[k] >= 0 && place.y.at[j] >= 0;
          const int64_t first = (place.z.at[k] * place.height + place.y.at[j]) * place.width;
          for (int i = 0; i < place.x.count; ++i, at += room_) {
            const bool inside = row && place.x.at[i] >= 0;
            elements_[at] = inside ? static_cast<int32_t>(first + place.x.at[i]) : -1;
            weights_[at] = inside ? place.Weight(i, j, k) : T(0);
            see(at, place, i, j, k);
          }
        }
      }
    }
    for (int t = 0; t < taps_; ++t) {  // lanes that are nothing
      for (int64_t p = n; p % kLanes != 0; ++p) elements_[t * room_ + p] = -1;
    }
  }

  // to[p] = the number at each of n places of a plane.
  void Sample(const T* plane, int64_t n, T* to) const {
    for (int64_t p = 0; p < n; p += kLanes) {
      Vec<T> sum = {};
      for (int64_t at = p; at < slots(); at += room_) {
        sum += Whole(weights_ + at) * inner::internal::Gather(plane, elements_ + at);
      }
      inner::internal::StorePart<T>(sum, std::min(kLanes, n - p), to + p);
    }
  }
  // plane[e] += weight * dy[p] for all elements that n places are made of.
  void Add(const T* dy, int64_t n, T* plane) const {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t at = p; at < slots(); at += room_) {
        if (elements_[at] >= 0) plane[elements_[at]] += weights_[at] * dy[p];
      }
    }
  }
  // flows[slot] += dy[p] * the element of a plane, for all slots of n places that are inside.
  void AddFlows(const T* dy, const T* plane, int64_t n, T* flows) const {
    for (int64_t p = 0; p < n; p += kLanes) {
      const Vec<T> own = inner::internal::LoadPart(dy + p, std::min(kLanes, n - p));
      for (int64_t at = p; at < slots(); at += room_) {
        const Vec<T> sum = Whole(flows + at) + own * inner::internal::Gather(plane, elements_ + at);
        std::memcpy(flows + at, &sum, sizeof(sum));
      }
    }
  }
  // How many taps all places have that there is room for: tap t of place p has number t * room() +
  // p.
  int64_t slots() const { return taps_ * room_; }
  bool inside(int64_t slot) const { return elements_[slot] >= 0; }

 private:
  static FIRN_ALWAYS_INLINE Vec<T> Whole(const T* from) {
    Vec<T> v;
    std::memcpy(&v, from, sizeof(v));
    return v;
  }

  const GridShape<T> s_;
  int64_t taps_, room_;
  alignas(64) int32_t elements_[kSlots];
  alignas(64) T weights_[kSlots];
};

// Calls f(sample, first, last) for the blocks of the places [begin, end), counted over all samples.
template <class T, class F>
void ForEachGridBlock(const GridShape<T>& s, int64_t room, int64_t begin, int64_t end, const F& f) {
  ForEachRowOf(begin, end, s.places, [&](int64_t sample, int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at += room) f(sample, at, std::min(last, at + room));
  });
}

template <class T>
struct GridSampleBlocks {
  const GridSampleBody<T> body;

  void operator()(int64_t begin, int64_t end) const {
    const GridShape<T>& s = body.s;
    GridBlock<T> block(s);
    ForEachGridBlock(s, block.room(), begin, end, [&](int64_t sample, int64_t at, int64_t last) {
      block.Make(body.grid + (sample * s.places + at) * s.dims, last - at, [](auto...) {});
      for (int64_t c = sample * s.c; c < (sample + 1) * s.c; ++c) {
        block.Sample(body.x + c * s.plane(), last - at, body.out + c * s.places + at);
      }
    });
  }
  int64_t cost() const { return body.cost() / 4; }
};

template <class T>
struct GridGradBlocks {
  const GridGradBody<T> body;

  void operator()(int64_t begin, int64_t end) const {
    const GridShape<T>& s = body.s;
    GridBlock<T> block(s);
    constexpr int64_t kSlots = GridBlock<T>::kSlots;
    T flows[kSlots], slopes[3][kSlots];
    ForEachGridBlock(s, block.room(), begin, end, [&](int64_t sample, int64_t at, int64_t last) {
      const int64_t n = last - at, first = (sample * s.places + at) * s.dims;
      const auto see = [&](int64_t slot, const GridPlace<T>& p, int u, int v, int w) {
        slopes[0][slot] = p.x.slope[u] * p.y.weight[v] * p.z.weight[w];
        slopes[1][slot] = p.x.weight[u] * p.y.slope[v] * p.z.weight[w];
        slopes[2][slot] = p.x.weight[u] * p.y.weight[v] * p.z.slope[w];
      };
      block.Make(body.grid + first, n, see);
      std::fill_n(flows, block.slots(), T(0));
      for (int64_t c = sample * s.c; c < (sample + 1) * s.c; ++c) {
        block.AddFlows(body.dy + c * s.places + at, body.x + c * s.plane(), n, flows);
      }
      for (int64_t p = 0; p < n; ++p) {
        for (int d = 0; d < s.dims; ++d) {
          T sum = 0;
          for (int64_t slot = p; slot < block.slots(); slot += block.room()) {
            if (block.inside(slot)) sum += flows[slot] * slopes[d][slot];
          }
          body.dgrid[first + p * s.dims + d] = sum;
        }
      }
    });
  }
  int64_t cost() const { return body.cost() / 4; }
};

template <class T>
struct GridImageGradBlocks {
  const GridImageGradBody<T> body;

  // Planes [begin, end) of dx.
  void operator()(int64_t begin, int64_t end) const {
    const GridShape<T>& s = body.s;
    GridBlock<T> block(s);
    std::fill(body.dx + begin * s.plane(), body.dx + end * s.plane(), T(0));
    ForEachRowOf(begin, end, s.c, [&](int64_t sample, int64_t first, int64_t last) {
      for (int64_t at = 0; at < s.places; at += block.room()) {
        const int64_t n = std::min(block.room(), s.places - at);
        block.Make(body.grid + (sample * s.places + at) * s.dims, n, [](auto...) {});
        for (int64_t c = sample * s.c + first; c < sample * s.c + last; ++c) {
          block.Add(body.dy + c * s.places + at, n, body.dx + c * s.plane());
        }
      }
    });
  }
  int64_t cost() const { return body.cost() / 4; }
};

// Runs the bodies of GridSampleKernel and GridSampleGradKernel by blocks.
class GridBlocksRunner {
 public:
  template <class T>
  absl::Status ForEach(int64_t n, const GridSampleBody<T>& body) const {
    return Run(n, GridSampleBlocks<T>{body});
  }
  template <class T>
  absl::Status ForEach(int64_t n, const GridGradBody<T>& body) const {
    return Run(n, GridGradBlocks<T>{body});
  }
  template <class T>
  absl::Status ForEach(int64_t n, const GridImageGradBody<T>& body) const {
    return Run(n, GridImageGradBlocks<T>{body});
  }

 private:
  template <class Body>
  static absl::Status Run(int64_t n, const Body& body) {
    cpu::ForEach(n, body);
    return absl::OkStatus();
  }
};

// Planes whose elements are counted in 31 bits.
inline absl::Status SupportsGridBlocks(const Shape& x) {
  int64_t plane = 1;
  for (int i = 2; i < x.rank(); ++i) plane *= x[i];
  FIRN_RETURN_IF(plane > std::numeric_limits<int32_t>::max(), Unimplemented("large planes"));
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_BLOCKS_BODY_H_
