// Calls of NCCL do not block here: a call that has not ended is asked again until it has, or until
// the time is over. On the device they are kernels, which wait for those of other ranks for ever.
// So a thread looks at the first one that is not done, and where that has not ended in time aborts
// the communicator, which ends its kernels, and leaves the error with the device for whoever reads
// what they should have written. The time of a call begins when the device has come to it, not when
// it was queued.

#include "firn/device/comm/nccl_session.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

constexpr absl::Duration kPause = absl::Microseconds(50);  // of a thread that asks whether it ended
constexpr absl::Duration kLongestPauseOfTheWatch = absl::Milliseconds(100);
// How long the end of a communicator without errors waits for data that other ranks still read.
constexpr absl::Duration kLongestEnd = absl::Seconds(5);

bool IsError(int code) { return code != kNcclSuccess && code != kNcclInProgress; }

}  // namespace

absl::StatusOr<std::shared_ptr<NcclSession>> NcclSession::Begin(
    const NcclApi& api, inner::internal::CudaDeviceContext& device, const Communicator& host,
    const NcclId& id) {
  // This also makes the device the thread's own, which is the one that NCCL takes.
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, device.NewStream());
  std::shared_ptr<NcclSession> session(new NcclSession(api, device, std::move(stream), host));
  absl::Status begun;
  {
    const absl::MutexLock lock(&session->mutex_);
    NcclConfig config;
    const int code =
        api.comm_init_rank_config(&session->comm_, host.size(), id, host.rank(), &config);
    begun = session->Settle(code, "ncclCommInitRankConfig");
  }
  if (!begun.ok()) {
    session->AbortFailed();
    return begun;
  }
  session->watch_ = std::thread([s = session.get()] { s->Watch(); });
  return session;
}

NcclSession::~NcclSession() {
  if (watch_.joinable()) {
    // The watch aborts calls that do not end. An error of the device may come from work that others
    // wait for.
    if (const absl::Status status = stream_->Synchronize(); !status.ok()) device_.Fail(status);
    {
      const absl::MutexLock lock(&mutex_);
      closing_ = true;
    }
    watch_.join();
  }
  NcclComm comm = nullptr;
  std::vector<std::unique_ptr<Recording>> recordings;
  {
    const absl::MutexLock lock(&mutex_);
    comm = std::exchange(comm_, nullptr);
    recordings = TakeRecordings();
  }
  recordings.clear();
  if (comm == nullptr) return;
  int code = api_.comm_finalize(comm);
  for (const absl::Time until = absl::Now() + std::min(timeout_, kLongestEnd);
       code == kNcclInProgress && absl::Now() < until; absl::SleepFor(kPause)) {
    if (api_.comm_get_async_error(comm, &code) != kNcclSuccess) code = kNcclInternalError;
  }
  static_cast<void>(code == kNcclSuccess ? api_.comm_destroy(comm) : api_.comm_abort(comm));
}

absl::Status NcclSession::failed() {
  const absl::MutexLock lock(&mutex_);
  return failed_;
}

void NcclSession::Fail(const absl::Status& why) {
  {
    const absl::MutexLock lock(&mutex_);
    FailLocked(why);
  }
  AbortFailed();
}

void NcclSession::FailLocked(const absl::Status& why, bool of_device) {
  if (!failed_.ok()) return;
  failed_ = why;
  if (of_device) device_.Fail(why);  // before anybody who waits for these calls goes on
  to_abort_ = std::exchange(comm_, nullptr);
  in_flight_.clear();
}

void NcclSession::AbortFailed() {
  NcclComm comm = nullptr;
  std::vector<std::unique_ptr<Recording>> recordings;
  {
    const absl::MutexLock lock(&mutex_);
    comm = std::exchange(to_abort_, nullptr);
    if (comm != nullptr) recordings = TakeRecordings();
  }
  recordings.clear();  // one that runs goes when it is done, which the abort brings about
  if (comm != nullptr) static_cast<void>(api_.comm_abort(comm));
}

std::vector<std::unique_ptr<Recording>> NcclSession::TakeRecordings() {
  std::vector<std::unique_ptr<Recording>> taken;
  for (const std::weak_ptr<Recorded>& weak : std::exchange(recorded_, {})) {
    if (const std::shared_ptr<Recorded> r = weak.lock()) taken.push_back(std::move(r->recording));
  }
  return taken;
}

absl::Status NcclSession::ErrorOf(int code, const std::string& name) {
  const char* const what = api_.get_error_string(code);
  const char* const more = comm_ == nullptr ? nullptr : api_.get_last_error(comm_);
  const bool says_more = more != nullptr && *more != '\0';
  FailLocked(Internal(name, " on rank ", rank_, " (", device_.device().ToString(), "): ",
                      what == nullptr ? "" : what, says_more ? ": " : "", says_more ? more : ""));
  return failed_;
}

