#ifndef FIRN_IO_MONITORS_TFRECORD_H_
#define FIRN_IO_MONITORS_TFRECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/random_access.h"

namespace firn::io {

// Note [TFRecord files]
// Records one after the other: the length of the data (u64), the masked CRC-32C of those 8 bytes
// (u32), the data, and the masked CRC-32C of the data (u32), little-endian. There is no header and
// no end mark, so a file may grow, and one whose writer was killed ends within a record.

// One record around `data`.
std::string RecordOf(std::string_view data);

// Goes through the records of a file, which must outlive it. Thread-compatible.
class RecordReader {
 public:
  // Begins at `offset`, where a record begins.
  explicit RecordReader(const RandomAccess& file, int64_t offset = 0)
      : file_(file), offset_(offset) {}
  // The next record's data, or nothing at the end and before a partial last record. DataLoss names
  // file, offset and field where a checksum is wrong; ResourceExhausted for data of more than
  // `limit` bytes; the message names the option that allows more, if there is one.
  absl::StatusOr<std::optional<std::string>> Next(int64_t limit, const char* option = "");
  // The end of the last record that Next has given.
  int64_t offset() const { return offset_; }

 private:
  const RandomAccess& file_;
  int64_t offset_;
};

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_TFRECORD_H_
