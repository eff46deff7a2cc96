#ifndef FIRN_TENSOR_STORAGE_H_
#define FIRN_TENSOR_STORAGE_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "firn/device/allocator.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/device.h"
#include "firn/device/object_pool.h"
#include "firn/tensor/intrusive_ptr.h"

namespace firn::inner {

// The bytes behind one or more tensors: owns a block of an allocator, or borrows memory together
// with a function that gives it back. `version` counts changes in place, so that a gradient rule
// can tell that a value it saved has been overwritten. Thread-compatible; the reference count may
// be touched from any thread.
class Storage final : public RefCounted, public Pooled<Storage> {
 public:
  // `bytes` uninitialised bytes on `device`.
  static absl::StatusOr<IntrusivePtr<Storage>> Allocate(size_t bytes, Device device, AllocTag tag);
  // The same if a block lies ready, else null, also on an error: the shortcut of most allocations.
  static IntrusivePtr<Storage> TakeCached(size_t bytes, Device device, AllocTag tag);
  // Borrowed memory; `release` (may be null) is called with `data` when the last tensor that uses
  // it is gone.
  static IntrusivePtr<Storage> Borrow(void* data, size_t bytes, Device device,
                                      std::function<void(void*)> release);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  // Not an atomic increment, which costs more: the caller must order changes. Only a generator's
  // state may change on several threads, and its version is never read.
  void BumpVersion() { version_.store(version() + 1, std::memory_order_relaxed); }
  // Whether a tensor moved from here to its own memory (LayOutRowMajor) while others stayed: writes
  // into one are no longer seen by the other.
  bool parted() const { return parted_.load(std::memory_order_relaxed); }
  void NoteParted() { parted_.store(true, std::memory_order_relaxed); }

 private:
  friend void DestroyRefCounted<Storage>(Storage*) noexcept;
  Storage(void* data, size_t bytes, Device device, Allocator* allocator, const Block& block)
      : data_(data), bytes_(bytes), allocator_(allocator), block_(block), device_(device) {}
  ~Storage() {
    if (allocator_ == &CpuAllocator()) [[likely]] {
      CpuAllocator().Free(block_);
    } else {
      GiveBack();
    }
  }
  void GiveBack() noexcept;

  void* data_;
  size_t bytes_;
  Allocator* allocator_;  // null: borrowed
  Block block_;
  Device device_;
  std::atomic<bool> parted_ = false;
  std::atomic<uint32_t> version_ = 0;
  std::function<void(void*)> release_;
};

inline IntrusivePtr<Storage> Storage::TakeCached(size_t bytes, Device device, AllocTag tag) {
  Block block;
  if (!device.is_cpu() || !CpuAllocator().TakeCached(bytes, tag, &block)) [[unlikely]]
    return {};
  return IntrusivePtr<Storage>::Adopt(
      new Storage(block.data, bytes, device, &CpuAllocator(), block));
}

}  // namespace firn::inner

#endif  // FIRN_TENSOR_STORAGE_H_
