#ifndef FIRN_DEVICE_INTERNAL_LAUNCH_TRACE_H_
#define FIRN_DEVICE_INTERNAL_LAUNCH_TRACE_H_

#include <cstddef>
#include <vector>

#include "firn/device/internal/cuda_api.h"

namespace firn::inner::internal {

// Some launches that followed each other, with copies of their arguments. A plain value.
class LaunchTrace {
 public:
  // A device waits for so many launches at most, and one call to the driver for so many costs next
  // to nothing for each.
  static constexpr size_t kMost = 64;

  size_t size() const { return launches_.size(); }
  bool full() const { return size() == kMost; }
  void Add(const CudaLaunch& launch);
  void Clear();

  // The i-th launch; its argument lives as long as the trace is not changed.
  CudaLaunch operator[](size_t i) const;

  // Whether the i-th launch does what `launch` does: the same kernel on equal bytes.
  bool Is(size_t i, const CudaLaunch& launch) const;

  // The same for the first n launches of both. Requires: both have them.
  bool Begins(size_t n, const LaunchTrace& other) const;

  // The first n launches. Requires: there are so many.
  LaunchTrace First(size_t n) const;

 private:
  struct Entry {
    CudaLaunch launch;  // without its argument
    size_t place;       // of the argument, in arguments_
  };
  std::vector<Entry> launches_;
  std::vector<std::max_align_t> arguments_;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_LAUNCH_TRACE_H_
