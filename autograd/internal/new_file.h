#ifndef FIRN_AUTOGRAD_INTERNAL_NEW_FILE_H_
#define FIRN_AUTOGRAD_INTERNAL_NEW_FILE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace firn::internal {

// A file under a temporary name beside the one that it will be, so that nobody finds half of it.
// Gone with this object unless Commit was called. For files that can be made again: nothing is
// forced onto the disk.
class NewFile {
 public:
  static absl::StatusOr<NewFile> Create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  // Where it is until then; other programs may write there, too.
  const std::string& temporary_path() const { return temporary_; }
  absl::Status Write(std::string_view text);
  absl::Status Commit();

 private:
  NewFile(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_, temporary_;
};

// The whole file, or no change.
absl::Status WriteTextFile(const std::string& path, std::string_view text);

}  // namespace firn::internal

#endif  // FIRN_AUTOGRAD_INTERNAL_NEW_FILE_H_
