// Either launches follow the track of a known trace, or they make a new one.
//
// The third time that a trace comes, it is replayed. The first time it is new. The second time it
// is on a track without a recording, which is made at its end (recording runs nothing). From the
// third time on, launches are held back.
#include "firn/device/internal/cuda_replay.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_status.h"
#include "firn/device/status_macros.h"

namespace firn {
namespace inner::internal {
namespace {

std::atomic<int64_t> replayed = 0;

}  // namespace

CudaReplay::~CudaReplay() {
  while (!known_.empty()) Forget(known_.size() - 1);
}

absl::Status CudaReplay::Queue(const CudaLaunch& launch) {
  if (!enabled_) return Launch(launch);
  const std::lock_guard lock(mutex_);
  if (paused_ > 0) return Launch(launch);
  if (passing_ > 0) {
    --passing_;
    return Launch(launch);
  }
  if (new_.size() != 0) return BeginNew(launch);  // goes on with it
  Known* const known = track_ == nullptr ? Starting(launch) : Continuing(launch);
  if (known != nullptr) return Follow(known, launch);
  FIRN_RETURN_IF_ERROR(LeaveTrack());
  return BeginNew(launch);
}

absl::Status CudaReplay::End() {
  if (!enabled_) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  Known* const known = track_ == nullptr ? nullptr : EndingHere();
  if (known == nullptr) {
    const absl::Status status = LeaveTrack();
    KeepNew();
    return status;
  }
  absl::Status status;
  if (known->graph == nullptr) status = LaunchHeld();
  track_ = known;
  status.Update(Complete());
  return status;
}

absl::Status CudaReplay::Pause() {
  FIRN_RETURN_IF_ERROR(End());
  const std::lock_guard lock(mutex_);
  ++paused_;
  return absl::OkStatus();
}

void CudaReplay::Resume() {
  const std::lock_guard lock(mutex_);
  --paused_;
}

absl::Status CudaReplay::Launch(const CudaLaunch& launch) {
  if (launch.call != nullptr) return launch.call(launch.argument, stream_);
  return CudaStatus(api_, api_.Launch(device_, launch, stream_), "cudaLaunchKernel");
}

// --- On a track ----------------------------------------------------------------------------------

CudaReplay::Known* CudaReplay::Starting(const CudaLaunch& launch) const {
  if (last_ != nullptr && last_->next != nullptr && last_->next->trace.Is(0, launch)) {
    return last_->next;
  }
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& k) { return k->trace.Is(0, launch); });
  return found == known_.end() ? nullptr : found->get();
}

// The trace that is followed, or another one that began in the same way.
CudaReplay::Known* CudaReplay::Continuing(const CudaLaunch& launch) const {
  if (track_->trace.Is(at_, launch)) return track_;
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const auto& k) {
    return k->trace.size() > at_ && k->trace.Is(at_, launch) && k->trace.Begins(at_, track_->trace);
  });
  return found == known_.end() ? nullptr : found->get();
}

// A known trace of exactly the launches that came; the trace that is followed is longer.
CudaReplay::Known* CudaReplay::EndingHere() const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const auto& k) {
    return k->trace.size() == at_ && k->trace.Begins(at_, track_->trace);
  });
  return found == known_.end() ? nullptr : found->get();
}

absl::Status CudaReplay::Follow(Known* known, const CudaLaunch& launch) {
  const bool starts = track_ == nullptr;
  if (!starts && holding_ && known->graph == nullptr) FIRN_RETURN_IF_ERROR(LaunchHeld());
  track_ = known;
  if (starts) holding_ = known->graph != nullptr;
  ++at_;
  if (!holding_) FIRN_RETURN_IF_ERROR(Launch(launch));
  return at_ == known->trace.size() ? Complete() : absl::OkStatus();
}

absl::Status CudaReplay::Complete() {
  Known& known = *std::exchange(track_, nullptr);
  const bool held = std::exchange(holding_, false);
  at_ = 0;
  misses_ = 0;
  known.last_used = ++clock_;
  if (last_ != nullptr) last_->next = &known;
  last_ = &known;
  if (held) {
    replayed.fetch_add(static_cast<int64_t>(known.trace.size()), std::memory_order_relaxed);
    return CudaStatus(api_, api_.LaunchGraph(device_, known.graph, stream_), "cudaGraphLaunch");
  }
  return known.graph == nullptr && !known.refused ? Record(known) : absl::OkStatus();
}

// What was followed so far becomes the beginning of a new trace.
absl::Status CudaReplay::LeaveTrack() {
  if (track_ == nullptr) return absl::OkStatus();
  const absl::Status status = LaunchHeld();
  new_ = track_->trace.First(at_);
  track_ = nullptr;
  at_ = 0;
  return status;
}

absl::Status CudaReplay::LaunchHeld() {
  if (!std::exchange(holding_, false)) return absl::OkStatus();
  absl::Status status;
  for (size_t i = 0; i < at_; ++i) status.Update(Launch(track_->trace[i]));
  return status;
}

// A graph that cannot be made is no error: the launches go one by one as before.
absl::Status CudaReplay::Record(Known& known) {
  known.refused = true;
  if (known.trace.size() < kFewest) return absl::OkStatus();
  if (api_.BeginRecording(device_, stream_) != 0) return absl::OkStatus();
  absl::Status status;
  for (size_t i = 0; i < known.trace.size(); ++i) status.Update(Launch(known.trace[i]));
  void* graph = nullptr;
  const int code = api_.EndRecording(device_, stream_, &graph);
  if (code == 0 && status.ok()) {
    known.graph = graph;
    known.refused = false;
  } else if (graph != nullptr) {
    static_cast<void>(api_.DestroyGraph(device_, graph));
  }
  return absl::OkStatus();
}

// --- New traces ----------------------------------------------------------------------------------

absl::Status CudaReplay::BeginNew(const CudaLaunch& launch) {
  new_.Add(launch);
  if (new_.full()) KeepNew();
  return Launch(launch);
}

void CudaReplay::KeepNew() {
  if (new_.size() == 0) return;
  if (known_.size() == kMostKnown) {
    const auto oldest =
        std::min_element(known_.begin(), known_.end(),
                         [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
    Forget(static_cast<size_t>(oldest - known_.begin()));
  }
  Known& known = *known_.emplace_back(std::make_unique<Known>());
  known.trace = std::exchange(new_, LaunchTrace());
  known.last_used = ++clock_;
  if (last_ != nullptr) last_->next = &known;
  last_ = &known;
  if (++misses_ < kPatience) return;
  misses_ = 0;
  passing_ = kPassing;
}

void CudaReplay::Forget(size_t at) {
  const Known* const gone = known_[at].get();
  if (gone->graph != nullptr) static_cast<void>(api_.DestroyGraph(device_, gone->graph));
  for (const auto& k : known_) {
    if (k->next == gone) k->next = nullptr;
  }
  if (last_ == gone) last_ = nullptr;
  known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace inner::internal

int64_t CudaReplayedLaunches() { return internal::replayed.load(std::memory_order_relaxed); }

}  // namespace firn