absl::Status NcclSession::Settle(int code, const std::string& name) {
  const absl::Time start = absl::Now();
  const auto has_failed = [this] { return !failed_.ok(); };
  while (code == kNcclInProgress) {
    if (absl::Now() - start > timeout_) {
      FailLocked(absl::DeadlineExceededError(
          absl::StrCat(name, " on rank ", rank_, " (", device_.device().ToString(), ") waited ",
                       absl::FormatDuration(timeout_), " for other ranks")));
      return failed_;
    }
    // Others may end it meanwhile.
    if (mutex_.AwaitWithTimeout(absl::Condition(&has_failed), kPause)) return failed_;
    int state = kNcclSuccess;
    code = api_.comm_get_async_error(comm_, &state);
    if (code == kNcclSuccess) code = state;
  }
  return code == kNcclSuccess ? absl::OkStatus() : ErrorOf(code, name);
}

absl::StatusOr<std::shared_ptr<Event>> NcclSession::QueueNamed(
    const std::string& name, absl::FunctionRef<int(NcclComm, void*)> queue) {
  absl::StatusOr<std::shared_ptr<Event>> done = QueueOrFail(name, queue);
  if (done.ok()) return done;
  // A recording that fails has done nothing, unless NCCL has found the error. Then Record ends the
  // communicator, since ncclCommAbort waits for the end of the recording.
  if (!recording_) Fail(done.status());
  return done;
}

absl::StatusOr<std::shared_ptr<Event>> NcclSession::QueueOrFail(
    const std::string& name, absl::FunctionRef<int(NcclComm, void*)> queue) {
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<Event> ready, device_.NewEvent());
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<Event> done, device_.NewEvent());
  FIRN_RETURN_IF_ERROR(ready->Record(device_.stream()));
  FIRN_RETURN_IF_ERROR(stream_->Wait(*ready));
  const absl::MutexLock lock(&mutex_);
  FIRN_RETURN_IF_ERROR(failed_);
  queued_ |= !recording_;
  settling_ = true;
  const absl::Status settled = Settle(queue(comm_, stream_->handle()), name);
  settling_ = false;
  FIRN_RETURN_IF_ERROR(settled);
  FIRN_RETURN_IF_ERROR(done->Record(*stream_));
  if (recording_) {
    in_record_.push_back(name);  // nobody can ask these events
  } else {
    in_flight_.push_back({name, std::move(ready), done});
  }
  return done;
}

absl::Status NcclSession::CheckNotRecording() const {
  FIRN_RETURN_IF(device_.recording() && !recording_,
                 FailedPrecondition("calls of other ranks on ", device_.device().ToString(),
                                    " are recorded by all ranks or by none (want a call that is"
                                    " not recorded)"));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Event>> NcclSession::Queue(const Collective& call) {
  FIRN_ASSIGN_OR_RETURN(const int type, NcclTypeOf(call.element));
  FIRN_ASSIGN_OR_RETURN(const int op, NcclOpOf(call.reduction));
  FIRN_RETURN_IF_ERROR(CheckNotRecording());
  FIRN_RETURN_IF_ERROR(Flush());
  const auto count = static_cast<size_t>(call.count);
  return QueueNamed(call.ToString(), [&](NcclComm comm, void* stream) {
    switch (call.kind) {
      case CollectiveKind::kBroadcast:
        return api_.broadcast(call.in, call.out, count, type, call.root, comm, stream);
      case CollectiveKind::kReduce:
        return api_.reduce(call.in, call.out, count, type, op, call.root, comm, stream);
      case CollectiveKind::kAllReduce:
        return api_.all_reduce(call.in, call.out, count, type, op, comm, stream);
      case CollectiveKind::kAllGather:
        return api_.all_gather(call.in, call.out, count, type, comm, stream);
      case CollectiveKind::kReduceScatter:
        return api_.reduce_scatter(call.in, call.out, count, type, op, comm, stream);
      case CollectiveKind::kBarrier:
      case CollectiveKind::kSend:
      case CollectiveKind::kRecv:
        break;
    }
    return kNcclInvalidArgument;
  });
}

absl::StatusOr<std::shared_ptr<NcclSession::Message>> NcclSession::Hold(const Collective& call) {
  FIRN_RETURN_IF_ERROR(NcclTypeOf(call.element).status());
  FIRN_RETURN_IF(recording_, Unimplemented("messages between two ranks are not recorded"));
  FIRN_RETURN_IF_ERROR(CheckNotRecording());
  FIRN_RETURN_IF_ERROR(failed());
  held_.push_back(std::make_shared<Message>(Message{call, nullptr}));
  return held_.back();
}

absl::Status NcclSession::Flush() {
  if (held_.empty()) return absl::OkStatus();
  const std::vector<std::shared_ptr<Message>> messages = std::exchange(held_, {});
  std::string name = messages[0]->call.ToString();
  if (messages.size() > 1) absl::StrAppend(&name, " and ", messages.size() - 1, " more");
  const auto queue = [&](NcclComm comm, void* stream) {
    int code = api_.group_start();
    if (IsError(code)) return code;
    for (const auto& m : messages) {
      const Collective& c = m->call;
      const int type = NcclTypeOf(c.element).value_or(0);
      const auto count = static_cast<size_t>(c.count);
      code = c.kind == CollectiveKind::kSend ? api_.send(c.in, count, type, c.root, comm, stream)
                                             : api_.recv(c.out, count, type, c.root, comm, stream);
      if (IsError(code)) break;
    }
    // The group is always ended: an open group belongs to the thread and takes in all its later
    // calls.
    const int end = api_.group_end();
    return IsError(code) ? code : end;
  };
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<Event> done, QueueNamed(name, queue));
  for (const auto& m : messages) m->done = done;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<NcclSession::Recorded>> NcclSession::Record(
    absl::FunctionRef<absl::Status()> queue) {
  FIRN_RETURN_IF_ERROR(Flush());
  in_record_.clear();
  recording_ = true;
  absl::Cleanup ended = [this] { recording_ = false; };
  absl::StatusOr<std::unique_ptr<Recording>> recording = device_.Record(queue);
  std::move(ended).Invoke();
  if (recording.ok()) {
    std::string name =
        absl::StrCat("a recorded run with ", in_record_.size(), " calls of all ranks");
    if (!in_record_.empty()) absl::StrAppend(&name, ", the first ", in_record_[0], ",");
    auto recorded = std::make_shared<Recorded>(Recorded{std::move(name), *std::move(recording)});
    const absl::MutexLock lock(&mutex_);
    if (failed_.ok()) {
      std::erase_if(recorded_, [](const auto& r) { return r.expired(); });
      recorded_.push_back(recorded);
      return recorded;
    }
  }
  AbortFailed();
  FIRN_RETURN_IF_ERROR(failed());
  return recording.status();
}

absl::Status NcclSession::Launch(const Recorded& recorded) {
  FIRN_RETURN_IF_ERROR(Flush());
  absl::Status launched = LaunchOrFail(recorded);
  if (!launched.ok()) Fail(launched);
  return launched;
}

// The device sees the calls of a launch as part of its own stream, so both streams wait for each
// other around it: NCCL's calls must not overtake each other.
absl::Status NcclSession::LaunchOrFail(const Recorded& recorded) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Event> before, device_.NewEvent());
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<Event> ready, device_.NewEvent());
  FIRN_ASSIGN_OR_RETURN(std::shared_ptr<Event> done, device_.NewEvent());
  FIRN_RETURN_IF_ERROR(before->Record(*stream_));
  FIRN_RETURN_IF_ERROR(device_.stream().Wait(*before));
  FIRN_RETURN_IF_ERROR(ready->Record(device_.stream()));
  const absl::MutexLock lock(&mutex_);
  FIRN_RETURN_IF_ERROR(failed_);
  queued_ = true;
  FIRN_RETURN_IF_ERROR(recorded.recording->Launch(device_.stream()));
  FIRN_RETURN_IF_ERROR(done->Record(device_.stream()));
  FIRN_RETURN_IF_ERROR(stream_->Wait(*done));
  in_flight_.push_back({recorded.name, std::move(ready), std::move(done)});
  return absl::OkStatus();
}

