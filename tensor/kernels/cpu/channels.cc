// Layouts for per-channel kernels.

#include "tensor/kernels/cpu/channels.h"

namespace firn::cpu {

void ChannelLayouts(const KernelQuery& q, LayoutRequest& want) {
  const Shape& x = q.in(0).shape;
  const auto alike = [&](const TensorSpec& s) {
    return s.shape.rank() == x.rank() && s.shape[0] == x[0] && s.shape[1] == x[1];
  };
  bool blocked = false;
  for (int i = 0; i < q.num_inputs(); ++i) {
    blocked |= q.has(i) && alike(q.in(i)) && q.in(i).layout.blocked();
  }
  const int32_t block = KernelBlock(x);
  if (!blocked || block == 0) return;
  for (int i = 0; i < q.num_inputs(); ++i) {
    if (q.has(i) && alike(q.in(i))) want.in[static_cast<size_t>(i)] = block;
  }
  for (size_t i = 0; i < want.out.size(); ++i) {
    if (alike(q.out(static_cast<int>(i)))) want.out[i] = block;
  }
}

}  // namespace firn::cpu
