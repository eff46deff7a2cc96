#ifndef FIRN_TENSOR_ORDER_H_
#define FIRN_TENSOR_ORDER_H_

#include <cstdint>

#include "firn/tensor/spec.h"

namespace firn::inner {

// A number below 0 for the order in which the dimensions of a strided tensor lie without gaps, if
// that is not row-major: of a transposed or permuted one. 0 for every other tensor. Sizes of 1 do
// not matter: of two tensors of one shape, corresponding elements lie at equal offsets if they have
// one number below 0.
//
// A kernel whose result does not depend on the order of elements may ask for such a number as it
// asks for blocks (LayoutRequest), of inputs that have it: they stay as they are.
int32_t OrderOf(const TensorSpec& spec);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_ORDER_H_
