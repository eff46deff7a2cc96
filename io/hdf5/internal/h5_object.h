#ifndef FIRN_IO_HDF5_INTERNAL_H5_OBJECT_H_
#define FIRN_IO_HDF5_INTERNAL_H5_OBJECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/hdf5/internal/h5_file.h"

namespace firn::io::internal {

// One entry of an object header.
struct H5Message {
  enum Type : uint16_t {
    kNil = 0x00,
    kDataspace = 0x01,
    kLinkInfo = 0x02,
    kDatatype = 0x03,
    kOldFill = 0x04,
    kFill = 0x05,
    kLink = 0x06,
    kExternalFiles = 0x07,
    kLayout = 0x08,
    kFilters = 0x0b,
    kAttribute = 0x0c,
    kContinuation = 0x10,
    kSymbolTable = 0x11,
    kAttributeInfo = 0x15,
  };
  uint16_t type = kNil;
  std::string_view body;      // in a block of the object
  bool is_elsewhere = false;  // the body says where
  uint64_t offset = 0;        // of the body in the file

  H5Cursor cursor() const { return H5Cursor(body, offset); }
};

// A group, a dataset or a committed datatype: everything its header says.
struct H5Object {
  std::vector<H5Message> messages;
  std::vector<std::shared_ptr<const std::string>> blocks;  // that they are in
  bool has_elsewhere = false;                              // whether one of them was elsewhere

  // Keeps a block as long as the object, which messages may then be in.
  std::string_view Keep(std::string bytes) {
    blocks.push_back(std::make_shared<const std::string>(std::move(bytes)));
    return *blocks.back();
  }
  // The only message of the type, or null.
  const H5Message* Find(H5Message::Type type) const;
  bool is_group() const { return Find(H5Message::kSymbolTable) || Find(H5Message::kLinkInfo); }
  // A committed datatype, which datasets may name in place of one of their own.
  bool is_type() const {
    return Find(H5Message::kDatatype) && !Find(H5Message::kDataspace) && !Find(H5Message::kLayout);
  }
};

// Reads the object header at `address` with its continuations; a committed datatype takes the place
// of the reference to it. DataLoss when the header is damaged or has a message twice that may occur
// once.
absl::StatusOr<H5Object> ReadH5Object(H5File& file, uint64_t address);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_OBJECT_H_
