// Layouts for per-channel kernels.

#include "tensor/kernels/cpu/channels.h"

#include "tensor/kernels/keep_blocks.h"

namespace firn::cpu {

void ChannelLayouts(const KernelQuery& q, LayoutRequest& want) { KeepBlocks(q, KernelBlock, want); }

}  // namespace firn::cpu
