#ifndef FIRN_IO_ZIP_INTERNAL_ZIP_H_
#define FIRN_IO_ZIP_INTERNAL_ZIP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/atomic_file.h"
#include "firn/io/load_limits.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  int64_t stored = 0;   // bytes in the file
  int64_t size = 0;     // bytes unpacked
  int64_t data_at = 0;  // where they begin in the file
};

// The members of a ZIP file, whose directory and local headers agree and whose data do not overlap.
// Names are keys, never paths. Thread-compatible.
class ZipReader {
 public:
  // `file` must outlive the reader. Errors: DataLoss for a damaged archive, Unimplemented for
  // encryption, several disks and compression but deflate, ResourceExhausted beyond the limits.
  static absl::StatusOr<ZipReader> Open(const RandomAccess& file, const LoadLimits& limits);

  const std::vector<ZipMember>& members() const { return members_; }
  // One member's bytes, after checking their checksum. Requires: `member` is of this archive.
  absl::StatusOr<std::string> Read(const ZipMember& member) const;
  // The same into `out`, which has room for `member.size` bytes.
  absl::Status ReadInto(const ZipMember& member, char* out) const;
  // The bytes of a member that is not deflated, as a file of their own. It must not outlive the
  // archive's file. After reading all bytes, check them with CheckCrc.
  std::unique_ptr<RandomAccess> Stored(const ZipMember& member, const std::string& name) const;
  // DataLoss if `crc`, the CRC-32 of all bytes of the member, is not the archive's.
  absl::Status CheckCrc(const ZipMember& member, uint32_t crc) const;

 private:
  explicit ZipReader(const RandomAccess& file) : file_(&file) {}
  const RandomAccess* file_;
  std::vector<ZipMember> members_;
};

// Appends members, then the directory. Times are those of 1980, so that equal members give equal
// files. Thread-compatible.
class ZipWriter {
 public:
  // Sizes and places from `narrow` on are written as zip64. The format requires that for numbers
  // beyond 32 bits; smaller values of `narrow` are for tests.
  explicit ZipWriter(inner::internal::AtomicFile* out, uint64_t narrow = 0xffffffff)
      : out_(out), narrow_(narrow) {}
  // InvalidArgument for a name of more than 64 KB. Members of 4 GB and more are never compressed.
  absl::Status Add(const std::string& name, std::string_view bytes, bool deflate);
  absl::Status Finish();

 private:
  absl::Status Write(std::string_view bytes);
  inner::internal::AtomicFile* const out_;
  const uint64_t narrow_;
  std::string directory_;
  uint64_t at_ = 0;
  uint64_t count_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_ZIP_INTERNAL_ZIP_H_
