// write, fsync, rename, fsync of the folder: after the first fsync the temporary file is whole, the
// rename is atomic, and the last makes the new name outlive a power cut. The folder is opened
// before the rename, so that its fsync is all that can still fail once the old file is gone. A
// writer that does not wait for the disk only renames: other programs still see either the old file
// or the new one.
//
// Note [Files of dead writers]
// A temporary file is called "<path>.tmp.<boot>.<process>.<number>", <boot> being the system's
// start by which this process runs, and its writer holds a lock (flock) on it until it is renamed
// or removed. The lock ends with its owner, however that ends. So a file of this <boot> that can be
// locked alone has no writer any more: all processes of one running system see each other's locks,
// whatever the file system and whatever container they are in. With another <boot>, the system was
// restarted since, or the file is another machine's, whose locks a file server may not report: such
// a file is removed when nobody has written it for a day. Where files cannot be locked, none is
// removed. Writers share their lock, because readers that lock what they open, as the HDF5 library
// does, may come between the rename and its end. Nameless files (O_TMPFILE) would leave nothing,
// but linkat() gives them a name only where no file stands: to replace one they need a second name
// that a kill leaves behind just so.
#include "firn/device/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::inner::internal {
namespace {

constexpr int64_t kDaySeconds = 24 * 60 * 60;

// What Boot() is where the system does not say when it started. It has the usual twelve characters,
// so that files that people named themselves are never taken for a writer's.
constexpr std::string_view kUnknownBoot = "000000000000";

// Twelve hexadecimal digits that change when the system starts.
const std::string& Boot() {
  static const auto* boot = new std::string([] {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    std::erase(id, '-');
    const size_t digits = kUnknownBoot.size();
    return id.size() < digits ? std::string(kUnknownBoot) : id.substr(0, digits);
  }());
  return *boot;
}

// Whether the open file still has this name.
bool IsNamed(int fd, const std::string& name) {
  struct stat open_file, named;
  return fstat(fd, &open_file) == 0 && lstat(name.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

// A new file of a name that no other process uses, locked, with the permissions that the umask
// leaves; -1 and errno when it cannot be made, EBUSY when others were faster each time.
int CreateBeside(const std::string& path, std::string* name) {
  static std::atomic<unsigned> counter = 0;
  for (int attempts = 0; attempts < 100; ++attempts) {
    *name = absl::StrCat(path, ".tmp.", Boot(), ".", getpid(), ".", counter++);
    // The file is opened for reading too, because file servers refuse a shared lock otherwise.
    const int fd = open(name->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return fd;
    // Another process may have found the file before it was locked, and then removes it.
    const bool taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && IsNamed(fd, *name)) return fd;
    // Here nobody has removed the file yet, or the file system gives it two numbers. Once it is
    // gone, the name may belong to another process's file.
    struct stat info;
    if (fstat(fd, &info) == 0 && info.st_nlink > 0) unlink(name->c_str());
    close(fd);
  }
  errno = EBUSY;
  return -1;
}

// Cuts off the front of `text` the characters for which `is` is true.
std::string_view TakeWhile(int (*is)(int), std::string_view* text) {
  const auto end = std::find_if_not(text->begin(), text->end(),
                                    [is](char c) { return is(static_cast<unsigned char>(c)); });
  const std::string_view piece = text->substr(0, static_cast<size_t>(end - text->begin()));
  text->remove_prefix(piece.size());
  return piece;
}

// What a temporary file's name says; both empty for all other names.
struct TemporaryName {
  std::string_view target;  // without the folder
  std::string_view boot;
};
TemporaryName ParseTemporary(std::string_view name) {
  constexpr std::string_view kInfix = ".tmp.";
  const size_t at = name.rfind(kInfix);
  if (at == std::string_view::npos) return {};
  const std::string_view target = name.substr(0, at);
  name.remove_prefix(at + kInfix.size());
  const std::string_view boot = TakeWhile(std::isxdigit, &name);
  if (boot.size() != kUnknownBoot.size()) return {};
  for (int number = 0; number < 2; ++number) {
    if (!name.starts_with('.')) return {};
    name.remove_prefix(1);
    if (TakeWhile(std::isdigit, &name).empty()) return {};
  }
  return name.empty() ? TemporaryName{target, boot} : TemporaryName{};
}

// See Note [Files of dead writers]. `now` is the file system's time. What cannot be removed stays.
void RemoveIfDead(const std::string& name, bool this_boot, int64_t now) {
  // The file is opened for writing, because file servers refuse the exclusive lock otherwise.
  const int fd = open(name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info;
  const bool stale = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     (this_boot || int64_t{info.st_mtim.tv_sec} < now - kDaySeconds);
  if (stale && flock(fd, LOCK_EX | LOCK_NB) == 0 && IsNamed(fd, name)) unlink(name.c_str());
  close(fd);
}

void RemoveDead(const std::string& folder, int64_t now,
                absl::FunctionRef<bool(std::string_view target)> is_mine) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const TemporaryName temporary = ParseTemporary(name);
    if (temporary.boot.empty() || !is_mine(temporary.target)) continue;
    const bool this_boot = temporary.boot == Boot() && temporary.boot != kUnknownBoot;
    RemoveIfDead(at->path().string(), this_boot, now);
  }
}

// `own` is the temporary file that was made just now, with its time.
void RemoveDeadBeside(const std::string& path, int own) {
  struct stat info;
  if (fstat(own, &info) != 0) return;
  const std::filesystem::path target(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  RemoveDead(folder, info.st_mtim.tv_sec,
             [&](std::string_view name) { return name == target.filename().native(); });
}

}  // namespace

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path) {
  FIRN_RETURN_IF(path.empty(), InvalidArgument("cannot write a file: its path is empty"));
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
  RemoveDeadBeside(file.path_, file.fd_);
  if (!replaces) return file;
  // The permissions are set now, so that nobody can read in the temporary file what he may not read
  // in the old one.
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
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (fd_ >= 0) close(fd_);
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

absl::Status AtomicFile::WriteAt(int64_t offset, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = pwrite(fd_, at, std::min<size_t>(bytes, 1 << 30), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return SystemError("cannot write");
    at += done;
    offset += done;
    bytes -= static_cast<size_t>(done);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Resize(int64_t bytes) {
  return ftruncate(fd_, bytes) == 0 ? absl::OkStatus() : SystemError("cannot write");
}

absl::Status AtomicFile::SetPermissions(unsigned permissions) {
  return fchmod(fd_, permissions) == 0 ? absl::OkStatus()
                                       : SystemError("cannot set the permissions of");
}

// File servers say here that the disk is full, by closing one of two descriptors: the other one
// keeps the lock.
absl::Status AtomicFile::Flush() {
  const int copy = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && close(copy) == 0 ? absl::OkStatus() : SystemError("cannot write");
}

absl::Status AtomicFile::Commit(WaitFor wait) {
  if (permissions_.has_value()) FIRN_RETURN_IF_ERROR(SetPermissions(*permissions_));
  const bool waits = wait == WaitFor::kDisk;
  if (!waits) FIRN_RETURN_IF_ERROR(Flush());
  if (waits && fsync(fd_) != 0) return SystemError("cannot write");
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const char* const name = folder.empty() ? "." : folder.c_str();
  const int fd = waits ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (waits && fd < 0) return SystemError("cannot open the folder of");
  const bool renamed = rename(temporary_.c_str(), path_.c_str()) == 0;
  if (renamed) {
    temporary_.clear();
    // Closing would not release the lock if a process forked meanwhile, since that has the file
    // open and locked as well.
    flock(fd_, LOCK_UN);
  }
  // Some file systems sync no folders.
  const bool synced = renamed && (!waits || fsync(fd) == 0 || errno == EINVAL);
  const int error = errno;
  if (waits) close(fd);
  // The lock had to last until the rename; fsync has reported all errors that close could report.
  if (renamed) close(std::exchange(fd_, -1));
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

absl::Status ReplaceFile(const std::string& path, std::string_view bytes, WaitFor wait) {
  FIRN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  FIRN_RETURN_IF_ERROR(file.Write(bytes.data(), bytes.size()));
  return file.Commit(wait);
}

void RemoveLeftovers(const std::string& folder,
                     absl::FunctionRef<bool(std::string_view name)> is_mine) {
  // This machine's clock will do: a file server's differs from it by less than a day.
  RemoveDead(folder, time(nullptr), is_mine);
}

}  // namespace firn::inner::internal
