// The bytes of a member, whose place ZipReader::Open has checked.
#include <zlib.h>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/internal/read_pieces.h"
#include "firn/io/zip/internal/zip.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kMost = 0xffffffff;  // that zlib counts

absl::Status Inflate(const RandomAccess& file, const ZipMember& m, char* out) {
  FIRN_RETURN_IF(
      m.size >= kMost || m.stored >= kMost,
      Unimplemented(file.name(), ": a compressed member of more than 4 GB, which is not read"));
  std::string stored(static_cast<size_t>(m.stored), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(m.data_at, stored.data(), m.stored, "member"));
  z_stream z{};
  FIRN_RETURN_IF(inflateInit2(&z, -15) != Z_OK,
                 ResourceExhausted(file.name(), ": no memory to unpack"));
  z.next_in = reinterpret_cast<Bytef*>(stored.data());
  z.avail_in = static_cast<uInt>(stored.size());
  // zlib needs an output pointer even if no output is expected.
  char nothing = 0;
  z.next_out = reinterpret_cast<Bytef*>(m.size > 0 ? out : &nothing);
  z.avail_out = static_cast<uInt>(m.size);
  int code = inflate(&z, Z_FINISH);
  if (code == Z_BUF_ERROR && z.avail_out == 0) {  // the data may be longer than the buffer
    z.next_out = reinterpret_cast<Bytef*>(&nothing);
    z.avail_out = 1;
    code = inflate(&z, Z_FINISH);
  }
  const bool whole =
      code == Z_STREAM_END && z.avail_in == 0 && z.total_out == static_cast<uLong>(m.size);
  inflateEnd(&z);
  FIRN_RETURN_IF(!whole, Damaged(file.name(), m.data_at, "member",
                                 absl::StrCat("expected ", m.stored, " bytes of deflate for ",
                                              m.size, " bytes")));
  return absl::OkStatus();
}

class StoredMember final : public RandomAccess {
 public:
  StoredMember(const std::string& name, const RandomAccess& file, const ZipMember& m)
      : RandomAccess(name, m.size), file_(file), data_at_(m.data_at) {}

 protected:
  absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const override {
    FIRN_RETURN_IF_ERROR(file_.ReadAt(data_at_ + offset, out, n, "member"));
    return n;
  }

 private:
  const RandomAccess& file_;
  const int64_t data_at_;
};

}  // namespace

absl::StatusOr<std::string> ZipReader::Read(const ZipMember& m) const {
  std::string bytes(static_cast<size_t>(m.size), '\0');
  FIRN_RETURN_IF_ERROR(ReadInto(m, bytes.data()));
  return bytes;
}

absl::Status ZipReader::ReadInto(const ZipMember& m, char* out) const {
  uint32_t crc = 0;
  if (m.deflated) {
    FIRN_RETURN_IF_ERROR(Inflate(*file_, m, out));
    crc = Crc32(0, out, static_cast<size_t>(m.size));
  } else {
    FIRN_RETURN_IF_ERROR(ReadPieces(*file_, m.data_at, out, m.size, "member", &crc));
  }
  return CheckCrc(m, crc);
}

absl::Status ZipReader::CheckCrc(const ZipMember& m, uint32_t crc) const {
  FIRN_RETURN_IF(crc != m.crc,
                 Damaged(file_->name(), m.data_at, "member",
                         absl::StrCat("expected the checksum ", m.crc, ", got ", crc)));
  return absl::OkStatus();
}

std::unique_ptr<RandomAccess> ZipReader::Stored(const ZipMember& m, const std::string& name) const {
  return std::make_unique<StoredMember>(name, *file_, m);
}

}  // namespace firn::io::internal
