#ifndef FIRN_IO_HDF5_INTERNAL_H5_FILE_H_
#define FIRN_IO_HDF5_INTERNAL_H5_FILE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/io/load_limits.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

// An address that points nowhere.
inline constexpr uint64_t kH5Undefined = ~uint64_t{0};

// A piece of a file's metadata, read field by field from front to back. Reading beyond the end
// gives zeros and is remembered until Check(), so that a structure is parsed first and checked
// once; but a field that says how much follows is checked before it is used.
class H5Cursor {
 public:
  // The bytes must outlive the cursor; `offset` is where in the file they are.
  H5Cursor(std::string_view bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {}

  // A little-endian unsigned number of up to 8 bytes.
  uint64_t Uint(size_t bytes);
  std::string_view Bytes(size_t n);
  void Skip(size_t n) { Bytes(n); }
  // A NUL-terminated string, without the NUL.
  std::string_view Text();
  size_t left() const { return bytes_.size() - at_; }
  size_t at() const { return at_; }
  // Where in the file the next field is.
  uint64_t offset() const { return offset_ + at_; }
  bool ok() const { return !failed_; }

 private:
  std::string_view bytes_;
  uint64_t offset_;
  size_t at_ = 0;
  bool failed_ = false;
};

// An HDF5 file opened for reading: the superblock, and bounded access to everything else. Metadata
// is charged to LoadLimits::max_metadata_bytes and to four times the file's size, so a file that
// leads the reader in circles ends in an error. Thread-compatible.
class H5File {
 public:
  // `file` must outlive the result. Addresses count from the superblock on, which a user block may
  // precede; offsets in messages are those in the whole file.
  static absl::StatusOr<H5File> Open(const RandomAccess& file, const LoadLimits& limits);

  const LoadLimits& limits() const { return limits_; }
  // From the superblock on.
  const RandomAccess& file() const { return *file_; }
  int64_t size() const { return file_->size(); }
  const std::string& name() const { return file_->name(); }
  uint64_t root() const { return root_; }  // address of the root group's object header

  // Committed datatypes that were read, by the addresses of their headers: each is read once,
  // however many datasets have it.
  struct CommittedType {
    std::string body;
    uint64_t offset;
  };
  const CommittedType* FindType(uint64_t address) const {
    const auto it = types_.find(address);
    return it == types_.end() ? nullptr : &it->second;
  }
  // Its body, as long as *this.
  std::string_view KeepType(uint64_t address, CommittedType type) {
    return types_.emplace(address, std::move(type)).first->second.body;
  }

  // Charges `n` bytes to the budget of metadata.
  absl::Status ChargeMetadata(uint64_t n);
  // `n` bytes of metadata at `address`; `field` names them in errors.
  absl::StatusOr<std::string> ReadMetadata(uint64_t address, uint64_t n, const char* field);
  // The same for a block whose last four bytes are the checksum of those before, which are
  // returned.
  absl::StatusOr<std::string> ReadChecked(uint64_t address, uint64_t n, const char* field);
  // DataLoss unless the cursor has stayed inside its bytes.
  absl::Status Check(const H5Cursor& cursor, const char* field) const;
  absl::Status DamagedAt(uint64_t offset, const char* field, const std::string& what) const;
  // The error of ConvertStored for a piece of the file.
  absl::Status Unconverted(uint64_t offset, const char* field, const absl::Status& why) const;
  // Unimplemented, naming the file: legal HDF5 that this reader refuses.
  absl::Status Refused(const std::string& what) const;

 private:
  H5File(const RandomAccess& file, const LoadLimits& limits)
      : file_(&file),
        limits_(limits),
        metadata_left_(std::min(limits.max_metadata_bytes, 4 * file.size() + 4096)) {}
  absl::Status FindSuperblock();
  absl::Status ReadSuperblock();

  const RandomAccess* file_;
  std::shared_ptr<const RandomAccess> behind_user_block_;  // if there is one: *file_
  uint64_t base_ = 0;                                      // bytes of the user block
  LoadLimits limits_;
  int64_t metadata_left_;
  uint64_t root_ = 0;
  std::map<uint64_t, CommittedType> types_;
};

// The checksum of HDF5's newer structures: hashlittle of B. Jenkins' lookup3.c (2006), start value
// 0.
uint32_t H5Checksum(std::string_view bytes);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_FILE_H_
