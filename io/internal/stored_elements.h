#ifndef FIRN_IO_INTERNAL_STORED_ELEMENTS_H_
#define FIRN_IO_INTERNAL_STORED_ELEMENTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "firn/tensor/dtype.h"

namespace firn::io::internal {

// How a file stores the elements of a tensor of `dtype`.
struct StoredType {
  DType dtype = DType::kF32;
  int bytes = 4;  // of one stored element: SizeOf(dtype), or an integer that is widened
  bool big_endian = false;
  bool is_signed = true;  // of integers

  friend bool operator==(const StoredType&, const StoredType&) = default;
};

// Turns `n` elements as stored, at the front of `data`, into elements of `type.dtype` in the
// machine's byte order, in place. `data` has room for them. InvalidArgument for an invalid value (a
// bool other than 0 and 1); Unimplemented for a value that no dtype can hold (a u64 beyond i64).
absl::Status ConvertStored(const StoredType& type, int64_t n, char* data);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_STORED_ELEMENTS_H_
