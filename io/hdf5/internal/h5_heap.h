#ifndef FIRN_IO_HDF5_INTERNAL_H5_HEAP_H_
#define FIRN_IO_HDF5_INTERNAL_H5_HEAP_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/io/hdf5/internal/h5_file.h"

namespace firn::io::internal {

// The objects that a version 2 B-tree lists by name; the value is the type of its records.
enum class H5HeapIndex : uint64_t { kLinks = 5, kAttributes = 8 };

// Calls `f` with each object of the fractal heap at `heap` that the tree at `index_address` lists
// under one of `names` (empty: with each that it lists), until it returns an error. `f` may get a
// few objects with other names too; the rest is not read.
absl::Status ForEachHeapObject(H5File& file, uint64_t heap, uint64_t index_address,
                               H5HeapIndex index, absl::Span<const std::string_view> names,
                               absl::FunctionRef<absl::Status(H5Cursor)> f);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_HEAP_H_
