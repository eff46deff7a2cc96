#ifndef FIRN_TENSOR_KERNELS_CPU_PLANES_H_
#define FIRN_TENSOR_KERNELS_CPU_PLANES_H_

// Image planes of row-major and channel-blocked tensors: [planes][h][w][block], where the innermost
// `block` elements belong to different channels and are worked on together.

#include <algorithm>
#include <type_traits>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/channels.h"

namespace firn::cpu {

// Calls f(plane, std::integral_constant<int, block>) for every plane, in parallel.
// `work_per_plane`: elements of one channel that it touches.
template <class F>
void ForEachPlane(const TensorSpec& spec, int64_t work_per_plane, F&& f) {
  const ChannelView v = ViewChannels(spec);
  const int64_t work = std::max<int64_t>(1, work_per_plane * v.block);
  const int64_t grain = std::max<int64_t>(1, 16384 / work);
  ParallelFor(v.batch * v.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      if (v.block == 1) {
        f(plane, std::integral_constant<int, 1>());
      } else {
        f(plane, std::integral_constant<int, static_cast<int>(kChannelBlock)>());
      }
    }
  });
}

// Calls f(plane, first, last, block) for bands of rows [first, last) that make up `rows` rows of
// every plane, in parallel: a few large planes keep all threads busy too.
template <class F>
void ForEachBand(const TensorSpec& spec, int64_t rows, int64_t work_per_row, F&& f) {
  const ChannelView v = ViewChannels(spec);
  const int64_t work = std::max<int64_t>(1, work_per_row * v.block);
  const int64_t band = std::clamp<int64_t>(65536 / work, 1, std::max<int64_t>(1, rows));
  const int64_t bands = (rows - 1) / band + 1;
  const int64_t grain = std::max<int64_t>(1, 16384 / (work * band));
  ParallelFor(v.batch * v.groups * bands, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % bands * band, last = std::min(rows, first + band);
      if (v.block == 1) {
        f(i / bands, first, last, std::integral_constant<int, 1>());
      } else {
        f(i / bands, first, last, std::integral_constant<int, static_cast<int>(kChannelBlock)>());
      }
    }
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PLANES_H_
