// ZIP (PKWARE's APPNOTE 6.3), numbers little-endian. A file is, from front to back:
//
//   member          a local header, the data, and with bit 3 of the flags a data descriptor
//   ... more members, or bytes that are ignored
//   directory       an entry for each member
//   zip64 end if one of the end record's fields is all ones; some writers always add it
//   zip64 locator   likewise; right before the end record
//   end record      the last 22 bytes, or before a comment that ends the file
//
// and their fields, by offset:
//
//   local header    0 u32 04034b50, 4 u16 version, 6 u16 flags, 8 u16 method, 10 u16 time,
//                   12 u16 date, 14 u32 crc, 18 u32 stored, 22 u32 size, 26 u16 bytes of the name,
//                   28 u16 bytes of the extra fields, 30 name, extra fields
//   descriptor      u32 08074b50, which may be missing; u32 crc, then stored and size as u32, or as
//                   u64 where the local header has a zip64 field
//   entry           0 u32 02014b50, 4 u16 made by, 6 u16 version, 8 u16 flags, 10 u16 method,
//                   12 u16 time, 14 u16 date, 16 u32 crc, 20 u32 stored, 24 u32 size, 28 u16 bytes
//                   of the name, 30 u16 of the extra fields, 32 u16 of the comment, 34 u16 disk,
//                   36 u16, 38 u32 attributes, 42 u32 offset of the local header, 46 name, extra
//                   fields, comment
//   zip64 end       0 u32 06064b50, 4 u64 bytes from here to the locator, 12 u16 made by,
//                   14 u16 version, 16 u32 disk, 20 u32 disk, 24 u64 entries here, 32 u64 entries,
//                   40 u64 size of the directory, 48 u64 its offset
//   zip64 locator   0 u32 07064b50, 4 u32 disk, 8 u64 offset of the zip64 end, 16 u32 disks
//   end record      0 u32 06054b50, 4 u16 disk, 6 u16 disk, 8 u16 entries here, 10 u16 entries,
//                   12 u32 size of the directory, 16 u32 its offset, 20 u16 bytes of the comment
//
// An extra field is u16 its kind, u16 its bytes, those. The one of kind 1 (zip64) has, as u64, the
// values of the fields that are all ones in its header, in the order size, stored, offset. Writers
// that know crc, stored and size only afterwards leave them 0 in the local header and set bit 3.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/zip/internal/zip.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kLocatorBytes = 20;
constexpr int64_t kMaxComment = 65535;
constexpr uint32_t kOnes = 0xffffffff;
// Bits of the flags.
constexpr int64_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13;  // in several ways
constexpr int64_t kVersion = 63;                           // of the format, times 10
constexpr int64_t kPatch = 1 << 5;                         // of a file that is elsewhere
constexpr int64_t kHasDescriptor = 1 << 3;

// Little-endian numbers of a piece of the file. Requires that they lie inside.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  uint64_t At(int64_t offset, int n) const {
    return LittleEndian(bytes_.data() + offset, static_cast<size_t>(n));
  }
  int64_t U16(int64_t offset) const { return static_cast<int64_t>(At(offset, 2)); }
  uint32_t U32(int64_t offset) const { return static_cast<uint32_t>(At(offset, 4)); }

 private:
  const std::string_view bytes_;
};

absl::StatusOr<std::string> ReadPiece(const RandomAccess& file, int64_t at, int64_t n,
                                      const char* field) {
  FIRN_RETURN_IF(
      at < 0 || n < 0 || at > file.size() || n > file.size() - at,
      Damaged(file.name(), std::max<int64_t>(at, 0), field, "expected a place inside the file"));
  std::string piece(static_cast<size_t>(n), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(at, piece.data(), n, field));
  return piece;
}

struct Directory {
  int64_t at = 0, bytes = 0, entries = 0;
  int64_t end = 0;  // where it must end
};

