#ifndef FIRN_TENSOR_KERNELS_CPU_PLANES_H_
#define FIRN_TENSOR_KERNELS_CPU_PLANES_H_

// Image planes of row-major and channel-blocked tensors: [planes][h][w][block], where the innermost
// `block` elements belong to different channels and are worked on together.

#include <type_traits>

#include "device/parallel.h"
#include "tensor/kernels/cpu/channels.h"

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

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PLANES_H_
