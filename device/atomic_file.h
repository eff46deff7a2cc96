#ifndef FIRN_DEVICE_ATOMIC_FILE_H_
#define FIRN_DEVICE_ATOMIC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace firn::inner::internal {

// What a new file waits for before it takes its place.
enum class WaitFor : uint8_t {
  kDisk,     // whatever happens to the machine, the path has the old file or the new one
  kNothing,  // for what can be made again. Whoever opens the path finds the old file or the new
             // one, also after the process was killed; but a power cut some seconds later may leave
             // an empty one, and a disk that fails may do so unnoticed
};

// A file that replaces the one at its path as a whole or not at all, whenever the process or, where
// it waits for the disk, the machine stops: bytes go to a temporary file in the same folder, which
// Commit renames. A symbolic link at the path stays, its target is replaced; permissions of the old
// file are kept. A process that is killed leaves its temporary file behind. The next Create for the
// same path removes it; after a restart of the machine, one that comes a day later; where files
// cannot be locked, none does. Thread-compatible.
class AtomicFile {
 public:
  // Errors: those of the system, naming the path; FailedPrecondition where something else than a
  // file stands there (a folder, a device, a pipe), which a file must not replace;
  // InvalidArgument for an empty path.
  static absl::StatusOr<AtomicFile> Create(const std::string& path);
  // Removes the temporary file unless Commit has renamed it.
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  // Appends. ResourceExhausted when the disk, a quota or a limit on file sizes is exhausted.
  absl::Status Write(const void* data, size_t bytes);
  // Writes at an offset from the start. Write does not know of this offset, so use one of the two
  // only. Bytes below the highest offset that nobody writes are zero.
  absl::Status WriteAt(int64_t offset, const void* data, size_t bytes);
  // Makes the file this long; added bytes are zero.
  absl::Status Resize(int64_t bytes);
  // Where the bytes are until Commit. Another program may fill this file instead of Write, but must
  // not put another file in its place. This user may read and write it, whatever permissions the
  // file gets with Commit.
  const std::string& temporary_path() const { return temporary_; }
  // Renames the file to its path; with WaitFor::kDisk, waits for the disk before and after. Nothing
  // may be written afterwards. On an error the old file is as it was, unless the error is that the
  // folder cannot be synced: the new file is then in its place, but a power cut may bring the old
  // one back.
  absl::Status Commit(WaitFor wait = WaitFor::kDisk);

 private:
  AtomicFile() = default;
  absl::Status SetPermissions(unsigned permissions);
  absl::Status Flush();
  absl::Status SystemError(const char* what) const;

  std::string path_;       // of the file to replace, links resolved
  std::string temporary_;  // empty once it is renamed or gone
  int fd_ = -1;
  std::optional<unsigned> permissions_;  // of the old file
};

// Create, Write and Commit: `path` holds `bytes` then, or what it held before.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes,
                         WaitFor wait = WaitFor::kDisk);

// Removes the temporary files that killed writers left in a folder, by the rules of AtomicFile, for
// all paths in it whose last components `is_mine` accepts. Files that cannot be removed stay.
void RemoveLeftovers(const std::string& folder,
                     absl::FunctionRef<bool(std::string_view name)> is_mine);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_ATOMIC_FILE_H_
