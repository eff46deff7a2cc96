#ifndef FIRN_TENSOR_OPS_SHAPE_MOVED_SAMPLES_H_
#define FIRN_TENSOR_OPS_SHAPE_MOVED_SAMPLES_H_

// The reference of operations that move elements. Test code only.

#include <functional>
#include <vector>

#include "firn/tensor/testing/samples.h"

namespace firn::testing {

using Index = std::vector<int64_t>;

// A tensor of `shape` whose element at an index is x's element at from(index), or 0 where that
// is empty (and x has dimensions).
inline RefTensor Moved(const RefTensor& x, const Shape& shape,
                       const std::function<Index(const Index&)>& from) {
  RefTensor y(shape);
  ForEachIndex(shape, [&](absl::Span<const int64_t> index) {
    const Index at = from(Index(index.begin(), index.end()));
    if (at.size() == static_cast<size_t>(x.shape.rank())) y.at(index) = x.at(at);
  });
  return y;
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_SHAPE_MOVED_SAMPLES_H_
