// Each run begins with the numbers of all ranks' places, which the host's communicator gathers. All
// ranks keep the same list of what they have seen, because each changes it by what all have
// gathered; so they decide alike and say nothing more, except whether a recording has worked.

#include "firn/device/comm/nccl_runs.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/shared_status.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

// Tells the gathering of places from those of other values.
constexpr int64_t kPlaces = 0x6669'726e'2072'756e;

}  // namespace

NcclRuns::Together* NcclRuns::Find(const std::vector<int64_t>& numbers) {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Together& t) { return t.numbers == numbers; });
  return found == known_.end() ? nullptr : &*found;
}

absl::StatusOr<std::vector<int64_t>> NcclRuns::Gather(int64_t mine) {
  const int64_t own[] = {kPlaces, mine};
  std::vector<int64_t> all(2 * static_cast<size_t>(host_.size()));
  // Messages that are held begin with the next call, as they do with a barrier (nccl_ranks.cc).
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Pending> gathered,
                        host_.Start({.kind = CollectiveKind::kAllGather,
                                     .element = Element::kI64,
                                     .count = 2,
                                     .in = own,
                                     .out = all.data()}));
  FIRN_RETURN_IF_ERROR(session_.Flush());
  FIRN_RETURN_IF_ERROR(gathered->Wait());
  std::vector<int64_t> numbers;
  for (size_t rank = 0; 2 * rank < all.size(); ++rank) {
    if (all[2 * rank] == kPlaces) {
      numbers.push_back(all[2 * rank + 1]);
      continue;
    }
    const std::string why =
        absl::StrCat("rank ", rank, " made another call where rank ", host_.rank(),
                     " ran a frozen step (FIRN_RECORD_COLLECTIVES wants it run by all ranks)");
    host_.Abort(why);
    return FailedPrecondition(why);
  }
  return numbers;
}

absl::Status NcclRuns::Record(Together& together, absl::FunctionRef<absl::Status()> queue) {
  auto recorded = session_.Record(queue);
  if (const absl::Status ended = StatusOfAll(host_, session_.failed()); !ended.ok()) {
    session_.Fail(ended);  // calls on their way would wait for that rank
    return ended;
  }
  const absl::Status all = StatusOfAll(host_, recorded.status());
  if (all.ok()) {
    together.recorded = *std::move(recorded);
    return absl::OkStatus();
  }
  // The error may also be one of the exchange itself, which other ranks need not have seen.
  FIRN_RETURN_IF_ERROR(host_.Barrier());
  together.failure = std::string(all.message());
  return absl::OkStatus();
}

absl::StatusOr<bool> NcclRuns::Run(const std::shared_ptr<const RunPlace>& place,
                                   absl::FunctionRef<absl::Status()> queue, std::string& why) {
  // Memory that is gone is not run on again.
  for (Together& t : known_) {
    if (t.mine.expired()) t.recorded = nullptr;
  }
  const int64_t mine = place == nullptr ? 0 : place->number();
  FIRN_ASSIGN_OR_RETURN(std::vector<int64_t> numbers, Gather(mine));
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
    FIRN_RETURN_IF_ERROR(Record(*together, queue));
    why = together->failure;
  }
  if (!together->failure.empty()) {
    FIRN_RETURN_IF_ERROR(queue());
    return false;
  }
  FIRN_RETURN_IF_ERROR(session_.Launch(*together->recorded));
  return true;
}

}  // namespace firn::comm
