#ifndef FIRN_DEVICE_COMM_SHARED_MEMORY_H_
#define FIRN_DEVICE_COMM_SHARED_MEMORY_H_

// Memory that the processes of one machine see.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// A mapping, which starts with zeros but for what Share() leaves in its first bytes.
class SharedMemory {
 public:
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }

  // The same `bytes` bytes for all ranks, with calls of `ranks` that move a few numbers; all call
  // it. Null on all of them where one does not want it or cannot have it. Has no name that could
  // stay behind. Also the communicator's errors. Requires: bytes >= 8.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Share(Communicator& ranks, int64_t bytes,
                                                             bool wanted);

 private:
  SharedMemory(std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}
  // Null where the file is not so long, or has no memory.
  static std::unique_ptr<SharedMemory> Map(int file, int64_t bytes);

  std::byte* const data_;
  const size_t bytes_;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_SHARED_MEMORY_H_
