#ifndef FIRN_IO_INTERNAL_BYTE_SOURCE_H_
#define FIRN_IO_INTERNAL_BYTE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

// The bytes of a file from first to last, unpacked on the way when they are gzip (told by the first
// two bytes, not by the name). The buffer has a fixed size however long the file.
// Thread-compatible.
class ByteSource {
 public:
  // Errors: those of RandomAccess::Open.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(const std::string& path);
  static absl::StatusOr<std::unique_ptr<ByteSource>> Make(std::unique_ptr<RandomAccess> file);

  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& name() const { return file_->name(); }
  // How many (unpacked) bytes have been read.
  int64_t offset() const { return offset_; }
  // A bound on the (unpacked) bytes that a file of this size can hold.
  virtual int64_t max_size() const = 0;

  // Reads exactly `n` >= 0 bytes. DataLoss when there are fewer or they are damaged; `field` says
  // what they are.
  absl::Status Read(void* out, int64_t n, const std::string& field);
  // Reads `n` > 0 bytes, or those that are left. DataLoss where they are damaged.
  absl::StatusOr<int64_t> ReadUpTo(void* out, int64_t n, const std::string& field);
  // DataLoss unless all has been read.
  absl::Status ExpectEnd();
  // Everything that is left; ResourceExhausted when that is more than `limit` bytes; the message
  // names the option that allows more, if there is one.
  absl::StatusOr<std::string> ReadAll(int64_t limit, const char* option = "");

 protected:
  explicit ByteSource(std::unique_ptr<RandomAccess> file) : file_(std::move(file)) {}
  // Reads up to `n` > 0 bytes; none only at the end.
  virtual absl::StatusOr<int64_t> ReadSome(void* out, int64_t n, const std::string& field) = 0;
  const RandomAccess& file() const { return *file_; }

 private:
  const std::unique_ptr<RandomAccess> file_;
  int64_t offset_ = 0;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_BYTE_SOURCE_H_
