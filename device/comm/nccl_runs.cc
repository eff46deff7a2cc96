// Each run begins with the numbers of all ranks' places, which the host's communicator gathers. All
// ranks keep the same list of what they have seen, because each changes it by what all have
// gathered; so they decide alike and say nothing more, except whether a recording has worked.

#include "firn/device/comm/nccl_runs.h"

#include <algorithm>

#include "firn/device/comm/shared_status.h"
#include "firn/device/status_macros.h"

namespace firn::comm {

NcclRuns::Together* NcclRuns::Find(const std::vector<int64_t>& numbers) {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Together& t) { return t.numbers == numbers; });
  return found == known_.end() ? nullptr : &*found;
}

absl::Status NcclRuns::Record(Together& together, absl::FunctionRef<absl::Status()> queue) {
  auto recorded = session_.Record(queue);
  FIRN_RETURN_IF_ERROR(StatusOfAll(host_, recorded.status()));
  together.recorded = *std::move(recorded);
  return absl::OkStatus();
}

absl::StatusOr<bool> NcclRuns::Run(const std::shared_ptr<const RunPlace>& place,
                                   absl::FunctionRef<absl::Status()> queue, std::string& why) {
  // Memory that is gone is not run on again.
  for (Together& t : known_) {
    if (t.mine.expired()) t.recorded = nullptr;
  }
  const int64_t mine = place == nullptr ? 0 : place->number();
  std::vector<int64_t> numbers(static_cast<size_t>(host_.size()));
  FIRN_RETURN_IF_ERROR(host_.AllGather(&mine, numbers.data(), 1, Element::kI64));
  const bool all = std::count(numbers.begin(), numbers.end(), 0) == 0;
  Together* const together = all ? Find(numbers) : nullptr;
  if (together == nullptr) {
    if (all && known_.size() == kMost) {
      known_.erase(std::min_element(
          known_.begin(), known_.end(),
          [](const Together& a, const Together& b) { return a.last_used < b.last_used; }));
    }
    if (all) known_.push_back({.numbers = std::move(numbers), .mine = place, .last_used = ++runs_});
    FIRN_RETURN_IF_ERROR(queue());
    return false;
  }
  together->last_used = ++runs_;
  if (together->recorded == nullptr && together->failure.empty()) {
    const absl::Status recorded = Record(*together, queue);
    if (!recorded.ok()) together->failure = why = std::string(recorded.message());
  }
  if (!together->failure.empty()) {
    FIRN_RETURN_IF_ERROR(queue());
    return false;
  }
  FIRN_RETURN_IF_ERROR(session_.Launch(*together->recorded));
  return true;
}

}  // namespace firn::comm
