#ifndef FIRN_TENSOR_OPS_SCAN_LINE_SAMPLES_H_
#define FIRN_TENSOR_OPS_SCAN_LINE_SAMPLES_H_

// Parts shared by the samples of operations along one dimension. Test code only.

#include <functional>

#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// Calls f for each line along `dim`: how many elements it has, the offset of its first one in the
// row-major values, and the step from one to the next.
void ForEachLine(const Shape& shape, int64_t dim,
                 const std::function<void(int64_t length, int64_t first, int64_t step)>& f);

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_SCAN_LINE_SAMPLES_H_
