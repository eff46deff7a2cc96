#ifndef FIRN_DEVICE_INTERNAL_CUDA_ALLOCATOR_H_
#define FIRN_DEVICE_INTERNAL_CUDA_ALLOCATOR_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/device/allocator.h"
#include "firn/device/internal/cuda_api.h"
#include "firn/device/internal/large_pool.h"
#include "firn/device/internal/slab_source.h"

namespace firn::inner::internal {

// Memory of one CUDA device, as slabs.
class CudaSlabs final : public SlabSource {
 public:
  CudaSlabs(CudaApi& api, int device, std::function<void()> before_return)
      : SlabSource(std::nullopt),
        api_(api),
        device_(device),
        before_return_(std::move(before_return)) {}

 private:
  void* Take(size_t bytes) override;
  void Return(void* slab, size_t bytes) override;

  CudaApi& api_;
  const int device_;
  const std::function<void()> before_return_;
};

// The caching allocator of one CUDA device. Blocks are aligned to 512 bytes.
//
// It is ordered by the device's stream: a block that comes back may be handed out again at once,
// although work that uses it is still queued, because whatever uses it next is queued behind that.
// Work on another stream must be ordered with events (Stream::Wait) on both sides, as
// io/data/internal/device_batches.h does.
//
// Blocks up to 1 MiB are cut best-fit from slabs of 2 MiB, others from slabs of 32 MiB and more.
// Nothing returns to the device before EmptyCache, or before the device or the limit refuses a
// slab: cudaFree waits for all work. Thread-safe.
class CudaCachingAllocator final : public Allocator {
 public:
  // `before_return` is called before memory goes back to the device: launches that are held back
  // may still use it.
  CudaCachingAllocator(
      CudaApi& api, int device, std::function<void()> before_return = [] {});
  ~CudaCachingAllocator() { EmptyCache(); }

  absl::StatusOr<Block> Allocate(size_t bytes, AllocTag tag) override;
  void Free(const Block& block) noexcept override;
  AllocatorStats stats() const override;
  void ResetPeak() override;
  void EmptyCache() override;
  void SetLimit(std::optional<size_t> bytes) override;

 private:
  std::optional<Block> Take(size_t bytes, AllocTag tag);
  void Trim();
  AllocatorStats StatsLocked() const;

  const int device_;
  mutable std::mutex mutex_;  // guards everything below
  CudaSlabs source_;
  LargePool small_;
  LargePool large_;
  AllocatorStats books_;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_ALLOCATOR_H_
