// A handful of entries, searched in order: comparing addresses costs next to nothing beside a
// launch.
#include "firn/autograd/graph/recordings.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn {

Recordings::Entry& Recordings::EntryFor(absl::Span<char* const> addresses) {
  for (Entry& e : entries_) {
    if (std::equal(e.addresses.begin(), e.addresses.end(), addresses.begin(), addresses.end())) {
      return e;
    }
  }
  if (entries_.size() == kMost) {
    entries_.erase(
        std::min_element(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.last_used < b.last_used; }));
  }
  return entries_.emplace_back(Entry{{addresses.begin(), addresses.end()}, nullptr, 0});
}

void Recordings::Note(const std::string& failure) {
  failure_ = absl::StrCat("the device could not record it: ", failure);
  std::fprintf(stderr, "firn: a frozen graph runs kernel by kernel on %s: %s\n",
               device_.ToString().c_str(), failure.c_str());
}

absl::Status Recordings::RunWithRanks(comm::RecordedRuns& ranks, absl::Span<char* const> addresses,
                                      absl::FunctionRef<absl::Status()> queue) {
  Entry& entry = EntryFor(addresses);
  entry.last_used = ++runs_;
  if (entry.place == nullptr) entry.place = std::make_shared<const comm::RunPlace>();
  std::string failure;
  FIRN_ASSIGN_OR_RETURN(const bool launched, ranks.Run(entry.place, queue, failure));
  launches_ += launched ? 1 : 0;
  if (!failure.empty() && failure_.empty()) Note(failure);
  return absl::OkStatus();
}

absl::Status Recordings::Run(absl::Span<char* const> addresses,
                             absl::FunctionRef<absl::Status()> queue) {
  if (!failure_.empty()) return queue();
  Entry& entry = EntryFor(addresses);
  const bool seen = entry.last_used != 0;
  entry.last_used = ++runs_;
  if (!seen) return queue();
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device_));
  if (entry.recording == nullptr) {
    absl::StatusOr<std::unique_ptr<Recording>> recording = context->Record(queue);
    if (!recording.ok()) {
      Note(std::string(recording.status().message()));
      entries_.clear();
      return queue();
    }
    entry.recording = *std::move(recording);
  }
  ++launches_;
  return entry.recording->Launch(context->stream());
}

}  // namespace firn
