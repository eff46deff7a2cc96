// A rename within a folder is atomic; the temporary name is new, so that two writers do not meet.

#include "autograd/internal/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"

namespace firn::internal {
namespace {

absl::Status SystemError(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

}  // namespace

absl::StatusOr<NewFile> NewFile::Create(const std::string& path) {
  static std::atomic<unsigned> counter = 0;
  for (int attempts = 0; attempts < 100; ++attempts) {
    std::string temporary = absl::StrCat(path, ".tmp.", getpid(), ".", counter++);
    const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      close(fd);
      return NewFile(path, std::move(temporary));
    }
    if (errno != EEXIST) break;
  }
  return SystemError("cannot create a file beside", path);
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

NewFile::~NewFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status NewFile::Write(std::string_view text) {
  std::FILE* file = std::fopen(temporary_.c_str(), "we");
  if (file == nullptr) return SystemError("cannot write", path_);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  // What is buffered may fail as late as here.
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = error;
  return written && closed ? absl::OkStatus() : SystemError("cannot write", path_);
}

absl::Status NewFile::Commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return SystemError("cannot replace", path_);
  }
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(NewFile file, NewFile::Create(path));
  FIRN_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

}  // namespace firn::internal
