#ifndef FIRN_IO_HDF5_INTERNAL_H5_MESSAGE_H_
#define FIRN_IO_HDF5_INTERNAL_H5_MESSAGE_H_

// The messages in a dataset's object header.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/inner.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_object.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/tensor/shape.h"

namespace firn::io::internal {

// Errors of all these: DataLoss for damage, Unimplemented for legal HDF5 that is not read.

struct H5Space {
  Shape shape;
  // How far each dimension may grow; -1: without bound.
  Dims most;
};
absl::StatusOr<H5Space> ParseH5Space(const H5File& file, H5Cursor c);

// Floats of 16 (IEEE and bfloat16), 32 and 64 bits, integers of 8 to 64, and h5py's bool, which is
// an enumeration of FALSE and TRUE.
absl::StatusOr<StoredType> ParseH5Type(const H5File& file, H5Cursor c);

// Strings: of `bytes` each, or for those of any length, a place in a heap.
struct H5WordType {
  int bytes = 0;
  bool in_heap = false;
  enum Padding : uint8_t { kTerminated = 0, kNuls = 1, kBlanks = 2 };
  Padding padding = kTerminated;
};
absl::StatusOr<H5WordType> ParseH5WordType(const H5File& file, H5Cursor c);

struct H5Layout {
  enum Kind : uint8_t { kCompact = 0, kContiguous = 1, kChunked = 2 };
  enum Index : uint8_t {  // by which chunks are found
    kTree = 0,            // the only one before version 4
    kSingle = 1,
    kImplicit = 2,
    kFixedArray = 3,
    kExtensibleArray = 4,
    kTree2 = 5
  };
  Kind kind = kContiguous;
  Index index = kTree;
  uint64_t address = kH5Undefined;  // of the elements, or of the index of chunks
  uint64_t bytes = 0;               // of a contiguous layout
  std::string inside;               // the elements of a compact layout
  std::vector<uint64_t> chunk;      // sizes of a chunk, in elements; the last one is an element's
  bool plain_border = false;        // chunks that are not all inside have no filters
  // For a single chunk with filters.
  uint64_t stored_bytes = 0, skipped_filters = 0;
  bool filtered = false;
};
absl::StatusOr<H5Layout> ParseH5Layout(const H5File& file, H5Cursor c);

// The value of elements that were never written.
struct H5Fill {
  // The bytes that are stored; if there are none, zeros.
  std::string value;
  bool defined = true;  // whether there is one at all
};
// `bytes`: of an element.
absl::StatusOr<H5Fill> ParseH5Fill(const H5File& file, const H5Object& dataset, int bytes);

// The value of an object's attribute `name`, if it has one, which must be a single integer or bool.
absl::StatusOr<std::optional<int64_t>> FindH5Attribute(const H5File& file, const H5Object& object,
                                                       std::string_view name);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_MESSAGE_H_
