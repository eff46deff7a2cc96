// Layouts for kernels that go channel by channel.

#include "firn/tensor/kernels/keep_blocks.h"

namespace firn {

void KeepBlocks(const KernelQuery& q, int32_t (*block_of)(const Shape&), LayoutRequest& want) {
  const Shape& x = q.in(0).shape;
  const auto alike = [&](const TensorSpec& s) {
    return s.shape.rank() == x.rank() && s.shape[0] == x[0] && s.shape[1] == x[1];
  };
  bool blocked = false;
  for (int i = 0; i < q.num_inputs(); ++i) {
    blocked |= q.has(i) && alike(q.in(i)) && q.in(i).layout.blocked();
  }
  if (!blocked) return;
  for (int i = 0; i < q.num_inputs(); ++i) {
    if (!q.has(i) || !alike(q.in(i))) continue;
    want.in[static_cast<size_t>(i)] = block_of(q.in(i).shape);
  }
  for (size_t i = 0; i < want.out.size(); ++i) {
    const TensorSpec& out = q.out(static_cast<int>(i));
    if (alike(out)) want.out[i] = block_of(out.shape);
  }
}

}  // namespace firn
