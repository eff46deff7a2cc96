#ifndef FIRN_IO_HDF5_INTERNAL_H5_BTREE2_H_
#define FIRN_IO_HDF5_INTERNAL_H5_BTREE2_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "firn/io/hdf5/internal/h5_file.h"

namespace firn::io::internal {

// Calls `f` with each record of the version 2 B-tree at `address`, in no particular order, until it
// returns an error. Records are of `type` and have `least_bytes` or more bytes, all the same
// number.
absl::Status ForEachH5Record(H5File& file, uint64_t address, uint64_t type, uint64_t least_bytes,
                             absl::FunctionRef<absl::Status(H5Cursor)> f);

// Bytes that HDF5 takes to write numbers up to `limit` > 0.
uint64_t H5BytesFor(uint64_t limit);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_BTREE2_H_
