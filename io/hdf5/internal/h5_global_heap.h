#ifndef FIRN_IO_HDF5_INTERNAL_H5_GLOBAL_HEAP_H_
#define FIRN_IO_HDF5_INTERNAL_H5_GLOBAL_HEAP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"

namespace firn::io::internal {

// The objects of any length to which elements of a file refer. Reads each collection once.
// Thread-compatible.
class H5GlobalHeap {
 public:
  explicit H5GlobalHeap(H5File& file) : file_(file) {}

  // Object `number` of the collection at `address`, as long as *this.
  absl::StatusOr<std::string_view> Get(uint64_t address, uint64_t number);

 private:
  struct Collection {
    std::string bytes;
    std::unordered_map<uint64_t, std::string_view> objects;
  };
  absl::Status Read(uint64_t address, Collection* collection);

  H5File& file_;
  std::unordered_map<uint64_t, Collection> collections_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_GLOBAL_HEAP_H_
