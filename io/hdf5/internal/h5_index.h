#ifndef FIRN_IO_HDF5_INTERNAL_H5_INDEX_H_
#define FIRN_IO_HDF5_INTERNAL_H5_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_chunks.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_plan.h"

namespace firn::io::internal {

// The chunks that a layout of version 4 has, by whichever index. Chunks beyond the present size of
// the dataset, which may have been larger before, are left out. It is not checked here whether
// chunks lie in the file and have room for their elements.
absl::StatusOr<std::vector<H5Chunk>> ReadH5Index(H5File& file, const H5Plan& plan,
                                                 const H5Grid& grid);

// An array's entry for a chunk: its address alone, or with its size and filters too.
struct H5IndexEntry {
  bool filtered = false;
  uint64_t size_bytes = 0;   // that the size takes
  uint64_t chunk_bytes = 0;  // where it is not stated
  uint64_t bytes() const { return filtered ? 8 + size_bytes + 4 : 8; }
  H5Chunk Read(H5Cursor* c) const;
};
using H5IndexVisit = absl::FunctionRef<void(uint64_t number, H5Chunk chunk)>;

// Calls `f` with each chunk that the fixed or the extensible array at `address` has, by its number.
// `entry` lacks only size_bytes.
absl::Status VisitH5FixedArray(H5File& file, uint64_t address, H5IndexEntry entry, H5IndexVisit f);
absl::Status VisitH5ExtensibleArray(H5File& file, uint64_t address, H5IndexEntry entry,
                                    H5IndexVisit f);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_INDEX_H_
