#ifndef FIRN_DEVICE_INTERNAL_BOOKS_H_
#define FIRN_DEVICE_INTERNAL_BOOKS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "firn/device/allocator.h"
#include "firn/device/device.h"

// What the allocators of all devices do alike with their statistics and refusals.
namespace firn::inner::internal {

// Counts a block handed out, or, with negative `bytes`, given back.
void BookBlock(AllocatorStats& books, AllocTag tag, int64_t bytes);

// Raises the peaks to what is live.
void RaisePeaks(AllocatorStats& books);

// InvalidArgument for a size no machine has: a quarter of what addresses can tell and more, so that
// rounding up cannot overflow.
absl::Status CheckSize(size_t bytes);

// The error for a request that was refused, with the amounts by tag.
absl::Status OutOfMemory(Device device, size_t bytes, AllocTag tag, const AllocatorStats& now);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_BOOKS_H_
