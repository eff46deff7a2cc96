// write, fsync, rename, fsync of the folder: after the first fsync the temporary file is whole, the
// rename is atomic, and the last makes the new name outlive a power cut. The folder is opened
// before the rename, so that its fsync is all that can still fail once the old file is gone.
#include "device/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"

namespace firn::internal {
namespace {

// A new file of a name that no other process uses, with the permissions that the umask leaves; -1
// and errno when there can be none.
int CreateBeside(const std::string& path, std::string* name) {
  static std::atomic<unsigned> counter = 0;
  for (int attempts = 0; attempts < 100; ++attempts) {
    *name = absl::StrCat(path, ".tmp.", getpid(), ".", counter++);
    const int fd = open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  std::error_code error;
  file.path_ = std::filesystem::weakly_canonical(path, error).string();
  if (error || file.path_.empty()) file.path_ = path;
  struct stat old;
  const bool replaces = stat(file.path_.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) {
    return absl::ErrnoToStatus(EISDIR, absl::StrCat("cannot write ", path));
  }
  FIRN_RETURN_IF(replaces && !S_ISREG(old.st_mode),
                 FailedPrecondition("cannot write ", path, ": it is not a regular file"));
  std::string name;
  file.fd_ = CreateBeside(file.path_, &name);
  if (file.fd_ < 0) return file.SystemError("cannot create a file beside");
  file.temporary_ = std::move(name);
  if (!replaces) return file;
  // From now on, so that nobody else reads here what he may not read there.
  file.permissions_ = old.st_mode & 0777;
  FIRN_RETURN_IF_ERROR(file.SetPermissions(*file.permissions_ | 0600));
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      permissions_(other.permissions_) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status AtomicFile::Write(const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = write(fd_, at, std::min<size_t>(bytes, 1 << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return SystemError("cannot write");
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::SetPermissions(unsigned permissions) {
  return fchmod(fd_, permissions) == 0 ? absl::OkStatus()
                                       : SystemError("cannot set the permissions of");
}

absl::Status AtomicFile::Commit() {
  if (permissions_.has_value()) FIRN_RETURN_IF_ERROR(SetPermissions(*permissions_));
  if (fsync(fd_) != 0) return SystemError("cannot write");
  if (close(std::exchange(fd_, -1)) != 0) return SystemError("cannot write");
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open the folder of");
  const bool renamed = rename(temporary_.c_str(), path_.c_str()) == 0;
  if (renamed) temporary_.clear();
  // Some file systems sync no folders.
  const bool synced = renamed && (fsync(fd) == 0 || errno == EINVAL);
  const int error = errno;
  close(fd);
  errno = error;
  if (!renamed) return SystemError("cannot replace");
  return synced ? absl::OkStatus() : SystemError("cannot sync the folder of");
}

// A full disk has one code, whichever way the system says it.
absl::Status AtomicFile::SystemError(const char* what) const {
  const int error = errno;
  const std::string text = absl::StrCat(what, " ", path_);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return ResourceExhausted(text, ": ", std::generic_category().message(error));
  }
  return absl::ErrnoToStatus(error, text);
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  FIRN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  FIRN_RETURN_IF_ERROR(file.Write(bytes.data(), bytes.size()));
  return file.Commit();
}

}  // namespace firn::internal
