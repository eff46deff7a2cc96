#ifndef FIRN_IO_INTERNAL_H5_MESSAGE_H_
#define FIRN_IO_INTERNAL_H5_MESSAGE_H_

// What the messages in a dataset's object header say.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/internal/h5_file.h"
#include "firn/io/internal/h5_object.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/tensor/shape.h"

namespace firn::io::internal {

// Errors of all these: DataLoss for damage, Unimplemented for legal HDF5 that parameters do not
// need.

absl::StatusOr<Shape> ParseH5Shape(const H5File& file, H5Cursor c);

// Floats of 16 (IEEE and bfloat16), 32 and 64 bits, integers of 8 to 64, and h5py's bool, which is
// an enumeration of FALSE and TRUE.
absl::StatusOr<StoredType> ParseH5Type(const H5File& file, H5Cursor c);

struct H5Layout {
  enum Kind : uint8_t { kCompact = 0, kContiguous = 1, kChunked = 2 };
  Kind kind = kContiguous;
  uint64_t address = kH5Undefined;  // of the elements, or of the tree of chunks
  uint64_t bytes = 0;               // of a contiguous layout
  std::string inside;               // the elements of a compact layout
  std::vector<uint64_t> chunk;      // sizes of a chunk, in elements
};
absl::StatusOr<H5Layout> ParseH5Layout(const H5File& file, H5Cursor c);

// What was done to each chunk when it was written: shuffle first, then deflate.
struct H5Filters {
  bool shuffle = false;
  bool deflate = false;
};
absl::StatusOr<H5Filters> ParseH5Filters(const H5File& file, H5Cursor c);

// The value of an object's attribute `name`, if it has one, which must be a single integer or bool.
absl::StatusOr<std::optional<int64_t>> FindH5Attribute(const H5File& file, const H5Object& object,
                                                       std::string_view name);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_H5_MESSAGE_H_