absl::Status NcclSession::Wait(const Event& done) {
  FIRN_RETURN_IF_ERROR(device_.stream().Wait(done));
  return failed();
}

absl::StatusOr<bool> NcclSession::IsOver(InFlight& first) {
  FIRN_ASSIGN_OR_RETURN(const bool done, first.done->Done());
  if (done) return true;
  FIRN_ASSIGN_OR_RETURN(const bool ready, first.ready->Done());
  if (ready && !first.since) first.since = absl::Now();
  return false;
}

absl::Status NcclSession::Look() {
  if (comm_ == nullptr) return absl::OkStatus();
  int state = kNcclSuccess;
  if (!settling_) {  // else it is asked about a call that is not among these yet
    const int code = api_.comm_get_async_error(comm_, &state);
    if (code != kNcclSuccess) state = code;
  }
  while (!in_flight_.empty()) {
    InFlight& first = in_flight_.front();
    FIRN_ASSIGN_OR_RETURN(const bool over, IsOver(first));
    if (over) {
      in_flight_.pop_front();
      continue;
    }
    if (first.since && absl::Now() - *first.since > timeout_) {
      return absl::DeadlineExceededError(
          absl::StrCat(first.call, " on rank ", rank_, " (", device_.device().ToString(),
                       ") waited ", absl::FormatDuration(timeout_), " for other ranks"));
    }
    break;
  }
  if (!IsError(state)) return absl::OkStatus();
  return ErrorOf(state, in_flight_.empty() ? "NCCL" : in_flight_.front().call);
}

void NcclSession::Watch() {
  const absl::Duration pause = std::min(timeout_ / 10, kLongestPauseOfTheWatch);
  while (true) {
    const absl::Status host = failures_of_host_ == nullptr ? absl::OkStatus() : failures_of_host_();
    {
      const absl::MutexLock lock(&mutex_);
      if (const absl::Status status = Look(); !status.ok()) FailLocked(status);
      // Results of finished calls may be read, whatever other ranks do.
      if (!host.ok()) FailLocked(host, settling_ || !in_flight_.empty());
    }
    AbortFailed();
    const absl::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&closing_), pause)) return;
  }
}

}  // namespace firn::comm
