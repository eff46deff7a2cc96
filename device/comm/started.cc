// One list for each thread: few calls are on their way at once.

#include "firn/device/comm/started.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

struct Started {
  uint64_t number;
  const void* out;
  int64_t count;
  std::shared_ptr<const void> kept;  // goes after the call
  std::unique_ptr<Pending> call;
};

struct OfThread {
  uint64_t last = 0;
  std::vector<Started> calls;  // in the order of their starts
};
thread_local OfThread here;

std::vector<Started>::iterator Find(const void* out) {
  return std::find_if(here.calls.begin(), here.calls.end(),
                      [out](const Started& s) { return s.out == out; });
}

}  // namespace

absl::Status StartInto(Communicator& ranks, const Collective& call) {
  const auto before = Find(call.out);
  FIRN_RETURN_IF(
      before != here.calls.end() && before->count != 0 && call.count != 0,
      FailedPrecondition(call.ToString(),
                         ": a collective call into the same memory is on its way; wait for it"));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Pending> started, ranks.Start(call));
  here.calls.push_back({++here.last, call.out, call.count, nullptr, std::move(started)});
  return absl::OkStatus();
}

absl::Status WaitInto(const void* out) {
  const auto found = Find(out);
  FIRN_RETURN_IF(found == here.calls.end(),
                 FailedPrecondition("this thread has started no collective call into this memory "
                                    "that nobody has waited for"));
  const Started started = std::move(*found);
  here.calls.erase(found);
  return started.call->Wait();
}

bool IsStarted(const void* out) {
  return std::any_of(here.calls.begin(), here.calls.end(),
                     [out](const Started& s) { return s.out == out && s.count != 0; });
}

void KeepUntilDone(const void* out, std::shared_ptr<const void> what) {
  for (auto it = here.calls.rbegin(); it != here.calls.rend(); ++it) {
    if (it->out != out) continue;
    it->kept = std::move(what);
    return;
  }
}

uint64_t StartedSoFar() { return here.last; }

absl::Status WaitForAllSince(uint64_t mark) {
  const auto first = std::find_if(here.calls.begin(), here.calls.end(),
                                  [mark](const Started& s) { return s.number > mark; });
  absl::Status all;
  for (auto it = first; it != here.calls.end(); ++it) all.Update(it->call->Wait());
  here.calls.erase(first, here.calls.end());
  return all;
}

}  // namespace firn::comm
