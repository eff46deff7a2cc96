// Note [Reading HDF5]
// The reader of HDF5 is our own and not the library's: with one bit of a sound file of 13 kB
// flipped, HDF5 1.10.8 (Debian 12) crashes or never returns in 10 of its 838 groups of 16 bytes.
// This one checks each length and address against the file, never recurses, and counts what it
// reads. It knows the part of the format (HDF5 File Format Specification 3.0) that parameters are
// stored in:
//   h5_file     superblocks 0 to 3 with 8-byte addresses, behind a user block or not
//   h5_object   object headers 1 and 2, which are lists of messages; committed datatypes
//   h5_group    symbol tables, link messages, and links in a fractal heap (h5_heap, h5_btree2)
//   h5_links    where soft links lead
//   h5_message  messages: dataspace, datatype, layout, fill value, attribute
//   h5_dataset  elements: contiguous, compact, chunked (h5_chunks), or never written
//   h5_index    where chunks lie, in the newer kinds of index (h5_extensible)
//   h5_plan     where elements lie, before any is read
//   h5_filters  what was done to chunks: deflate, shuffle, fletcher32
//   h5_words    elements that are strings (h5_global_heap)
//   h5_walk     the walk through the groups, which refuses all else by name
//   h5_reader   the order of entries, and several names of one dataset
// What writes is the library (h5_writer, h5_library, h5_metadata); both sides have h5_names and
// h5_checksum.
// All numbers are little-endian.
#include "firn/io/hdf5/internal/h5_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"

namespace firn::io::internal {

uint64_t H5Cursor::Uint(size_t n) { return LittleEndian(Bytes(n)); }

std::string_view H5Cursor::Bytes(size_t n) {
  if (n > left()) {
    failed_ = true;
    at_ = bytes_.size();
    return {};
  }
  at_ += n;
  return bytes_.substr(at_ - n, n);
}

std::string_view H5Cursor::Text() {
  const size_t end = bytes_.find('\0', at_);
  if (end == std::string_view::npos) {
    Bytes(left() + 1);
    return {};
  }
  const std::string_view text = Bytes(end - at_);
  Skip(1);
  return text;
}

namespace {

constexpr std::string_view kSignature("\211HDF\r\n\032\n", 8);

// A file without its first bytes.
class Behind final : public RandomAccess {
 public:
  Behind(const RandomAccess& file, int64_t from)
      : RandomAccess(file.name(), file.size() - from), file_(file), from_(from) {}

 private:
  absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const override {
    // A name short enough for std::string to keep without an allocation, since each read makes such
    // a string.
    FIRN_RETURN_IF_ERROR(file_.ReadAt(from_ + offset, out, n, "HDF5 data"));
    return n;
  }

