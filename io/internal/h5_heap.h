#ifndef FIRN_IO_INTERNAL_H5_HEAP_H_
#define FIRN_IO_INTERNAL_H5_HEAP_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "firn/io/internal/h5_file.h"

namespace firn::io::internal {

// Calls `f` with each object of the fractal heap at `heap` that the version 2 B-tree at `index` (of
// links by name) lists, until it returns an error.
absl::Status ForEachHeapObject(H5File& file, uint64_t heap, uint64_t index,
                               absl::FunctionRef<absl::Status(H5Cursor)> f);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_H5_HEAP_H_
