#ifndef FIRN_TENSOR_KERNELS_KEEP_BLOCKS_H_
#define FIRN_TENSOR_KERNELS_KEEP_BLOCKS_H_

#include <cstdint>

#include "firn/tensor/op.h"

namespace firn {

// A LayoutRequest: if one of the tensors with input 0's rank, batch and channels is blocked, all of
// these get the blocks that `block_of` gives for their shapes; the others are row-major.
void KeepBlocks(const KernelQuery& q, int32_t (*block_of)(const Shape&), LayoutRequest& want);

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_KEEP_BLOCKS_H_