  const RandomAccess& file_;
  const int64_t from_;
};

}  // namespace

absl::StatusOr<H5File> H5File::Open(const RandomAccess& file, const LoadLimits& limits) {
  H5File opened(file, limits);
  FIRN_RETURN_IF_ERROR(opened.FindSuperblock());
  FIRN_RETURN_IF_ERROR(opened.ReadSuperblock());
  return opened;
}

// A user block has 512 bytes, or twice as many, or twice as many again, ...
absl::Status H5File::FindSuperblock() {
  char start[8] = {};
  const auto is_here = [&](int64_t at) -> absl::StatusOr<bool> {
    FIRN_RETURN_IF_ERROR(file_->ReadAt(at, start, 8, "signature"));
    return std::string_view(start, 8) == kSignature;
  };
  for (int64_t at = 0; at <= file_->size() - 8; at = at == 0 ? 512 : 2 * at) {
    FIRN_ASSIGN_OR_RETURN(const bool found, is_here(at));
    if (!found) continue;
    if (at > 0) {
      behind_user_block_ = std::make_shared<Behind>(*file_, at);
      file_ = behind_user_block_.get();
      base_ = static_cast<uint64_t>(at);
    }
    return absl::OkStatus();
  }
  return ExpectSignature(*file_, kSignature, "an HDF5 file");
}

// Superblock 0: signature, versions, sizes, tree parameters, base address, free space, end of file,
// driver, and the symbol table entry of the root group: offset of a name, address, kind, ....
// Superblock 1 has one more tree parameter; 2 and 3 are shorter and end in a checksum.
absl::Status H5File::ReadSuperblock() {
  FIRN_ASSIGN_OR_RETURN(const std::string start, ReadMetadata(0, 12, "superblock"));
  const auto version = static_cast<unsigned char>(start[8]);
  if (version > 3) return Refused(absl::StrCat("superblock of version ", version));
  const bool old = version < 2;
  std::string bytes;
  if (old) {
    FIRN_ASSIGN_OR_RETURN(bytes, ReadMetadata(0, version == 0 ? 96 : 100, "superblock"));
  } else {
    FIRN_ASSIGN_OR_RETURN(bytes, ReadChecked(0, 48, "superblock"));
  }
  H5Cursor c(bytes, 0);
  c.Skip(old ? 13 : 9);
  const uint64_t offset_bytes = c.Uint(1), length_bytes = c.Uint(1);
  c.Skip(old ? (version == 0 ? 9 : 13) : 1);
  const uint64_t base = c.Uint(8);
  c.Skip(8);
  const uint64_t end_of_file = c.Uint(8);
  if (old) c.Skip(16);
  root_ = c.Uint(8);
  const uint64_t kind = old ? c.Uint(4) : 0;  // of the entry: 1 where it knows the group's tables
  FIRN_RETURN_IF_ERROR(Check(c, "superblock"));
  if (kind > 1) return DamagedAt(0, "superblock", absl::StrCat("a root of kind ", kind));
  if (offset_bytes != 8 || length_bytes != 8) {
    return Refused(absl::StrCat("addresses of ", offset_bytes, " bytes, lengths of ", length_bytes,
                                " (want 8, 8)"));
  }
  // The end counts from the beginning of the file as it was written. A user block may have been
  // added or removed later: then the base address is not the superblock's place, and HDF5 uses the
  // latter.
  if (base > end_of_file || end_of_file - base > static_cast<uint64_t>(size())) {
    return DamagedAt(
        0, "superblock",
        absl::StrCat("the file should have ", end_of_file - std::min(base, end_of_file),
                     " bytes, it has ", size()));
  }
  return absl::OkStatus();
}

absl::Status H5File::ChargeMetadata(uint64_t n) {
  if (n > static_cast<uint64_t>(metadata_left_)) {
    return ResourceExhausted(
        file_->name(), ": to read the structure of the file takes more than ",
        "is allowed (limits.max_metadata_bytes), or than a sound file of this size can need");
  }
  metadata_left_ -= static_cast<int64_t>(n);
  return absl::OkStatus();
}

absl::StatusOr<std::string> H5File::ReadMetadata(uint64_t address, uint64_t n, const char* field) {
  const auto file_size = static_cast<uint64_t>(size());
  if (address > file_size || n > file_size - address) {
    return DamagedAt(address, field,
                     absl::StrCat(n, " bytes from here lie outside the file of ", file_size));
  }
  FIRN_RETURN_IF_ERROR(ChargeMetadata(n));
  std::string bytes(n, '\0');
  FIRN_RETURN_IF_ERROR(
      file_->ReadAt(static_cast<int64_t>(address), bytes.data(), static_cast<int64_t>(n), field));
  return bytes;
}

absl::StatusOr<std::string> H5File::ReadChecked(uint64_t address, uint64_t n, const char* field) {
  FIRN_ASSIGN_OR_RETURN(std::string bytes, ReadMetadata(address, n, field));
  if (n < 4) return DamagedAt(address, field, "no room for a checksum");
  H5Cursor c(std::string_view(bytes).substr(n - 4), address + n - 4);
  const auto stored = static_cast<uint32_t>(c.Uint(4));
  bytes.resize(n - 4);
  if (H5Checksum(bytes) != stored) return DamagedAt(address, field, "the checksum is wrong");
  return bytes;
}

absl::Status H5File::Check(const H5Cursor& cursor, const char* field) const {
  return cursor.ok() ? absl::OkStatus() : DamagedAt(cursor.offset(), field, "it ends early");
}

absl::Status H5File::DamagedAt(uint64_t offset, const char* field, const std::string& what) const {
  // A mad address is shown as it is, even where it would be negative as a signed number.
  return DataLoss(file_->name(), ": offset ", offset + base_, ", ", field, ": ", what);
}

absl::Status H5File::Unconverted(uint64_t offset, const char* field,
                                 const absl::Status& why) const {
  const std::string what(why.message());
  return absl::IsUnimplemented(why) ? Refused(absl::StrCat(field, ": ", what))
                                    : DamagedAt(offset, field, what);
}

absl::Status H5File::Refused(const std::string& what) const {
  return Unimplemented(file_->name(), ": HDF5 feature that is not read: ", what);
}

uint32_t H5Checksum(std::string_view bytes) {
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  const auto word = [&](size_t i) {
    uint32_t w = 0;
    for (size_t k = 0; k < 4 && i + k < bytes.size(); ++k) {
      w |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + k])) << 8 * k;
    }
    return w;
  };
  size_t i = 0;
  for (; bytes.size() - i > 12; i += 12) {
    a += word(i), b += word(i + 4), c += word(i + 8);
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  if (i == bytes.size()) return c;
  a += word(i), b += word(i + 4), c += word(i + 8);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

}  // namespace firn::io::internal