absl::StatusOr<Directory> ReadZip64End(const RandomAccess& file, int64_t locator_at) {
  FIRN_ASSIGN_OR_RETURN(const std::string locator,
                        ReadPiece(file, locator_at, kLocatorBytes, "zip64 locator"));
  const Numbers l(locator);
  const auto at = static_cast<int64_t>(l.At(8, 8));
  FIRN_RETURN_IF(
      l.U32(0) != 0x07064b50 || l.U32(4) != 0 || l.U32(16) > 1 || at < 0 || at > locator_at - 56,
      Damaged(file.name(), locator_at, "zip64 locator", "expected one that is valid"));
  FIRN_ASSIGN_OR_RETURN(const std::string end, ReadPiece(file, at, 56, "zip64 end"));
  const Numbers e(end);
  FIRN_RETURN_IF(e.U32(0) != 0x06064b50 ||
                     e.At(4, 8) != static_cast<uint64_t>(locator_at - at - 12) || e.U32(16) != 0 ||
                     e.U32(20) != 0 || e.At(24, 8) != e.At(32, 8),
                 Damaged(file.name(), at, "zip64 end", "expected one that is valid"));
  return Directory{.at = static_cast<int64_t>(e.At(48, 8)),
                   .bytes = static_cast<int64_t>(e.At(40, 8)),
                   .entries = static_cast<int64_t>(e.At(32, 8)),
                   .end = at};
}

absl::StatusOr<Directory> FindDirectory(const RandomAccess& file) {
  const int64_t tail_bytes = std::min(file.size(), kEndBytes + kMaxComment);
  const int64_t tail_at = file.size() - tail_bytes;
  FIRN_ASSIGN_OR_RETURN(const std::string tail, ReadPiece(file, tail_at, tail_bytes, "end record"));
  const Numbers t(tail);
  for (int64_t i = tail_bytes - kEndBytes; i >= 0; --i) {
    if (t.U32(i) != 0x06054b50 || i + kEndBytes + t.U16(i + 20) != tail_bytes) continue;
    const int64_t at = tail_at + i;
    Directory d{.at = t.U32(i + 16), .bytes = t.U32(i + 12), .entries = t.U16(i + 10), .end = at};
    const bool has_ones = d.at == kOnes || d.bytes == kOnes || d.entries == 0xffff;
    // Some writers add one for any sizes.
    const bool has_locator =
        i >= kLocatorBytes && t.U32(i - kLocatorBytes) == 0x07064b50 && d.at + d.bytes != at;
    if (has_ones || has_locator) {
      for (const int64_t disk : {t.U16(i + 4), t.U16(i + 6)}) {
        FIRN_RETURN_IF(disk != 0 && disk != 0xffff,
                       Unimplemented(file.name(), ": offset ", at,
                                     ", disks: expected one, got an archive in several parts, "
                                     "which is not read"));
      }
      const Directory small = d;
      FIRN_ASSIGN_OR_RETURN(d, ReadZip64End(file, at - kLocatorBytes));
      const auto differ = [](int64_t own, int64_t ones, int64_t large) {
        return own != ones && own != large;
      };
      FIRN_RETURN_IF(differ(small.at, kOnes, d.at) || differ(small.bytes, kOnes, d.bytes) ||
                         differ(small.entries, 0xffff, d.entries),
                     Damaged(file.name(), at, "end record", "expected what the zip64 end says"));
    } else {
      FIRN_RETURN_IF(
          t.U16(i + 4) != 0 || t.U16(i + 6) != 0 || t.U16(i + 8) != d.entries,
          Unimplemented(
              file.name(), ": offset ", at,
              ", disks: expected one, got an archive in several parts, which is not read"));
    }
    FIRN_RETURN_IF(d.at < 0 || d.bytes < 0 || d.entries < 0 || d.bytes > d.end ||
                       d.at != d.end - d.bytes || d.entries > d.bytes / kEntryBytes,
                   Damaged(file.name(), at, "end record",
                           "expected the place of a directory that ends before it"));
    return d;
  }
  FIRN_RETURN_IF_ERROR(ExpectSignature(file, "PK", "a ZIP file"));
  return Damaged(file.name(), file.size(), "end record", "expected one: not a ZIP file");
}

struct Entry {
  ZipMember member;
  int64_t local_at = 0;
  int64_t end = 0;    // of the data and what follows them
  int64_t bytes = 0;  // of the directory
};

