// The layout stands in zip_reader.cc. Without zip64: what passes 4 GB is refused, never cut.
#include <zlib.h>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/zip/internal/zip.h"

namespace firn::io::internal {
namespace {

constexpr uint64_t kOnes = 0xffffffff;
constexpr uint64_t kDate = 1 << 5 | 1;  // 1 January 1980

void Put(std::string* s, uint64_t v, size_t bytes) { AppendLittleEndian(s, v, bytes); }

// What directory and local header have in common.
std::string Common(bool deflated, uint64_t crc, uint64_t stored, uint64_t size, uint64_t name) {
  std::string s;
  Put(&s, 20, 2);       // the version that can read it
  Put(&s, 1 << 11, 2);  // names are UTF-8
  Put(&s, deflated ? 8 : 0, 2);
  Put(&s, 0, 2);
  Put(&s, kDate, 2);
  Put(&s, crc, 4);
  Put(&s, stored, 4);
  Put(&s, size, 4);
  Put(&s, name, 2);
  Put(&s, 0, 2);  // no extra field
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
  FIRN_RETURN_IF(name.size() > 65535 || count_ >= 65534,
                 InvalidArgument("zip: more names, or longer ones, than the format has room for"));
  FIRN_RETURN_IF(
      bytes.size() >= kOnes - (1 << 20) || at_ + bytes.size() >= kOnes - (1 << 24),
      InvalidArgument("zip: ", name, " of ", bytes.size(), " bytes makes the file pass 4 GB"));
  std::string packed;
  if (deflate) {
    FIRN_ASSIGN_OR_RETURN(packed, Deflated(bytes));
  }
  const std::string_view data = deflate ? std::string_view(packed) : bytes;
  const uint32_t crc = Crc32(0, bytes.data(), bytes.size());
  const std::string common = Common(deflate, crc, data.size(), bytes.size(), name.size());
  Put(&directory_, 0x02014b50, 4);
  Put(&directory_, 20, 2);
  directory_ += common;
  Put(&directory_, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
  Put(&directory_, at_, 4);
  directory_ += name;
  ++count_;
  std::string local;
  Put(&local, 0x04034b50, 4);
  FIRN_RETURN_IF_ERROR(Write(local + common + name));
  return Write(data);
}

absl::Status ZipWriter::Finish() {
  FIRN_RETURN_IF(at_ + directory_.size() >= kOnes, InvalidArgument("zip: the file passes 4 GB"));
  std::string end = directory_;
  Put(&end, 0x06054b50, 4);
  Put(&end, 0, 4);
  Put(&end, count_, 2);
  Put(&end, count_, 2);
  Put(&end, directory_.size(), 4);
  Put(&end, at_, 4);
  Put(&end, 0, 2);
  return Write(end);
}

}  // namespace firn::io::internal
