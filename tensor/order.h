#ifndef FIRN_TENSOR_ORDER_H_
#define FIRN_TENSOR_ORDER_H_

#include <cstdint>

#include "firn/tensor/spec.h"

namespace firn::inner {

// A number below 0 for the order of dimensions of a strided tensor without gaps that is not
// row-major, such as a transposed or permuted one. 0 for every other tensor. Sizes of 1 do not
// matter: of two tensors of one shape, corresponding elements lie at equal offsets if they have one
// number below 0.
//
// A kernel whose result does not depend on the order of elements may request such a number like a
// block (LayoutRequest): inputs that have it stay as they are.
int32_t OrderOf(const TensorSpec& spec);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_ORDER_H_
