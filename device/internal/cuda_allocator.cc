// Two pools behind one lock; a refused request empties the cache and tries once more.
#include "firn/device/internal/cuda_allocator.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>

#include "firn/device/device.h"
#include "firn/device/internal/books.h"
#include "firn/device/internal/size_classes.h"
#include "firn/device/status_macros.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kMaxSmall = size_t{1} << 20;
constexpr size_t kSmallSlab = size_t{2} << 20;
constexpr size_t kLargeSlab = size_t{32} << 20;

}  // namespace

void* CudaSlabs::Take(size_t bytes) {
  void* data = nullptr;
  return api_.Malloc(device_, bytes, &data) == 0 ? data : nullptr;
}

// An error here comes from earlier work; the next synchronisation reports it.
void CudaSlabs::Return(void* slab, size_t) {
  before_return_();
  static_cast<void>(api_.Free(device_, slab));
}

CudaCachingAllocator::CudaCachingAllocator(CudaApi& api, int device,
                                           std::function<void()> before_return)
    : device_(device),
      source_(api, device, std::move(before_return)),
      small_(source_, kSmallSlab, LargePool::IdleSlabs::kKeep),
      large_(source_, kLargeSlab, LargePool::IdleSlabs::kKeep) {}

std::optional<Block> CudaCachingAllocator::Take(size_t bytes, AllocTag tag) {
  const std::optional<size_t> limit = source_.limit();
  if (limit && (bytes > *limit || static_cast<size_t>(books_.live_bytes) > *limit - bytes)) {
    return std::nullopt;
  }
  const bool small = bytes <= kMaxSmall;
  const auto piece = (small ? small_ : large_).Take(bytes);
  if (!piece) return std::nullopt;
  return Block{piece->data, piece->bytes, tag, small ? kMediumBlock : kBigBlock, piece->node};
}

absl::StatusOr<Block> CudaCachingAllocator::Allocate(size_t bytes, AllocTag tag) {
  FIRN_RETURN_IF_ERROR(CheckSize(bytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t wanted = std::max<size_t>(bytes, 1);
  std::optional<Block> block = Take(wanted, tag);
  if (!block) {
    Trim();
    block = Take(wanted, tag);
  }
  if (!block) return OutOfMemory(Device::Cuda(device_), bytes, tag, StatsLocked());
  BookBlock(books_, tag, static_cast<int64_t>(block->bytes));
  return *block;
}

void CudaCachingAllocator::Free(const Block& block) noexcept {
  if (!block) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  (block.size_class == kMediumBlock ? small_ : large_).Give(block.node);
  BookBlock(books_, block.tag, -static_cast<int64_t>(block.bytes));
}

AllocatorStats CudaCachingAllocator::StatsLocked() const {
  AllocatorStats stats = books_;
  stats.cached_bytes = static_cast<int64_t>(source_.mapped_bytes()) - stats.live_bytes;
  if (source_.limit()) stats.limit_bytes = static_cast<int64_t>(*source_.limit());
  return stats;
}

AllocatorStats CudaCachingAllocator::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return StatsLocked();
}

void CudaCachingAllocator::ResetPeak() {
  const std::lock_guard<std::mutex> lock(mutex_);
  books_.peak_bytes = books_.live_bytes;
  books_.peak_by_tag = books_.live_by_tag;
}

void CudaCachingAllocator::Trim() {
  small_.Trim();
  large_.Trim();
}

void CudaCachingAllocator::EmptyCache() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Trim();
}

void CudaCachingAllocator::SetLimit(std::optional<size_t> bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  source_.set_limit(bytes);
}

}  // namespace firn::inner::internal
