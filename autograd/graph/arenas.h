#ifndef FIRN_AUTOGRAD_GRAPH_ARENAS_H_
#define FIRN_AUTOGRAD_GRAPH_ARENAS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/plan.h"
#include "firn/device/device.h"
#include "firn/device/inner.h"
#include "firn/tensor/storage.h"

namespace firn {

// A piece of a graph's temporary memory.
struct ArenaPiece {
  Lifetime life;
  Device device;
};

// The temporary memory of a frozen graph: one arena a device.
class Arenas {
 public:
  // Plans and takes memory for the pieces, in place of the arenas from before. Errors:
  // ResourceExhausted if an arena would need more than `max_bytes`, or more than the device has
  // left.
  absl::Status Make(absl::Span<const ArenaPiece> pieces, int64_t max_bytes);

  // Where a piece lies, by its number in Make's list.
  char* place(size_t piece) const { return places_[piece]; }

  // The device with the largest arena, and its plan (whose offsets are of that device's pieces).
  Device main_device() const { return main_device_; }
  const MemoryPlan& main_plan() const { return main_plan_; }

 private:
  absl::Status MakeOn(Device device, absl::Span<const ArenaPiece> pieces, int64_t max_bytes);

  std::vector<IntrusivePtr<Storage>> memory_;
  std::vector<char*> places_;
  Device main_device_;
  MemoryPlan main_plan_;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_ARENAS_H_
