// Arguments lie one behind the other, each aligned as any argument may need it.
#include "firn/device/internal/launch_trace.h"

#include <cstring>

namespace firn::inner::internal {

void LaunchTrace::Add(const CudaLaunch& launch) {
  constexpr size_t kUnit = sizeof(std::max_align_t);
  const size_t place = arguments_.size();
  arguments_.resize(place + (launch.argument_bytes + kUnit - 1) / kUnit);
  if (launch.argument_bytes != 0) {
    std::memcpy(arguments_.data() + place, launch.argument, launch.argument_bytes);
  }
  launches_.push_back({launch, place});
}

void LaunchTrace::Clear() {
  launches_.clear();
  arguments_.clear();
}

CudaLaunch LaunchTrace::operator[](size_t i) const {
  CudaLaunch launch = launches_[i].launch;
  launch.argument = arguments_.data() + launches_[i].place;
  return launch;
}

bool LaunchTrace::Is(size_t i, const CudaLaunch& launch) const {
  const CudaLaunch& mine = launches_[i].launch;
  return mine.kernel == launch.kernel && mine.call == launch.call &&
         mine.on_host == launch.on_host && mine.blocks == launch.blocks &&
         mine.threads == launch.threads && mine.shared_bytes == launch.shared_bytes &&
         mine.argument_bytes == launch.argument_bytes &&
         std::memcmp(arguments_.data() + launches_[i].place, launch.argument,
                     launch.argument_bytes) == 0;
}

bool LaunchTrace::Begins(size_t n, const LaunchTrace& other) const {
  for (size_t i = n; i-- > 0;) {  // later launches differ more often
    if (!Is(i, other[i])) return false;
  }
  return true;
}

LaunchTrace LaunchTrace::First(size_t n) const {
  LaunchTrace first;
  for (size_t i = 0; i < n; ++i) first.Add((*this)[i]);
  return first;
}

}  // namespace firn::inner::internal
