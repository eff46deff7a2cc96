#ifndef FIRN_DEVICE_COMM_SHARED_MEMORY_H_
#define FIRN_DEVICE_COMM_SHARED_MEMORY_H_

// Memory that the processes of one machine see.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// A mapping that starts as zeros, except for its first bytes, which Share() writes.
class SharedMemory {
 public:
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }

  // The same `bytes` bytes for all ranks, arranged by calls of `ranks` that move a few numbers; all
  // ranks call it. All get null where one rank does not want it or cannot have it. The file has no
  // name that could stay behind. Also the communicator's errors. Requires: bytes >= 8.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Share(Communicator& ranks, int64_t bytes,
                                                             bool wanted);

 private:
  SharedMemory(std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}
  // Returns null where the file is shorter, or has no memory.
  static std::unique_ptr<SharedMemory> Map(int file, int64_t bytes);

  std::byte* const data_;
  const size_t bytes_;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_SHARED_MEMORY_H_
