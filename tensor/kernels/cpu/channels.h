#ifndef FIRN_TENSOR_KERNELS_CPU_CHANNELS_H_
#define FIRN_TENSOR_KERNELS_CPU_CHANNELS_H_

// Per-channel work on row-major and channel-blocked tensors alike.
//
// Both are [batch][groups][run], a run holding the elements of `block` channels interleaved (one
// channel when row-major). Loops go over a run in chunks of kLanes elements; lane j always belongs
// to channel j % block of its group, so per-channel numbers are spread over lanes once per group
// and the inner loops are plain vector loops with no reduction across lanes.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/simd.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

inline constexpr int64_t kLanes = 32;
static_assert(kLanes % kChannelBlock == 0);

struct ChannelView {
  int64_t batch, groups, run, block;

  int64_t offset(int64_t n, int64_t group) const { return (n * groups + group) * run; }
  // Elements of one channel.
  int64_t per_channel() const { return batch * run / block; }
};

// Requires: rank >= 2, dense.
inline ChannelView ViewChannels(const TensorSpec& s) {
  const int64_t block = s.layout.blocked() ? s.layout.channel_block : 1;
  int64_t inner = 1;
  for (int i = 2; i < s.shape.rank(); ++i) inner *= s.shape[i];
  return {s.shape[0], s.shape[1] / block, inner * block, block};
}

// The block in which these kernels take blocked tensors of `shape`: kChannelBlock, or 0 (row-major)
// when the channels do not fit it.
inline int32_t KernelBlock(const Shape& shape) {
  return shape.rank() >= 3 && shape[1] % kChannelBlock == 0 ? kChannelBlock : 0;
}

// The LayoutRequest of kernels written with ChannelView.
void ChannelLayouts(const KernelQuery& q, LayoutRequest& want);

// The LayoutRequest of kernels which also take channels-last images: when one input is
// channels-last, all are.
void ChannelOrLastLayouts(const KernelQuery& q, LayoutRequest& want);

// One number per lane from one per channel; `v` null gives `missing`. Requires: block is 1 or
// kChannelBlock, powers of two.
template <class Acc, class T>
void SpreadLanes(const T* v, int64_t group, int64_t block, Acc missing, Acc* lanes) {
  for (int64_t j = 0; j < kLanes; ++j) {
    lanes[j] = v == nullptr ? missing : static_cast<Acc>(v[group * block + (j & (block - 1))]);
  }
}

// Calls f(i, j) for every element i of a run and its lane j; the inner loop has kLanes iterations,
// so that it vectorises with the lanes' numbers in registers.
template <class F>
FIRN_ALWAYS_INLINE void ForEachLane(int64_t run, F&& f) {
  int64_t i = 0;
  for (; i + kLanes <= run; i += kLanes) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t j = 0; j < kLanes; ++j) f(i + j, j);
  }
  for (int64_t j = 0; i + j < run; ++j) f(i + j, j);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CHANNELS_H_
