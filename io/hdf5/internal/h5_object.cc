// An object header is a block of messages that may name further blocks (continuations), which are
// read from a list, not by recursion.
//
// Version 1: 16 bytes (version, number of messages, references, size), then messages with 8 bytes
// in front (type 2, size 2, flags 1, unused 3). Version 2: "OHDR", version, flags, what the flags
// announce, the size, messages with 4 or 6 bytes in front (type 1, size 2, flags 1, creation order
// 2 when announced), and a checksum; continuations are framed by "OCHK" and a checksum.
//
// With bit 1 of its flags a message stands for one that is elsewhere: version, kind (2 from version
// 3 on: in another header), the address of that header. Version 1 has six bytes unused and a whole
// symbol table entry instead, of which the address is the second field, behind eight bytes.
#include "firn/io/hdf5/internal/h5_object.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

constexpr size_t kMaxBlocks = 4096;  // of one header; HDF5 itself stays far below
constexpr const char* kField = "object header";

struct Format {
  int version = 1;
  bool creation_order = false;
  size_t prefix() const { return version == 1 ? 8 : creation_order ? 6 : 4; }
};

struct Block {
  uint64_t address = 0;
  uint64_t size = 0;
};

// Appends the messages of one block, continuations to `blocks`.
absl::Status ReadMessages(const H5File& file, const Format& format, H5Cursor c, H5Object* object,
                          std::vector<Block>* blocks) {
  while (c.left() >= format.prefix()) {
    H5Message m;
    m.type = static_cast<uint16_t>(c.Uint(format.version == 1 ? 2 : 1));
    const uint64_t size = c.Uint(2);
    const bool shared = (c.Uint(1) & 2) != 0;
    c.Skip(format.version == 1 ? 3 : format.creation_order ? 2 : 0);
    m.offset = c.offset();
    m.body = c.Bytes(size);
    FIRN_RETURN_IF_ERROR(file.Check(c, "header message"));
    if (m.type == H5Message::kNil) continue;
    if (shared) {
      if (m.type != H5Message::kDatatype) {
        return file.Refused(absl::StrCat("shared message of type ", m.type));
      }
      object->has_elsewhere = true;
      m.is_elsewhere = true;
    }
    if (m.type != H5Message::kContinuation) {
      object->messages.push_back(std::move(m));
      continue;
    }
    H5Cursor where = m.cursor();
    const uint64_t address = where.Uint(8);
    blocks->push_back({address, where.Uint(8)});
    FIRN_RETURN_IF_ERROR(file.Check(where, "continuation"));
    if (blocks->size() > kMaxBlocks) {
      return file.DamagedAt(m.offset, "continuation", "the header goes on without end");
    }
  }
  return absl::OkStatus();
}

