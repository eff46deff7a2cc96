#ifndef FIRN_TENSOR_OPS_TILE_H_
#define FIRN_TENSOR_OPS_TILE_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

// x repeated repeats[i] times along dimension i. The shorter of x's shape and `repeats` is filled
// up with ones in front (NumPy's rule). Throws on a negative number.
Tensor Tile(const Tensor& x, const std::vector<int64_t>& repeats);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TILE_H_
