#ifndef FIRN_DEVICE_INTERNAL_BOOKS_H_
#define FIRN_DEVICE_INTERNAL_BOOKS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "firn/device/allocator.h"
#include "firn/device/device.h"

// Statistics and refusals, which are alike for the allocators of all devices.
namespace firn::inner::internal {

// Counts a block handed out, or, with negative `bytes`, given back.
void BookBlock(AllocatorStats& books, AllocTag tag, int64_t bytes);

// Raises the peaks to what is live.
void RaisePeaks(AllocatorStats& books);

// InvalidArgument for a size no machine has: a quarter of the address space or more. So rounding up
// a smaller size cannot overflow.
absl::Status CheckSize(size_t bytes);

// The error for a request that was refused, with the amounts by tag.
absl::Status OutOfMemory(Device device, size_t bytes, AllocTag tag, const AllocatorStats& now);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_BOOKS_H_
