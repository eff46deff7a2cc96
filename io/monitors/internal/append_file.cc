// Records are written at `size_`, not at the end of the file: if a partial record cannot be
// removed, the next one overwrites it.
#include "firn/io/monitors/internal/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

absl::StatusOr<AppendFile> AppendFile::Open(const std::string& path, Mode mode) {
  FIRN_RETURN_IF(path.empty(), InvalidArgument("cannot write a file: its path is empty"));
  AppendFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a pipe must not wait for its reader.
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK;
  file.fd_ = open(path.c_str(), flags | (mode == Mode::kCreateNew ? O_EXCL : 0), 0666);
  if (file.fd_ < 0) return file.SystemError("cannot open");
  struct stat info;
  if (fstat(file.fd_, &info) != 0) return file.SystemError("cannot open");
  FIRN_RETURN_IF(!S_ISREG(info.st_mode),
                 InvalidArgument("cannot write ", path, ": it is not a regular file"));
  file.size_ = info.st_size;
  if (mode == Mode::kTruncate) FIRN_RETURN_IF_ERROR(file.Truncate(0));
  return file;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) close(fd_);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

absl::Status AppendFile::Truncate(int64_t size) {
  if (ftruncate(fd_, size) != 0) return SystemError("cannot cut");
  size_ = size;
  return absl::OkStatus();
}

absl::Status AppendFile::Append(std::string_view record) {
  FIRN_RETURN_IF(fd_ < 0, FailedPrecondition("cannot write: the file was moved from"));
  struct stat open_file, named;
  if (fstat(fd_, &open_file) != 0) return SystemError("cannot write");
  if (stat(path_.c_str(), &named) != 0 || named.st_dev != open_file.st_dev ||
      named.st_ino != open_file.st_ino) {
    return NotFound("cannot write ", path_,
                    ": the file was removed or replaced since it was opened");
  }
  size_t done = 0;
  while (done < record.size()) {
    const ssize_t now = pwrite(fd_, record.data() + done, record.size() - done,
                               static_cast<off_t>(size_) + static_cast<off_t>(done));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) {
      const absl::Status error = SystemError("cannot write");
      if (ftruncate(fd_, size_) != 0) return error;  // its error says more than this one
      return error;
    }
    done += static_cast<size_t>(now);
  }
  size_ += static_cast<int64_t>(record.size());
  return absl::OkStatus();
}

// All system errors for a full disk get one code.
absl::Status AppendFile::SystemError(const char* what) const {
  const int error = errno;
  const std::string text = absl::StrCat(what, " ", path_);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return ResourceExhausted(text, ": ", std::generic_category().message(error));
  }
  return absl::ErrnoToStatus(error, text);
}

}  // namespace firn::io::internal