// The size of a version 2 header up to its first message, and of the messages in that block.
// `start`: its first bytes, six at least.
absl::Status ReadPrefix2(H5File& file, uint64_t address, const std::string& start, Format* format,
                         uint64_t* before, uint64_t* messages) {
  const auto version = static_cast<unsigned char>(start[4]);
  const auto flags = static_cast<unsigned char>(start[5]);
  if (version != 2) return file.DamagedAt(address + 4, kField, absl::StrCat("version ", version));
  format->version = 2;
  format->creation_order = (flags & 4) != 0;
  const uint64_t announced = ((flags & 0x20) != 0 ? 16u : 0u) + ((flags & 0x10) != 0 ? 4u : 0u);
  const uint64_t size_bytes = uint64_t{1} << (flags & 3);
  FIRN_ASSIGN_OR_RETURN(const std::string size,
                        file.ReadMetadata(address + 6 + announced, size_bytes, kField));
  *messages = H5Cursor(size, address).Uint(size_bytes);
  *before = 6 + announced + size_bytes;
  // Prevents an overflow below.
  if (*messages > static_cast<uint64_t>(file.size())) {
    return file.DamagedAt(address, kField, absl::StrCat("says it has ", *messages, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status ReadContinuation(H5File& file, const Format& format, const Block& block,
                              H5Object* object, std::vector<Block>* blocks) {
  if (format.version == 1) {
    FIRN_ASSIGN_OR_RETURN(std::string bytes, file.ReadMetadata(block.address, block.size, kField));
    const H5Cursor c(object->Keep(std::move(bytes)), block.address);
    return ReadMessages(file, format, c, object, blocks);
  }
  FIRN_ASSIGN_OR_RETURN(std::string bytes, file.ReadChecked(block.address, block.size, kField));
  H5Cursor c(object->Keep(std::move(bytes)), block.address);
  if (c.Bytes(4) != "OCHK") return file.DamagedAt(block.address, kField, "expected OCHK");
  return ReadMessages(file, format, c, object, blocks);
}

absl::Status CheckUnique(const H5File& file, const H5Object& object, uint64_t address) {
  constexpr uint64_t kOnce = 1 << H5Message::kDataspace | 1 << H5Message::kLinkInfo |
                             1 << H5Message::kDatatype | 1 << H5Message::kOldFill |
                             1 << H5Message::kFill | 1 << H5Message::kExternalFiles |
                             1 << H5Message::kLayout | 1 << H5Message::kFilters |
                             1 << H5Message::kSymbolTable | 1 << H5Message::kAttributeInfo;
  uint64_t seen = 0;
  for (const H5Message& m : object.messages) {
    if (m.type >= 64 || (kOnce >> m.type & 1) == 0) continue;
    if ((seen >> m.type & 1) != 0) {
      return file.DamagedAt(address, kField, absl::StrCat("two messages of type ", m.type));
    }
    seen |= uint64_t{1} << m.type;
  }
  return absl::OkStatus();
}

absl::StatusOr<H5Object> ReadHeader(H5File& file, uint64_t address) {
  H5Object object;
  object.messages.reserve(8);
  Format format;
  std::vector<Block> blocks;
  // A header of version 1 without its unused bytes; one of version 2 that has a message is longer.
  FIRN_ASSIGN_OR_RETURN(const std::string start, file.ReadMetadata(address, 12, kField));
  if (start.starts_with("OHDR")) {
    uint64_t before = 0, messages = 0;
    FIRN_RETURN_IF_ERROR(ReadPrefix2(file, address, start, &format, &before, &messages));
    FIRN_ASSIGN_OR_RETURN(std::string bytes,
                          file.ReadChecked(address, before + messages + 4, kField));
    H5Cursor c(object.Keep(std::move(bytes)), address);
    c.Skip(before);
    FIRN_RETURN_IF_ERROR(ReadMessages(file, format, c, &object, &blocks));
  } else if (start[0] == 1) {
    H5Cursor c(start, address);
    c.Skip(8);
    blocks.push_back({address + 16, c.Uint(4)});
  } else {
    return file.DamagedAt(address, kField,
                          absl::StrCat("version ", static_cast<unsigned char>(start[0])));
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block block = blocks[i];  // the list grows while it is read
    FIRN_RETURN_IF_ERROR(ReadContinuation(file, format, block, &object, &blocks));
  }
  FIRN_RETURN_IF_ERROR(CheckUnique(file, object, address));
  return object;
}

// Replaces a shared message by the one that it stands for.
absl::Status FetchType(H5File& file, H5Message* m) {
  H5Cursor c = m->cursor();
  const uint64_t version = c.Uint(1), kind = c.Uint(1);
  if (version == 1) c.Skip(6 + 8);
  const uint64_t address = c.Uint(8);
  FIRN_RETURN_IF_ERROR(file.Check(c, "shared datatype"));
  if (version < 1 || version > 3) {
    return file.DamagedAt(m->offset, "shared datatype", absl::StrCat("version ", version));
  }
  if (version == 3 && kind != 2) return file.Refused("a datatype in the heap of shared messages");
  if (const H5File::CommittedType* known = file.FindType(address)) {
    m->body = known->body;  // which the file keeps
    m->offset = known->offset;
    return absl::OkStatus();
  }
  FIRN_ASSIGN_OR_RETURN(const H5Object object, ReadHeader(file, address));
  const H5Message* type = object.is_type() ? object.Find(H5Message::kDatatype) : nullptr;
  if (type == nullptr || type->is_elsewhere) {
    return file.DamagedAt(address, "shared datatype", "no committed datatype is here");
  }
  m->offset = type->offset;
  m->body = file.KeepType(address, {std::string(type->body), type->offset});
  return absl::OkStatus();
}

}  // namespace

const H5Message* H5Object::Find(H5Message::Type type) const {
  for (const H5Message& m : messages) {
    if (m.type == type) return &m;
  }
  return nullptr;
}

absl::StatusOr<H5Object> ReadH5Object(H5File& file, uint64_t address) {
  FIRN_ASSIGN_OR_RETURN(H5Object object, ReadHeader(file, address));
  if (!object.has_elsewhere) return object;
  for (H5Message& m : object.messages) {
    if (m.is_elsewhere) FIRN_RETURN_IF_ERROR(FetchType(file, &m));
  }
  return object;
}

}  // namespace firn::io::internal