// The numbers of the zip64 field; none where there is no such field that lies in `extra`.
std::optional<std::string_view> FindZip64(std::string_view extra) {
  const Numbers n(extra);
  const auto end = static_cast<int64_t>(extra.size());
  int64_t at = 0;
  while (at + 4 <= end && n.U16(at) != 1) at += 4 + n.U16(at + 2);
  if (at + 4 > end || n.U16(at + 2) > end - at - 4) return std::nullopt;
  return extra.substr(static_cast<size_t>(at + 4), static_cast<size_t>(n.U16(at + 2)));
}

// Replaces numbers that are all ones by the zip64 field's.
absl::Status ApplyZip64(const std::string& where, std::string_view extra, uint64_t* size,
                        uint64_t* stored, uint64_t* offset) {
  const std::string_view field = FindZip64(extra).value_or(std::string_view());
  const Numbers n(field);
  int64_t at = 0;
  for (uint64_t* v : {size, stored, offset}) {
    if (*v != kOnes) continue;
    FIRN_RETURN_IF(at + 8 > static_cast<int64_t>(field.size()),
                   DataLoss(where, ": expected a zip64 field with the large sizes"));
    *v = n.At(at, 8);
    at += 8;
  }
  return absl::OkStatus();
}

absl::StatusOr<Entry> ParseEntry(const RandomAccess& file, const Directory& d,
                                 std::string_view bytes, int64_t at) {
  const Numbers n(bytes.substr(static_cast<size_t>(at)));
  const auto left = static_cast<int64_t>(bytes.size()) - at;
  if (left < kEntryBytes || n.U32(0) != 0x02014b50 ||
      left < kEntryBytes + n.U16(28) + n.U16(30) + n.U16(32)) {
    return Damaged(file.name(), d.at + at, "directory", "expected another entry");
  }
  Entry entry;
  entry.bytes = kEntryBytes + n.U16(28) + n.U16(30) + n.U16(32);
  entry.member.name =
      bytes.substr(static_cast<size_t>(at + kEntryBytes), static_cast<size_t>(n.U16(28)));
  const std::string where =
      absl::StrCat(file.name(), ": member ", firn::inner::internal::JsonString(entry.member.name));
  FIRN_RETURN_IF((n.U16(8) & kEncrypted) != 0,
                 Unimplemented(where, " is encrypted, which is not read"));
  FIRN_RETURN_IF((n.U16(6) & 255) > kVersion, Unimplemented(where, ": expected version ", kVersion,
                                                            " or before, got ", n.U16(6) & 255));
  FIRN_RETURN_IF(n.U16(34) != 0 && n.U16(34) != 0xffff,
                 Unimplemented(where,
                               ": expected one disk, got an archive in several parts, which "
                               "is not read"));
  FIRN_RETURN_IF((n.U16(8) & kPatch) != 0,
                 Unimplemented(where, " is compressed patched data, which is not read"));
  FIRN_RETURN_IF(
      n.U16(10) != 0 && n.U16(10) != 8,
      Unimplemented(where, ": expected compression 0 (none) or 8 (deflate), got ", n.U16(10)));
  entry.member.deflated = n.U16(10) == 8;
  entry.member.crc = n.U32(16);
  uint64_t stored = n.U32(20), size = n.U32(24), offset = n.U32(42);
  FIRN_RETURN_IF_ERROR(ApplyZip64(where,
                                  bytes.substr(static_cast<size_t>(at + kEntryBytes + n.U16(28)),
                                               static_cast<size_t>(n.U16(30))),
                                  &size, &stored, &offset));
  const auto limit = static_cast<uint64_t>(d.at);
  FIRN_RETURN_IF(stored > limit || offset > limit, DataLoss(where, " lies outside the file"));
  FIRN_RETURN_IF(entry.member.deflated ? size / 1040 > stored : size != stored,
                 DataLoss(where, ": expected no ", size, " bytes in ", stored));
  entry.member.stored = static_cast<int64_t>(stored);
  entry.member.size = static_cast<int64_t>(size);
  entry.local_at = static_cast<int64_t>(offset);
  return entry;
}

// The numbers in the local header or the descriptor, which must equal the directory's.
struct Claims {
  uint64_t crc, stored, size;
};

