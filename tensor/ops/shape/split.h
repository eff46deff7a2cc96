#ifndef FIRN_TENSOR_OPS_SHAPE_SPLIT_H_
#define FIRN_TENSOR_OPS_SHAPE_SPLIT_H_

#include <initializer_list>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

// Views of x cut along `dim` into pieces of `size`; the last may be smaller. Throws unless size > 0
// (or 0 for an empty dimension).
std::vector<Tensor> Split(const Tensor& x, inner::Integer size, inner::Integer dim = 0);

// Views of x cut along `dim` into pieces of the given sizes. Throws unless they add up to the
// dimension.
std::vector<Tensor> Split(const Tensor& x, const std::vector<int64_t>& sizes,
                          inner::Integer dim = 0);
inline std::vector<Tensor> Split(const Tensor& x, std::initializer_list<int64_t> sizes,
                                 inner::Integer dim = 0) {
  return Split(x, std::vector<int64_t>(sizes), dim);
}

// Views of x cut along `dim` into at most n pieces, all of ceil(size / n) but the last. Throws
// unless n > 0.
std::vector<Tensor> Chunk(const Tensor& x, inner::Integer n, inner::Integer dim = 0);

// Views of x at every position of `dim`, which is dropped: the inverse of Stack. Throws when dim is
// out of range.
std::vector<Tensor> Unbind(const Tensor& x, inner::Integer dim = 0);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_SPLIT_H_
