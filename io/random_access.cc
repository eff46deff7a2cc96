// Files are read by pread and mapped only on request, so that a file which shrinks meanwhile gives
// an error, not SIGBUS.
#include "firn/io/random_access.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "firn/device/status_macros.h"

namespace firn::io {
namespace {

class File final : public RandomAccess {
 public:
  File(std::string name, int64_t size, int fd) : RandomAccess(std::move(name), size), fd_(fd) {}
  ~File() override { close(fd_); }

  absl::StatusOr<std::shared_ptr<char>> Map() const override {
    if (size() == 0) return nullptr;
    const auto bytes = static_cast<size_t>(size());
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_, 0);
    if (data == MAP_FAILED) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", name(), " into memory"));
    }
    return std::shared_ptr<char>(static_cast<char*>(data), [bytes](char* p) { munmap(p, bytes); });
  }

 protected:
  absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const override {
    int64_t done = 0;
    while (done < n) {
      // Linux moves less than 2 GiB in one call.
      const auto piece = static_cast<size_t>(std::min<int64_t>(n - done, 1 << 30));
      const ssize_t got = pread(fd_, static_cast<char*>(out) + done, piece, offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name()));
      if (got == 0) break;
      done += got;
    }
    return done;
  }

 private:
  const int fd_;
};