absl::Status Compare(const RandomAccess& file, int64_t at, const char* field, uint64_t want,
                     uint64_t got) {
  if (got == want) return absl::OkStatus();
  return Damaged(file.name(), at, field,
                 absl::StrCat("expected ", want, " as in the directory, got ", got));
}

absl::Status CheckClaims(const RandomAccess& file, const ZipMember& m, const char* where,
                         const Claims& c, const int64_t (&offsets)[3]) {
  const auto field = [&](const char* name) { return absl::StrCat(where, "'s ", name); };
  FIRN_RETURN_IF_ERROR(Compare(file, offsets[0], field("checksum").c_str(), m.crc, c.crc));
  FIRN_RETURN_IF_ERROR(Compare(file, offsets[1], field("stored bytes").c_str(),
                               static_cast<uint64_t>(m.stored), c.stored));
  return Compare(file, offsets[2], field("size").c_str(), static_cast<uint64_t>(m.size), c.size);
}

// The descriptor at `at`, which `limit` bounds; `wide`: its sizes have 8 bytes. Returns its end.
absl::StatusOr<int64_t> CheckDescriptor(const RandomAccess& file, const ZipMember& m, int64_t at,
                                        int64_t limit, bool wide) {
  const int width = wide ? 8 : 4;
  const int64_t numbers = 4 + 2 * width;
  FIRN_ASSIGN_OR_RETURN(
      const std::string bytes,
      ReadPiece(file, at, std::min<int64_t>(4 + numbers, limit - at), "data descriptor"));
  const auto left = static_cast<int64_t>(bytes.size());
  FIRN_RETURN_IF(left < numbers, Damaged(file.name(), at, "data descriptor",
                                         absl::StrCat("expected ", numbers, " bytes, got ", left)));
  const Numbers n(bytes);
  // A checksum may look like the signature; then the number of stored bytes stands where the
  // checksum would.
  const bool is_signed =
      n.U32(0) == 0x08074b50 && left == 4 + numbers && (n.U32(4) == m.crc || m.crc != 0x08074b50);
  const int64_t i = is_signed ? 4 : 0;
  FIRN_RETURN_IF_ERROR(CheckClaims(file, m, "data descriptor",
                                   {n.U32(i), n.At(i + 4, width), n.At(i + 4 + width, width)},
                                   {at + i, at + i + 4, at + i + 4 + width}));
  return at + i + numbers;
}

// Whether a descriptor's signature stands there.
bool IsSigned(const RandomAccess& file, int64_t at, int64_t limit) {
  if (limit - at < 4) return false;
  const absl::StatusOr<std::string> bytes = ReadPiece(file, at, 4, "data descriptor");
  return bytes.ok() && Numbers(*bytes).U32(0) == 0x08074b50;
}

// Checks the local header and the descriptor, and finds the data between them.
absl::Status Locate(const RandomAccess& file, const Directory& d, Entry* entry) {
  ZipMember& m = entry->member;
  const int64_t at = entry->local_at;
  FIRN_ASSIGN_OR_RETURN(const std::string fixed, ReadPiece(file, at, kLocalBytes, "local header"));
  const Numbers n(fixed);
  const auto name_bytes = static_cast<int64_t>(m.name.size());
  FIRN_RETURN_IF(n.U32(0) != 0x04034b50 || n.U16(26) != name_bytes,
                 Damaged(file.name(), at, "local header", "expected what the directory says"));
  FIRN_ASSIGN_OR_RETURN(
      const std::string more,
      ReadPiece(file, at + kLocalBytes, name_bytes + n.U16(28), "local header's name"));
  const std::string_view extra = std::string_view(more).substr(m.name.size());
  FIRN_RETURN_IF(
      !more.starts_with(m.name),
      Damaged(file.name(), at + kLocalBytes, "local header's name", "expected the directory's"));
  FIRN_RETURN_IF_ERROR(Compare(file, at + 6, "local header's flags (encryption)", 0,
                               static_cast<uint64_t>(n.U16(6) & kEncrypted)));
  FIRN_RETURN_IF_ERROR(Compare(file, at + 8, "local header's method", m.deflated ? 8 : 0,
                               static_cast<uint64_t>(n.U16(8))));
  Claims c = {n.U32(14), n.U32(18), n.U32(22)};
  uint64_t no_offset = 0;
  const bool wide = FindZip64(extra).has_value();
  FIRN_RETURN_IF_ERROR(ApplyZip64(absl::StrCat(file.name(), ": offset ", at, ", local header"),
                                  extra, &c.size, &c.stored, &no_offset));
  const bool has_descriptor = (n.U16(6) & kHasDescriptor) != 0;
  if (has_descriptor) {
    if (c.crc == 0) c.crc = m.crc;
    if (c.stored == 0) c.stored = static_cast<uint64_t>(m.stored);
    if (c.size == 0) c.size = static_cast<uint64_t>(m.size);
  }
  FIRN_RETURN_IF_ERROR(CheckClaims(file, m, "local header", c, {at + 14, at + 18, at + 22}));
  m.data_at = at + kLocalBytes + static_cast<int64_t>(more.size());
  FIRN_RETURN_IF(m.data_at > d.at || m.stored > d.at - m.data_at,
                 Damaged(file.name(), at, "local header", "expected data before the directory"));
  entry->end = m.data_at + m.stored;
  // PyTorch writes no descriptor behind members without bytes, though the flag announces one.
  const bool has_none =
      m.size == 0 && m.stored == 0 && m.crc == 0 && !IsSigned(file, entry->end, d.at);
  if (has_descriptor && !has_none) {
    FIRN_ASSIGN_OR_RETURN(entry->end, CheckDescriptor(file, m, entry->end, d.at, wide));
  }
  return absl::OkStatus();
}

