// Every function takes the lock once and does little under it; mapping a slab is the slowest (some
// microseconds, once for many blocks).
#include "firn/device/internal/cpu_heap.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>

#include "firn/device/device.h"
#include "firn/device/internal/books.h"
#include "firn/device/internal/poison.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kMaxMediumBytes = size_t{4} << 20;

void AddPending(const ThreadCache& cache, AllocatorStats& stats) {
  for (size_t i = 0; i < kNumAllocTags; ++i) {
    const PendingBook::Entry pending = cache.books[i].Read();
    stats.live_bytes += pending.bytes;
    stats.live_by_tag[i] += pending.bytes;
    stats.allocations += pending.allocations;
  }
}

}  // namespace

CpuHeap& CpuHeap::Get() {
  static CpuHeap* const heap = new CpuHeap;
  return *heap;
}

uint32_t CpuHeap::TakeSmall(uint32_t size_class, void** out, uint32_t wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!LimitAllows(kSizeClassBytes[size_class])) return 0;
  return small_.Take(size_class, out, wanted);
}

void CpuHeap::GiveSmall(uint32_t size_class, void* const* blocks, uint32_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  small_.Give(size_class, blocks, count);
}

Block CpuHeap::TakeLarge(size_t bytes, AllocTag tag) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!LimitAllows(bytes)) return Block{};
  const bool medium = bytes <= kMaxMediumBytes;
  const auto piece = (medium ? medium_ : big_).Take(bytes);
  if (!piece) return Block{};
  BookBlock(books_, tag, static_cast<int64_t>(piece->bytes));
  return Block{piece->data, piece->bytes, tag, medium ? kMediumBlock : kBigBlock, piece->node};
}

void CpuHeap::GiveLarge(const Block& block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  (block.size_class == kMediumBlock ? medium_ : big_).Give(block.node);
  BookBlock(books_, block.tag, -static_cast<int64_t>(block.bytes));
}

void CpuHeap::Book(AllocTag tag, int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  BookBlock(books_, tag, bytes);
}

void CpuHeap::Publish(ThreadCache& cache) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddPending(cache, books_);
  for (PendingBook& book : cache.books) book.Clear();
  RaisePeaks(books_);
}

void CpuHeap::Register(ThreadCache* cache) {
  const std::lock_guard<std::mutex> lock(mutex_);
  caches_.push_back(cache);
}

void CpuHeap::Unregister(ThreadCache* cache) {
  Publish(*cache);
  const std::lock_guard<std::mutex> lock(mutex_);
  caches_.erase(std::find(caches_.begin(), caches_.end(), cache));
}

void CpuHeap::Trim() {
  const std::lock_guard<std::mutex> lock(mutex_);
  small_.Trim();
  medium_.TrimPages();
  big_.TrimPages();
}

void CpuHeap::SetLimit(std::optional<size_t> bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  source_.set_limit(bytes);
}

// Whether `bytes` more may be live. The source judges what a new slab adds.
bool CpuHeap::LimitAllows(size_t bytes) const {
  const std::optional<size_t> limit = source_.limit();
  if (!limit) return true;
  const auto live = static_cast<size_t>(std::max<int64_t>(StatsLocked().live_bytes, 0));
  return bytes <= *limit && live <= *limit - bytes;
}

AllocatorStats CpuHeap::stats() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return StatsLocked();
}

AllocatorStats CpuHeap::StatsLocked() const {
  AllocatorStats stats = books_;
  for (const ThreadCache* cache : caches_) AddPending(*cache, stats);
  RaisePeaks(stats);
  stats.cached_bytes = static_cast<int64_t>(source_.mapped_bytes()) - stats.live_bytes;
  if (source_.limit()) stats.limit_bytes = static_cast<int64_t>(*source_.limit());
  return stats;
}

void CpuHeap::ResetPeak() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const AllocatorStats now = StatsLocked();
  books_.peak_bytes = now.live_bytes;
  books_.peak_by_tag = now.live_by_tag;
}

absl::Status CpuHeap::Exhausted(size_t bytes, AllocTag tag) {
  return OutOfMemory(Device::Cpu(), bytes, tag, stats());
}

}  // namespace firn::inner::internal
