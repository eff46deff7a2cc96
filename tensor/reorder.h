#ifndef FIRN_TENSOR_REORDER_H_
#define FIRN_TENSOR_REORDER_H_

#include "absl/status/statusor.h"
#include "tensor/tensor.h"

namespace firn {

// Copies the elements of `src` to `dst`, whatever the two layouts. Requires: one dtype and shape,
// both on the CPU, no overlap.
void CopyElements(const TensorSpec& src_spec, const void* src, const TensorSpec& dst_spec,
                  void* dst);

// `t` itself if it is dense with this channel block (0: contiguous), else a copy that is. Not
// recorded: it changes where elements lie, not what they are.
absl::StatusOr<Tensor> Reordered(const Tensor& t, int channel_block);

}  // namespace firn

#endif  // FIRN_TENSOR_REORDER_H_
