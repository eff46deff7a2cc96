// Storage: a block and its allocator, or borrowed bytes and the way to give them back.

#include "firn/tensor/storage.h"

#include <utility>

#include "firn/device/context.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/status_macros.h"

namespace firn {
namespace {

absl::StatusOr<Allocator*> AllocatorOf(Device device) {
  if (device.type == DeviceType::kCpu) [[likely]]
    return &CpuAllocator();
  FIRN_ASSIGN_OR_RETURN(DeviceContext * context, GetDeviceContext(device));
  return &context->allocator();
}

}  // namespace

absl::StatusOr<IntrusivePtr<Storage>> Storage::Allocate(size_t bytes, Device device, AllocTag tag) {
  FIRN_ASSIGN_OR_RETURN(Allocator * allocator, AllocatorOf(device));
  FIRN_ASSIGN_OR_RETURN(const Block block, allocator->Allocate(bytes, tag));
  return IntrusivePtr<Storage>::Adopt(new Storage(block.data, bytes, device, allocator, block));
}

IntrusivePtr<Storage> Storage::Borrow(void* data, size_t bytes, Device device,
                                      std::function<void(void*)> release) {
  auto storage = IntrusivePtr<Storage>::Adopt(new Storage(data, bytes, device, nullptr, Block()));
  storage->release_ = std::move(release);
  return storage;
}

void Storage::GiveBack() noexcept {
  if (allocator_ != nullptr) {
    allocator_->Free(block_);
  } else if (release_) {
    release_(data_);
  }
}

}  // namespace firn
