// The layout stands in zip_reader.cc. Sizes and places that do not fit into a header are all ones
// there, and stand in a zip64 field: in the local header both sizes or neither, in the directory
// only those that are all ones. An archive that needs no zip64 field has none, so that old readers
// can read it.
#include <zlib.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/zip/internal/zip.h"

namespace firn::io::internal {
namespace {

constexpr uint64_t kOnes = 0xffffffff;
constexpr uint64_t kDate = 1 << 5 | 1;      // 1 January 1980
constexpr uint64_t kOld = 20, kZip64 = 45;  // versions that can read it

void Put(std::string* s, uint64_t v, size_t bytes) { AppendLittleEndian(s, v, bytes); }

// The zip64 field with the numbers that did not fit; "" if all fit.
std::string Field(std::initializer_list<uint64_t> numbers) {
  std::string s;
  if (numbers.size() == 0) return s;
  Put(&s, 1, 2);
  Put(&s, 8 * numbers.size(), 2);
  for (const uint64_t v : numbers) Put(&s, v, 8);
  return s;
}

struct Member {
  bool deflated;
  uint64_t crc, stored, size;
  bool wide;  // the sizes stand in a field
};

// The fields that directory and local header share.
std::string Common(const Member& m, size_t name, size_t field) {
  std::string s;
  Put(&s, field > 0 ? kZip64 : kOld, 2);
  Put(&s, 1 << 11, 2);  // names are UTF-8
  Put(&s, m.deflated ? 8 : 0, 2);
  Put(&s, 0, 2);
  Put(&s, kDate, 2);
  Put(&s, m.crc, 4);
  Put(&s, m.wide ? kOnes : m.stored, 4);
  Put(&s, m.wide ? kOnes : m.size, 4);
  Put(&s, name, 2);
  Put(&s, field, 2);
  return s;
}

absl::StatusOr<std::string> Deflated(std::string_view bytes) {
  z_stream z{};
  FIRN_RETURN_IF(
      deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK,
      ResourceExhausted("no memory to compress"));
  std::string out(deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int code = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  FIRN_RETURN_IF(code != Z_STREAM_END, Internal("deflate failed"));
  return out;
}

}  // namespace

absl::Status ZipWriter::Write(std::string_view bytes) {
  at_ += bytes.size();
  return out_->Write(bytes.data(), bytes.size());
}

absl::Status ZipWriter::Add(const std::string& name, std::string_view bytes, bool deflate) {
  FIRN_RETURN_IF(
      name.size() > 65535,
      InvalidArgument("zip: a member's name is ", name.size(),
                      " bytes long (want at most 65535, which the format has room for)"));
  deflate = deflate && bytes.size() < kOnes - (1 << 20);  // zlib counts so far, and our reader
  std::string packed;
  if (deflate) {
    FIRN_ASSIGN_OR_RETURN(packed, Deflated(bytes));
  }
  const std::string_view data = deflate ? std::string_view(packed) : bytes;
  const Member m = {.deflated = deflate,
                    .crc = Crc32(0, bytes.data(), bytes.size()),
                    .stored = data.size(),
                    .size = bytes.size(),
                    .wide = std::max(data.size(), bytes.size()) >= narrow_};
  const bool far = at_ >= narrow_;
  const std::string local_field = m.wide ? Field({m.size, m.stored}) : "";
  const std::string field = m.wide && far ? Field({m.size, m.stored, at_})
                            : m.wide      ? local_field
                            : far         ? Field({at_})
                                          : "";
  Put(&directory_, 0x02014b50, 4);
  Put(&directory_, field.empty() ? kOld : kZip64, 2);
  directory_ += Common(m, name.size(), field.size());
  Put(&directory_, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
  Put(&directory_, far ? kOnes : at_, 4);
  directory_ += name + field;
  ++count_;
  std::string local;
  Put(&local, 0x04034b50, 4);
  local += Common(m, name.size(), local_field.size()) + name + local_field;
  FIRN_RETURN_IF_ERROR(Write(local));
  return Write(data);
}

absl::Status ZipWriter::Finish() {
  const uint64_t directory_at = at_, end_at = at_ + directory_.size();
  const bool many = count_ >= 65535, large = directory_.size() >= narrow_, far = at_ >= narrow_;
  std::string end = directory_;
  if (many || large || far) {
    Put(&end, 0x06064b50, 4);
    Put(&end, 44, 8);  // from here to the locator
    Put(&end, kZip64, 2);
    Put(&end, kZip64, 2);
    Put(&end, 0, 4 + 4);  // disks
    Put(&end, count_, 8);
    Put(&end, count_, 8);
    Put(&end, directory_.size(), 8);
    Put(&end, directory_at, 8);
    Put(&end, 0x07064b50, 4);
    Put(&end, 0, 4);
    Put(&end, end_at, 8);
    Put(&end, 1, 4);
  }
  Put(&end, 0x06054b50, 4);
  Put(&end, 0, 4);
  Put(&end, many ? 0xffff : count_, 2);
  Put(&end, many ? 0xffff : count_, 2);
  Put(&end, large ? kOnes : directory_.size(), 4);
  Put(&end, far ? kOnes : directory_at, 4);
  Put(&end, 0, 2);
  return Write(end);
}

}  // namespace firn::io::internal