// Closes what it holds.
struct Descriptor {
  explicit Descriptor(int n) : number(n) {}
  ~Descriptor() {
    const int error = errno;
    if (number >= 0) close(number);
    errno = error;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  mutable int number;
};

constexpr int kOpenFile = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // not to wait for a FIFO

// The file that was opened just now, or the error in errno.
absl::StatusOr<std::unique_ptr<RandomAccess>> FileOf(const Descriptor& opened,
                                                     const std::string& path) {
  struct stat info;
  if (opened.number < 0 || fstat(opened.number, &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  FIRN_RETURN_IF(!S_ISREG(info.st_mode), InvalidArgument(path, " is not a regular file"));
  return std::make_unique<File>(path, int64_t{info.st_size}, std::exchange(opened.number, -1));
}

absl::Status CheckBelow(const std::string& path) {
  FIRN_RETURN_IF(path.find_first_of(std::string_view("\\\0", 2)) != path.npos,
                 InvalidArgument("path \"", absl::CHexEscape(path),
                                 "\": expected neither backslashes nor zero bytes"));
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    FIRN_RETURN_IF(part.empty() || part == "." || part == "..",
                   InvalidArgument("path \"", absl::CHexEscape(path),
                                   "\": expected one below the folder, without \"..\", \".\" and "
                                   "empty components"));
  }
  return absl::OkStatus();
}

class Memory final : public RandomAccess {
 public:
  Memory(std::string name, absl::Span<const unsigned char> bytes)
      : RandomAccess(std::move(name), static_cast<int64_t>(bytes.size())), data_(bytes.data()) {}

 protected:
  absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const override {
    std::memcpy(out, data_ + offset, static_cast<size_t>(n));
    return n;
  }

 private:
  const unsigned char* const data_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccess>> RandomAccess::Open(const std::string& path,
                                                                 Links links) {
  const int no_link = links == Links::kRefuse ? O_NOFOLLOW : 0;
  const Descriptor file(open(path.c_str(), kOpenFile | no_link));
  FIRN_RETURN_IF(file.number < 0 && errno == ELOOP && no_link != 0,
                 InvalidArgument(path, " is a symbolic link, expected a regular file"));
  return FileOf(file, path);
}

// One component after the other, none of them a link: openat2 would do it in one call, but is not
// in every kernel, and containers forbid it.
absl::StatusOr<std::unique_ptr<RandomAccess>> RandomAccess::OpenBelow(const std::string& folder,
                                                                      const std::string& path) {
  constexpr int kFolder = O_RDONLY | O_CLOEXEC | O_DIRECTORY;
  const std::string whole = absl::StrCat(folder, "/", path);
  FIRN_RETURN_IF_ERROR(CheckBelow(path));
  Descriptor at(open(folder.empty() ? "." : folder.c_str(), kFolder));
  if (at.number < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", folder));
  size_t begin = 0;
  for (size_t slash; (slash = path.find('/', begin)) != path.npos; begin = slash + 1) {
    const std::string part = path.substr(begin, slash - begin);
    Descriptor next(openat(at.number, part.c_str(), kFolder | O_NOFOLLOW));
    if (next.number < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", whole, ": ", part,
                                                     ", expected a folder and no link to one"));
    }
    std::swap(at.number, next.number);
  }
  const Descriptor file(openat(at.number, path.c_str() + begin, kOpenFile | O_NOFOLLOW));
  FIRN_RETURN_IF(file.number < 0 && errno == ELOOP,
                 InvalidArgument(whole, " is a symbolic link, expected a regular file"));
  struct stat info;
  FIRN_RETURN_IF(file.number >= 0 && fstat(file.number, &info) == 0 && S_ISREG(info.st_mode) &&
                     info.st_nlink > 1,
                 InvalidArgument(whole, ": expected a file of one name, got one of ", info.st_nlink,
                                 " (hard links), which may be anybody's: copy it"));
  return FileOf(file, whole);
}

std::unique_ptr<RandomAccess> RandomAccess::FromMemory(const std::string& name,
                                                       absl::Span<const unsigned char> bytes) {
  return std::make_unique<Memory>(name, bytes);
}

absl::Status RandomAccess::ReadAt(int64_t offset, void* out, int64_t n,
                                  const std::string& field) const {
  int64_t got = 0;
  if (offset < 0 || offset > size_) {
    return Damaged(name_, offset, field,
                   absl::StrCat("lies outside the file of ", size_, " bytes"));
  }
  if (n <= size_ - offset) {
    if (n <= 0) return absl::OkStatus();
    FIRN_ASSIGN_OR_RETURN(got, Read(offset, out, n));
    if (got == n) return absl::OkStatus();
  } else {
    got = size_ - offset;
  }
  return Damaged(name_, offset, field,
                 absl::StrCat("expected ", n, " bytes, got ", got, ": the file ends early"));
}

namespace {

// Signatures of other kinds of files, so that the error does not call such a file damaged.
struct OtherKind {
  std::string_view signature;
  const char* name;
};

constexpr OtherKind kOtherKinds[] = {
    {"\x89HDF\r\n\x1a\n", "an HDF5 file"},
    {"\x93NUMPY", "a .npy file"},
    {"PK\x03\x04", "a ZIP file, as .npz and .pt are"},
    {"\x80\x02", "a pickle"},
    {"\x80\x03", "a pickle"},
    {"\x80\x04", "a pickle"},
    {"\x80\x05", "a pickle"},
    {"\x0e\x03\x13\x01", "an HDF4 file"},
    {"CDF\x01", "a netCDF file"},
    {"CDF\x02", "a netCDF file"},
    {"CDF\x05", "a netCDF file"},
    {"MATLAB ", "a MAT file"},
    {"RIFF", "a RIFF file"},
    {"fLaC", "a FLAC file"},
    {"OggS", "an Ogg file"},
    {"ID3", "an MP3 file"},
    {"\xff\xfb", "an MP3 file"},
    {"\xff\xf3", "an MP3 file"},
    {"FORM", "an AIFF file"},
    {"riff", "a Wave64 file"},
    {"caff", "a CAF file"},
    {".snd", "an AU file"},
    {"\x1f\x8b", "a file of gzip"},
    {"BZh", "a file of bzip2"},
    {"\xfd"
     "7zXZ",
     "a file of xz"},
    {"(\xb5/\xfd", "a file of zstd"},
    {"version https://git-lfs", "a pointer of Git LFS (git lfs pull fetches the file itself)"},
};

}  // namespace

absl::Status ExpectSignature(const RandomAccess& file, std::string_view signature,
                             const char* kind) {
  // A file shorter than the signature may also be of another known kind, which is the better
  // message.
  std::string got(static_cast<size_t>(std::min<int64_t>(file.size(), 32)), '\0');
  FIRN_RETURN_IF_ERROR(file.ReadAt(0, got.data(), static_cast<int64_t>(got.size()), "signature"));
  if (std::string_view(got).starts_with(signature)) return absl::OkStatus();
  for (const OtherKind& other : kOtherKinds) {
    FIRN_RETURN_IF(std::string_view(got).starts_with(other.signature),
                   Unimplemented(file.name(), ": it is ", other.name, ", and not ", kind));
  }
  got.resize(std::min(got.size(), signature.size()));
  const auto shown = [](std::string_view bytes) {
    return absl::StrCat("\"", absl::CHexEscape({bytes.data(), bytes.size()}), "\"");
  };
  return Damaged(file.name(), 0, "signature",
                 absl::StrCat("expected ", shown(signature), ", got ",
                              got.empty() ? "an empty file" : shown(got), ": not ", kind));
}

absl::Status Damaged(const std::string& name, int64_t offset, const std::string& field,
                     const std::string& what) {
  return DataLoss(name, ": offset ", offset, ", ", field, ": ", what);
}

}  // namespace firn::io
