// One plan a device: pieces on different devices never share memory.
#include "firn/autograd/graph/arenas.h"

#include <algorithm>
#include <utility>

#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/storage.h"

namespace firn {

absl::Status Arenas::Make(absl::Span<const ArenaPiece> pieces, int64_t max_bytes) {
  memory_.clear();
  places_.assign(pieces.size(), nullptr);
  main_device_ = Device();
  main_plan_ = MemoryPlan();
  std::vector<Device> devices = {Device::Cpu()};  // the device has an arena even if that is empty
  for (const ArenaPiece& piece : pieces) {
    if (std::find(devices.begin(), devices.end(), piece.device) != devices.end()) continue;
    devices.push_back(piece.device);
  }
  for (Device device : devices) FIRN_RETURN_IF_ERROR(MakeOn(device, pieces, max_bytes));
  return absl::OkStatus();
}

absl::Status Arenas::MakeOn(Device device, absl::Span<const ArenaPiece> pieces, int64_t max_bytes) {
  std::vector<Lifetime> lives;
  for (const ArenaPiece& piece : pieces) {
    if (piece.device == device) lives.push_back(piece.life);
  }
  MemoryPlan plan = PlanMemory(lives);
  FIRN_RETURN_IF(plan.arena_bytes > max_bytes,
                 ResourceExhausted(
                     "temporaries need ", plan.arena_bytes, " bytes, more than the ", max_bytes,
                     " allowed (max_arena_bytes; limits.max_total_bytes for a graph from a file)"));
  // Memory that the captured run left in the cache would from now on be held beside the arena.
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  context->allocator().EmptyCache();
  FIRN_ASSIGN_OR_RETURN(
      IntrusivePtr<Storage> memory,
      Storage::Allocate(static_cast<size_t>(plan.arena_bytes), device, AllocTag::kArena));
  size_t next = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].device != device) continue;
    places_[i] = static_cast<char*>(memory->data()) + plan.offsets[next++];
  }
  memory_.push_back(std::move(memory));
  if (memory_.size() > 1 && plan.arena_bytes <= main_plan_.arena_bytes) return absl::OkStatus();
  main_device_ = device;
  main_plan_ = std::move(plan);
  return absl::OkStatus();
}

}  // namespace firn
