// Layouts for per-channel kernels.

#include "firn/tensor/kernels/cpu/channels.h"

#include "firn/tensor/kernels/keep_blocks.h"

namespace firn::cpu {

void ChannelLayouts(const KernelQuery& q, LayoutRequest& want) { KeepBlocks(q, KernelBlock, want); }

void ChannelOrLastLayouts(const KernelQuery& q, LayoutRequest& want) {
  bool last = false;
  for (int i = 0; i < q.num_inputs(); ++i) last |= q.has(i) && IsChannelsLast(q.in(i));
  KeepBlocks(q, last ? ChannelsLastBlock : KernelBlock, want);
}

}  // namespace firn::cpu
