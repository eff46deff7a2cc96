// ZIP (PKWARE's APPNOTE 6.3), little-endian. The directory at the end says what there is:
//   end record      06054b50, u16 disk x 2, u16 entries x 2, u32 directory size, u32 its offset,
//                   u16 comment length, which ends the file
//   zip64 locator   07064b50, u32 disk, u64 offset of the zip64 end, u32 disks; before the end
//   record zip64 end       06064b50, u64 size, u16 x 2 versions, u32 x 2 disks, u64 x 2 entries,
//   u64
//                   directory size, u64 offset
//   entry           02014b50, u16 made by, needed, flags, method, time, date, u32 crc, stored,
//   size,
//                   u16 lengths of name, extra, comment, u16 disk, u16, u32, u32 offset; then those
//   local header    04034b50, u16 needed, flags, method, time, date, u32 crc, stored, size, u16
//                   lengths of name and extra; then those, then the data
// A field of all ones stands in the extra field 1 (zip64), in the order size, stored, offset.
#include <zlib.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/escape.h"
#include "device/status_macros.h"
#include "io/internal/zip.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kLocatorBytes = 20;
constexpr int64_t kMaxComment = 65535;
constexpr uint32_t kOnes = 0xffffffff;

// Little-endian numbers of a piece of the file. Requires that they lie inside.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  uint64_t At(int64_t offset, int n) const {
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; --i) {
      v = v << 8 | static_cast<unsigned char>(bytes_[static_cast<size_t>(offset + i)]);
    }
    return v;
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
  FIRN_RETURN_IF(l.U32(0) != 0x07064b50 || at < 0 || at > locator_at - 56,
                 Damaged(file.name(), locator_at, "zip64 locator", "expected one that is valid"));
  FIRN_ASSIGN_OR_RETURN(const std::string end, ReadPiece(file, at, 56, "zip64 end"));
  const Numbers e(end);
  FIRN_RETURN_IF(e.U32(0) != 0x06064b50 || e.At(24, 8) != e.At(32, 8),
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
    if (d.at == kOnes || d.bytes == kOnes || d.entries == 0xffff) {
      FIRN_ASSIGN_OR_RETURN(d, ReadZip64End(file, at - kLocatorBytes));
    } else {
      FIRN_RETURN_IF(t.U16(i + 4) != 0 || t.U16(i + 6) != 0 || t.U16(i + 8) != d.entries,
                     Unimplemented(file.name(), ": offset ", at, ", disks: expected one"));
    }
    FIRN_RETURN_IF(d.at < 0 || d.bytes < 0 || d.entries < 0 || d.bytes > d.end ||
                       d.at != d.end - d.bytes || d.entries > d.bytes / kEntryBytes,
                   Damaged(file.name(), at, "end record",
                           "expected the place of a directory that ends before it"));
    return d;
  }
  return Damaged(file.name(), file.size(), "end record", "expected one: not a ZIP file");
}

struct Entry {
  ZipMember member;
  int64_t local_at = 0;
  int64_t bytes = 0;  // of the directory
};