// Locates all members, from front to back, and refuses overlapping ones.
absl::Status LocateAll(const RandomAccess& file, const Directory& d, std::vector<Entry>* entries) {
  std::vector<Entry*> order;
  for (Entry& e : *entries) order.push_back(&e);
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->local_at < b->local_at; });
  int64_t end = 0;
  for (Entry* e : order) {
    FIRN_RETURN_IF(e->local_at < end,
                   Damaged(file.name(), e->local_at, "member", "two members overlap"));
    FIRN_RETURN_IF_ERROR(Locate(file, d, e));
    end = e->end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ZipReader> ZipReader::Open(const RandomAccess& file, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const Directory d, FindDirectory(file));
  FIRN_RETURN_IF(d.entries > limits.max_tensors,
                 ResourceExhausted(file.name(), ": ", d.entries, " members are more than the ",
                                   limits.max_tensors, " allowed (limits.max_tensors)"));
  FIRN_RETURN_IF(
      d.bytes > limits.max_metadata_bytes,
      ResourceExhausted(file.name(), ": a directory of ", d.bytes, " bytes is more than the ",
                        limits.max_metadata_bytes, " bytes allowed (limits.max_metadata_bytes)"));
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, ReadPiece(file, d.at, d.bytes, "directory"));
  std::vector<Entry> entries;
  std::set<std::string> names;
  int64_t at = 0;
  for (int64_t i = 0; i < d.entries; ++i) {
    FIRN_ASSIGN_OR_RETURN(Entry entry, ParseEntry(file, d, bytes, at));
    const std::string& name = entry.member.name;
    FIRN_RETURN_IF(static_cast<int64_t>(name.size()) > limits.max_name_bytes,
                   ResourceExhausted(file.name(), ": offset ", d.at + at,
                                     ", member's name: ", name.size(), " bytes are more than the ",
                                     limits.max_name_bytes, " allowed (limits.max_name_bytes)"));
    FIRN_RETURN_IF(
        name.empty() || name.find('\0') != std::string::npos || !names.insert(name).second,
        Damaged(file.name(), d.at + at, "member's name",
                absl::StrCat("expected a new one of 1 to ", limits.max_name_bytes, " bytes, got ",
                             firn::inner::internal::JsonString(name.substr(0, 80)))));
    at += entry.bytes;
    entries.push_back(std::move(entry));
  }
  FIRN_RETURN_IF(at != d.bytes,
                 Damaged(file.name(), d.at + at, "directory", "expected no more entries"));
  FIRN_RETURN_IF_ERROR(LocateAll(file, d, &entries));
  ZipReader reader(file);
  for (Entry& e : entries) reader.members_.push_back(std::move(e.member));
  return reader;
}

}  // namespace firn::io::internal
