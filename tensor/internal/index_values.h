#ifndef FIRN_TENSOR_INTERNAL_INDEX_VALUES_H_
#define FIRN_TENSOR_INTERNAL_INDEX_VALUES_H_

#include <cstdint>

#include "firn/tensor/dtype.h"

// Checks of index values, a register's worth at a time; compiled like kernels.
namespace firn::inner::internal {

// The allowed values: low <= value < high, and one more value; INT64_MIN: no other.
struct IndexInterval {
  int64_t low, high, ignored;
};

// Whether one of n values of an index dtype lies outside. Uses several threads.
bool AnyOutside(DType dtype, const void* values, int64_t n, const IndexInterval& interval);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_INDEX_VALUES_H_