// Replaces what is all ones by the zip64 field's numbers.
absl::Status ApplyZip64(const std::string& where, std::string_view extra, uint64_t* size,
                        uint64_t* stored, uint64_t* offset) {
  const Numbers n(extra);
  const auto end = static_cast<int64_t>(extra.size());
  int64_t at = 0;
  while (at + 4 <= end && n.U16(at) != 1) at += 4 + n.U16(at + 2);
  const int64_t field_end = at + 4 <= end ? at + 4 + n.U16(at + 2) : 0;
  at += 4;
  for (uint64_t* v : {size, stored, offset}) {
    if (*v != kOnes) continue;
    FIRN_RETURN_IF(field_end > end || at + 8 > field_end,
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
  constexpr int64_t kRefused = 1 << 0 | 1 << 6 | 1 << 13;  // encryption of several kinds
  FIRN_RETURN_IF((n.U16(8) & kRefused) != 0, Unimplemented(where, " is encrypted"));
  FIRN_RETURN_IF(n.U16(10) != 0 && n.U16(10) != 8,
                 Unimplemented(where, ": expected compression 0 or 8, got ", n.U16(10)));
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

// Checks the local header and finds the data behind it.
absl::Status Locate(const RandomAccess& file, const Directory& d, Entry* entry) {
  ZipMember& m = entry->member;
  FIRN_ASSIGN_OR_RETURN(const std::string fixed,
                        ReadPiece(file, entry->local_at, kLocalBytes, "local header"));
  const Numbers n(fixed);
  const auto name_bytes = static_cast<int64_t>(m.name.size());
  FIRN_RETURN_IF(
      n.U32(0) != 0x04034b50 || n.U16(26) != name_bytes || (n.U16(8) == 8) != m.deflated,
      Damaged(file.name(), entry->local_at, "local header", "expected what the directory says"));
  FIRN_ASSIGN_OR_RETURN(const std::string name, ReadPiece(file, entry->local_at + kLocalBytes,
                                                          name_bytes, "local header's name"));
  FIRN_RETURN_IF(name != m.name, Damaged(file.name(), entry->local_at, "local header's name",
                                         "expected the directory's"));
  m.data_at = entry->local_at + kLocalBytes + name_bytes + n.U16(28);
  FIRN_RETURN_IF(
      m.data_at > d.at || m.stored > d.at - m.data_at,
      Damaged(file.name(), entry->local_at, "local header", "expected data before the directory"));
  return absl::OkStatus();
}

absl::Status CheckOverlap(const RandomAccess& file, std::vector<Entry>* entries) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Entry& e : *entries) {
    ranges.emplace_back(e.local_at, e.member.data_at + e.member.stored);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    FIRN_RETURN_IF(ranges[i].first < ranges[i - 1].second,
                   Damaged(file.name(), ranges[i].first, "member", "two members overlap"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ZipReader> ZipReader::Open(const RandomAccess& file, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const Directory d, FindDirectory(file));
  FIRN_RETURN_IF(d.entries > limits.max_tensors || d.bytes > limits.max_metadata_bytes,
                 ResourceExhausted(file.name(), ": a directory of ", d.entries, " members and ",
                                   d.bytes, " bytes, the limits allow ", limits.max_tensors,
                                   " and ", limits.max_metadata_bytes));
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, ReadPiece(file, d.at, d.bytes, "directory"));
  std::vector<Entry> entries;
  std::set<std::string> names;
  int64_t at = 0;
  for (int64_t i = 0; i < d.entries; ++i) {
    FIRN_ASSIGN_OR_RETURN(Entry entry, ParseEntry(file, d, bytes, at));
    const std::string& name = entry.member.name;
    FIRN_RETURN_IF(
        name.empty() || name.find('\0') != std::string::npos ||
            static_cast<int64_t>(name.size()) > limits.max_name_bytes || !names.insert(name).second,
        Damaged(file.name(), d.at + at, "member's name",
                absl::StrCat("expected a new one of 1 to ", limits.max_name_bytes, " bytes, got ",
                             firn::inner::internal::JsonString(name.substr(0, 80)))));
    FIRN_RETURN_IF_ERROR(Locate(file, d, &entry));
    at += entry.bytes;
    entries.push_back(std::move(entry));
  }
  FIRN_RETURN_IF(at != d.bytes,
                 Damaged(file.name(), d.at + at, "directory", "expected no more entries"));
  FIRN_RETURN_IF_ERROR(CheckOverlap(file, &entries));
  ZipReader reader(file);
  for (Entry& e : entries) reader.members_.push_back(std::move(e.member));
  return reader;
}

absl::StatusOr<std::string> ZipReader::Read(const ZipMember& m) const {
  FIRN_ASSIGN_OR_RETURN(std::string stored, ReadPiece(*file_, m.data_at, m.stored, "member"));
  std::string bytes;
  if (m.deflated) {
    FIRN_RETURN_IF(m.size >= kOnes || m.stored >= kOnes,
                   Unimplemented(file_->name(), ": a compressed member of more than 4 GB"));
    // One more, so that zlib has a place to write to when there should be nothing.
    bytes.resize(static_cast<size_t>(m.size) + 1);
    z_stream z{};
    FIRN_RETURN_IF(inflateInit2(&z, -15) != Z_OK,
                   ResourceExhausted(file_->name(), ": no memory to unpack"));
    z.next_in = reinterpret_cast<Bytef*>(stored.data());
    z.avail_in = static_cast<uInt>(stored.size());
    z.next_out = reinterpret_cast<Bytef*>(bytes.data());
    z.avail_out = static_cast<uInt>(bytes.size());
    const int code = inflate(&z, Z_FINISH);
    const bool whole =
        code == Z_STREAM_END && z.avail_in == 0 && z.total_out == static_cast<uLong>(m.size);
    inflateEnd(&z);
    FIRN_RETURN_IF(!whole, Damaged(file_->name(), m.data_at, "member",
                                   absl::StrCat("expected ", m.stored, " bytes of deflate for ",
                                                m.size, " bytes")));
    bytes.resize(static_cast<size_t>(m.size));
  } else {
    bytes = std::move(stored);
  }
  const auto crc =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  FIRN_RETURN_IF(crc != m.crc,
                 Damaged(file_->name(), m.data_at, "member",
                         absl::StrCat("expected the checksum ", m.crc, ", got ", crc)));
  return bytes;
}

}  // namespace firn::io::internal
