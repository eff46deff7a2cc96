#ifndef FIRN_IO_HDF5_INTERNAL_H5_METADATA_H_
#define FIRN_IO_HDF5_INTERNAL_H5_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "firn/io/hdf5/internal/h5_library.h"

namespace firn::io::internal {

// A file for the HDF5 library in memory, which keeps only written bytes: the descriptions of the
// datasets, but not the room for their elements. Thread-compatible.
class H5Metadata {
 public:
  H5Metadata();
  ~H5Metadata();
  H5Metadata(const H5Metadata&) = delete;
  H5Metadata& operator=(const H5Metadata&) = delete;

  // Properties by which H5Fcreate makes the file here; not ok() on an error. *this must outlive the
  // file, and serves one. Requires an H5Scope.
  H5Id FileAccess();

  // Bytes of the file, with the room for elements.
  int64_t size() const { return size_; }
  void set_size(int64_t size) { size_ = size; }
  // The end of the last written byte.
  int64_t written() const { return written_; }

  void Write(int64_t offset, const void* data, size_t bytes);
  // Bytes that were not written are zero.
  void Read(int64_t offset, void* data, size_t bytes) const;
  // Calls `put` with the bytes from `begin` to `end`, in order and in pieces; bytes that it is not
  // called for are zero. Returns its first error.
  absl::Status ForEachPiece(
      int64_t begin, int64_t end,
      absl::FunctionRef<absl::Status(int64_t offset, std::string_view bytes)> put) const;

 private:
  struct Page;
  // By their numbers; of zeros until they are written to.
  std::map<int64_t, std::unique_ptr<Page>> pages_;
  int64_t size_ = 0, written_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_METADATA_H_
