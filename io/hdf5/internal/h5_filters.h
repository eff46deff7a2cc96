#ifndef FIRN_IO_HDF5_INTERNAL_H5_FILTERS_H_
#define FIRN_IO_HDF5_INTERNAL_H5_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"

namespace firn::io::internal {

// The filters that were applied to each chunk when it was written, in that order.
struct H5Filter {
  enum Kind : uint16_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3 };
  Kind kind;
  uint64_t element_bytes = 0;  // of shuffle
};
using H5Filters = std::vector<H5Filter>;

// Unimplemented for filters that H5Filter does not have, and for one that occurs twice.
absl::StatusOr<H5Filters> ParseH5Filters(const H5File& file, H5Cursor c);

// Whether chunks have other sizes in the file than in memory.
bool ChangesSize(const H5Filters& filters);

// Memory that is kept from one chunk to the next, without being cleared.
class H5Buffer {
 public:
  // Afterwards size() is `n`, and the old contents may be lost.
  char* Resize(size_t n) {
    if (n > room_) {
      bytes_ = std::make_unique_for_overwrite<char[]>(n);
      room_ = n;
    }
    size_ = n;
    return bytes_.get();
  }
  void Shrink(size_t n) { size_ = n; }
  const char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t room_ = 0, size_ = 0;
};

// Undoes filters. Keeps its memory from one chunk to the next.
class H5Unfilter {
 public:
  // `bytes` are the stored bytes of the chunk at `address`, and become its `chunk_bytes` bytes of
  // elements. Bit i of `skipped`: filter i was left out for this chunk. DataLoss if they do not
  // fit, or a checksum is wrong.
  absl::Status Run(const H5File& file, const H5Filters& filters, uint64_t skipped, uint64_t address,
                   size_t chunk_bytes, H5Buffer* bytes);

 private:
  H5Buffer other_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_FILTERS_H_
