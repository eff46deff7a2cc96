#ifndef FIRN_IO_MONITORS_INTERNAL_APPEND_FILE_H_
#define FIRN_IO_MONITORS_INTERNAL_APPEND_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace firn::io::internal {

// A file that grows by whole records. Each goes to the system with its Append, so that a process
// that is killed loses none, and leaves at most a part of the last one when it dies within the
// call. Records that could not be written whole are taken back. Thread-compatible.
class AppendFile {
 public:
  // Makes the file anew, or goes on with one that is there.
  enum class Mode { kTruncate, kAppend, kCreateNew };

  AppendFile() = default;
  // Errors: those of the system, naming the path (AlreadyExists with kCreateNew);
  // InvalidArgument when it is not a regular file.
  static absl::StatusOr<AppendFile> Open(const std::string& path, Mode mode);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  // Cuts the file to `size` bytes.
  absl::Status Truncate(int64_t size);
  // ResourceExhausted when the disk, a quota or a limit on file sizes is exhausted: the file is as
  // before, and a later Append may work again. NotFound when the file has been removed, renamed or
  // replaced: it is not made anew, because its contents are lost.
  absl::Status Append(std::string_view record);

 private:
  absl::Status SystemError(const char* what) const;

  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;  // of the whole records
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_MONITORS_INTERNAL_APPEND_FILE_H_
