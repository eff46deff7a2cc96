#ifndef FIRN_TENSOR_OPS_AMIN_H_
#define FIRN_TENSOR_OPS_AMIN_H_

#include "tensor/ops/sum.h"

namespace firn {

// The smallest element over `dims` (empty: all); NaN where there is one. Elements that tie for it
// share the gradient evenly. Any dtype. Throws when there are no elements to choose from.
Tensor Amin(const Tensor& x, const DimList& dims = {}, bool keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_AMIN_H_
