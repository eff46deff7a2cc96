#ifndef FIRN_TENSOR_OPS_EYE_H_
#define FIRN_TENSOR_OPS_EYE_H_

#include "tensor/tensor.h"

namespace firn {

// An n x m matrix (m absent: n x n) of ones on a diagonal and zeros elsewhere. `offset` moves the
// diagonal to the right, a negative one down. Throws when n or m is negative.
Tensor Eye(int64_t n, int64_t m, int64_t offset = 0, DType dtype = kDefaultFloat,
           Device device = {});
inline Tensor Eye(int64_t n) { return Eye(n, n); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EYE_H_
