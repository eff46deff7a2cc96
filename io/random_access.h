#ifndef FIRN_IO_RANDOM_ACCESS_H_
#define FIRN_IO_RANDOM_ACCESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace firn::io {

// How a path is treated whose last part is a symbolic link. kRefuse is for code that lists a
// hostile folder, where a file may be replaced by a link after the listing.
enum class Links { kFollow, kRefuse };

// A file of a size that is known and fixed, or memory that stands for one, read at any position.
// Thread-safe.
class RandomAccess {
 public:
  // Errors: NotFound, PermissionDenied and so on, naming the path; InvalidArgument when it is not a
  // regular file, or a link that is refused.
  static absl::StatusOr<std::unique_ptr<RandomAccess>> Open(const std::string& path,
                                                            Links links = Links::kFollow);
  // A file that another, hostile file names, by a path below `folder`: components with "/" between
  // them, none of which may be empty, "." or "..", have a backslash or a zero byte, or be a
  // symbolic link. Nothing outside the folder is opened, even if the folder changes meanwhile. A
  // file with a second name (a hard link) may belong to somebody else, and is refused.
  static absl::StatusOr<std::unique_ptr<RandomAccess>> OpenBelow(const std::string& folder,
                                                                 const std::string& path);
  // `bytes` must outlive the result; `name` stands for the path in messages.
  static std::unique_ptr<RandomAccess> FromMemory(const std::string& name,
                                                  absl::Span<const unsigned char> bytes);

  virtual ~RandomAccess() = default;
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;

  const std::string& name() const { return name_; }
  int64_t size() const { return size_; }

  // Reads `n` >= 0 bytes. DataLoss when they do not all lie inside, with `field` saying what they
  // are: "net.h5: offset 2048, elements: expected 400 bytes, got 12: the file ends early".
  absl::Status ReadAt(int64_t offset, void* out, int64_t n, const std::string& field) const;

  // The whole file as memory. Writes into it are private to this object. Null for memory and for an
  // empty file. The file must not become shorter while the memory is in use. Errors: those of the
  // system.
  virtual absl::StatusOr<std::shared_ptr<char>> Map() const { return nullptr; }

 protected:
  RandomAccess(std::string name, int64_t size) : name_(std::move(name)), size_(size) {}
  // Returns how many of `n` > 0 bytes there were.
  virtual absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const = 0;

 private:
  const std::string name_;
  const int64_t size_;
};

// OK if the file begins with its format's `signature`. Unimplemented for those of another kind that
// is known: "net.h5: it is a .npy file, and not an HDF5 file", `kind` being the last three words;
// else DataLoss: "net.h5: offset 0, signature: expected "\x89HDF\r\n\x1a\n", got "hello": not an
// HDF5 file".
absl::Status ExpectSignature(const RandomAccess& file, std::string_view signature,
                             const char* kind);

// DataLoss in the form that all readers use: "<name>: offset <offset>, <field>: <what>".
absl::Status Damaged(const std::string& name, int64_t offset, const std::string& field,
                     const std::string& what);

}  // namespace firn::io

#endif  // FIRN_IO_RANDOM_ACCESS_H_
