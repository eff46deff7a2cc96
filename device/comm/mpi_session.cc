#include "firn/device/comm/mpi_session.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/comm/fork_count.h"
#include "firn/device/comm/mpi_process.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

constexpr int kThreadSerialized = 2;  // MPI_THREAD_SERIALIZED, in both interfaces
constexpr int kNoteTag = 1;
constexpr absl::Duration kListenEvery = absl::Milliseconds(5);
// How often data is moved while the program computes: 16 MB in steps of 32 kB would take 50 ms.
constexpr absl::Duration kMoveEvery = absl::Microseconds(100);
// Shared memory takes megabytes at a time, and each look takes a core from what is computed there.
constexpr absl::Duration kMoveSharedEvery = absl::Milliseconds(1);
// After its timeout a rank asks so long for notes that others wait, too, since they began to wait
// at about the same time.
constexpr absl::Duration kGrace = absl::Seconds(2);
// A call of MPI's that takes longer has moved data: a call that finds nothing to do takes a
// microsecond.
constexpr absl::Duration kMovesData = absl::Microseconds(20);
// While no data moves, the pause between calls is this part of the time that has passed, within
// these limits.
constexpr int kPartOfTheWait = 50;
constexpr absl::Duration kLongestPause = absl::Milliseconds(2);
constexpr absl::Duration kLeastPause = absl::Microseconds(20);
// How long a wait keeps its core busy before it yields, where every rank has a core and where not,
// and after how long it sleeps.
constexpr absl::Duration kSpin = absl::Milliseconds(1);
constexpr absl::Duration kSpinTogether = absl::Microseconds(5);
constexpr absl::Duration kYield = absl::Milliseconds(5);

// MPI keeps what is on its way when something fails, and cannot be begun again.
std::atomic<bool> has_failed = false;

template <class Abi>
void StopMoverOf(void* session) {
  static_cast<MpiSession<Abi>*>(session)->StopMoving();
}

}  // namespace

template <class Abi>
MpiSession<Abi>::MpiSession(const MpiApi<Abi>& api, absl::Duration timeout)
    : api_(api),
      timeout_(timeout),
      exceptions_(std::uncaught_exceptions()),
      process_(getpid()),
      forks_(ForkCount()),
      notes_(api.world) {}

template <class Abi>
absl::StatusOr<std::shared_ptr<MpiSession<Abi>>> MpiSession<Abi>::Begin(const MpiLibrary& library,
                                                                        absl::Duration timeout) {
  FIRN_ASSIGN_OR_RETURN(const MpiApi<Abi> api, FindMpi<Abi>(library));
  std::shared_ptr<MpiSession> session(new MpiSession(api, timeout));
  FIRN_RETURN_IF_ERROR(session->Open());
  return session;
}

template <class Abi>
absl::Status MpiSession<Abi>::Open() {
  int is_there = 0, is_over = 0, provided = 0;
  FIRN_RETURN_IF_ERROR(StatusOf(api_.finalized(&is_over), "MPI_Finalized"));
  if (is_over != 0) {
    return FailedPrecondition("MPI has ended in this process, for good");
  }
  FIRN_RETURN_IF(
      has_failed,
      FailedPrecondition("calls of MPI have failed in this process before; start it again"));
  FIRN_RETURN_IF_ERROR(StatusOf(api_.initialized(&is_there), "MPI_Initialized"));
  if (is_there == 0) {
    FIRN_RETURN_IF_ERROR(StatusOf(api_.init_thread(nullptr, nullptr, kThreadSerialized, &provided),
                                  "MPI_Init_thread"));
    ends_mpi_ = true;
  } else {
    FIRN_RETURN_IF_ERROR(StatusOf(api_.query_thread(&provided), "MPI_Query_thread"));
  }
  FIRN_RETURN_IF_ERROR(StatusOf(api_.comm_dup(api_.world, &notes_), "MPI_Comm_dup"));
  for (const Handle comm : {api_.world, notes_}) {
    FIRN_RETURN_IF_ERROR(
        StatusOf(api_.comm_set_errhandler(comm, api_.errors_return), "MPI_Comm_set_errhandler"));
  }
  FIRN_RETURN_IF_ERROR(StatusOf(api_.comm_rank(notes_, &rank_), "MPI_Comm_rank"));
  FIRN_RETURN_IF_ERROR(StatusOf(api_.comm_size(notes_, &size_), "MPI_Comm_size"));
  FIRN_RETURN_IF_ERROR(ListenToAll());
  any_thread_ = provided >= kThreadSerialized;
  if (size_ > 1 && any_thread_) StartMoving();
  return absl::OkStatus();
}

template <class Abi>
void MpiSession<Abi>::NoteLocalRanks(int ranks) {
  local_size_ = std::max(local_size_, ranks);
  has_core_ = local_size_ <= sysconf(_SC_NPROCESSORS_ONLN);
}

template <class Abi>
absl::Status MpiSession<Abi>::ListenToAll() {
  waiting_.assign(static_cast<size_t>(size_), false);
  heard_.resize(static_cast<size_t>(size_) - 1);
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    Handle request{};
    Note& note = heard_[listening_.size()];
    FIRN_RETURN_IF_ERROR(StatusOf(
        api_.irecv(&note, sizeof(Note), api_.u8, r, kNoteTag, notes_, &request), "MPI_Irecv"));
    listening_.emplace_back(r, request);
  }
  return absl::OkStatus();
}

template <class Abi>
void MpiSession<Abi>::StartMoving() {
  if (!AtTheEnd(this, StopMoverOf<Abi>)) return;
  try {
    mover_ = std::thread([this] { MoveData(); });
  } catch (const std::system_error&) {  // other calls move data while ranks wait
  }
}

template <class Abi>
void MpiSession<Abi>::MoveData() {
  const auto has_work = [this] {
    return over_ || (on_their_way_ > 0 && waits_ == 0 && failed_.ok());
  };
  const absl::MutexLock lock(&mutex_);
  for (size_t next = 0;; ++next) {
    mutex_.Await(absl::Condition(&has_work));
    if (over_) return;
    ListenTo(next % listening_.size());  // any call of MPI moves what there is
    AdvanceShared();
    mutex_.AwaitWithTimeout(absl::Condition(&over_),
                            Pause(through_mpi_ > 0 ? kMoveEvery : kMoveSharedEvery));
  }
}

template <class Abi>
void MpiSession<Abi>::StopMoving() {
  // A thread that holds the mutex for longer is in a call of MPI's that does not return; the mover
  // then waits.
  for (int tries = 0; !mutex_.TryLock(); ++tries) {
    if (tries == 1000) return;
    absl::SleepFor(absl::Milliseconds(1));
  }
  over_ = true;
  mutex_.Unlock();
  if (mover_.joinable()) mover_.join();
}

template <class Abi>
MpiSession<Abi>::~MpiSession() {
  if (getpid() != process_) {
    // Only the parent has the thread and the ranks.
    if (mover_.joinable()) new std::thread(std::move(mover_));
    return;
  }
  ForgetTheEnd(this);
  {
    const absl::MutexLock lock(&mutex_);
    over_ = true;
  }
  if (mover_.joinable()) mover_.join();
  if (std::uncaught_exceptions() > exceptions_ && failed_.ok()) GiveUp("it ends by an exception");
  // What others still wait for cannot be finished.
  const bool ends = ends_mpi_ && failed_.ok() && EndsTogether();
  if (!StopListening()) KeepForever(std::make_shared<std::vector<Note>>(std::move(heard_)));
  if (!said_.empty()) KeepForever(std::make_shared<decltype(said_)>(std::move(said_)));
  if (ends) api_.finalize();
}

template <class Abi>
bool MpiSession<Abi>::EndsTogether() {
  // MPI_Finalize waits for all ranks, even for one that has failed and goes on for long.
  Handle request{};
  return StatusOf(api_.ibarrier(notes_, &request), "MPI_Ibarrier").ok() &&
         Wait(absl::MakeSpan(&request, 1), [] { return std::string("the end of MPI"); }).ok();
}

template <class Abi>
bool MpiSession<Abi>::StopListening() {
  int is_over = 0;  // where the program itself has ended MPI
  if (!failed_.ok() || api_.finalized(&is_over) != 0 || is_over != 0) return false;
  for (auto& [rank, request] : listening_) {
    int done = 0;
    if (api_.cancel(&request) != 0) return false;
    const absl::Time until = absl::Now() + absl::Seconds(1);  // a receive is cancelled at once
    while (api_.test(&request, &done, api_.no_status) == 0 && done == 0 && absl::Now() < until) {
    }
    if (done == 0) return false;
  }
  return true;
}

template <class Abi>
void MpiSession<Abi>::Fail(const absl::Status& why) {
  if (!failed_.ok()) return;
  failed_ = why;
  has_failed = true;
}

template <class Abi>
absl::Status MpiSession<Abi>::CheckProcess() const {
  if (forks_ >= 0 && ForkCount() == forks_) return absl::OkStatus();
  FIRN_RETURN_IF(getpid() != process_,
                 FailedPrecondition("the ranks are those of process ", process_,
                                    ", of which this one is a child (fork)"));
  return absl::OkStatus();
}

template <class Abi>
absl::Duration MpiSession<Abi>::Pause(absl::Duration least) const {
  return std::clamp((absl::Now() - moved_) / kPartOfTheWait, least, kLongestPause);
}

template <class Abi>
absl::Status MpiSession<Abi>::StatusOf(int code, const char* function) {
  if (code == 0) return absl::OkStatus();
  char text[2048] = {};  // more than any library has
  int length = 0;
  api_.error_string(code, text, &length);
  Fail(Internal(function, ": ", std::string(text)));
  return failed_;
}

template <class Abi>
bool MpiSession<Abi>::Done(absl::Span<Handle> requests) {
  for (Handle& request : requests) {
    int done = 0;
    const absl::Time begin = absl::Now();
    if (!StatusOf(api_.test(&request, &done, api_.no_status), "MPI_Test").ok()) return true;
    const absl::Time end = absl::Now();
    if (done != 0 || end - begin > kMovesData) moved_ = end;
    if (done == 0) return false;
  }
  return true;
}

template <class Abi>
void MpiSession<Abi>::AdvanceShared() {
  for (SharedCalls* const calls : shared_) {
    if (!failed_.ok()) return;  // the memory of calls that failed is the caller's again
    const absl::StatusOr<bool> moved = calls->Advance();
    if (!moved.ok()) {
      Say(Kind::kGaveUp, std::string(moved.status().message()));
      return Fail(moved.status());
    }
    if (*moved) moved_ = absl::Now();
  }
}

template <class Abi>
absl::Status MpiSession<Abi>::WaitUntil(absl::FunctionRef<bool()> done, Words call) {
  FIRN_RETURN_IF_ERROR(CheckProcess());
  const absl::MutexLock lock(&mutex_);
  AdvanceShared();
  FIRN_RETURN_IF_ERROR(failed_);
  if (done()) return failed_;
  ++waits_;  // the thread need not call
  const absl::Status status = WaitLocked(done, call);
  --waits_;
  return status;
}

template <class Abi>
absl::Status MpiSession<Abi>::WaitLocked(absl::FunctionRef<bool()> done, Words call) {
  const absl::Time start = absl::Now();
  moved_ = start;
  absl::Time listen = start + kListenEvery;
  size_t next = 0;
  while (!done()) {
    const absl::Time now = absl::Now();
    Rest(now - moved_);
    AdvanceShared();
    FIRN_RETURN_IF_ERROR(failed_);
    // A wait for shared memory calls MPI for what is on its way there.
    if (through_mpi_ > 0) {
      ListenTo(next++ % listening_.size());
      FIRN_RETURN_IF_ERROR(failed_);
    }
    if (now < listen) continue;
    listen = now + kListenEvery;
    Listen();
    FIRN_RETURN_IF_ERROR(failed_);
    if (now - start > timeout_) return TimedOut(call());
  }
  return failed_;
}

template <class Abi>
void MpiSession<Abi>::Rest(absl::Duration unmoved) {
  // A thread that yields gets its core back when another's time slice is over, which takes
  // milliseconds where there is other work.
  if (unmoved < (has_core_ ? kSpin : kSpinTogether)) return;
  const absl::Duration pause = Pause(kLeastPause);
  mutex_.Unlock();
  unmoved < kYield ? static_cast<void>(sched_yield()) : absl::SleepFor(pause);
  mutex_.Lock();
}

template <class Abi>
void MpiSession<Abi>::Say(Kind kind, const std::string& text) {
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    auto note = std::make_unique<Note>();
    std::memset(note.get(), 0, sizeof(Note));
    note->kind = kind;
    note->rank = rank_;
    std::memcpy(note->text, text.data(), std::min(text.size(), sizeof(note->text) - 1));
    Handle request{};
    // Other ranks may be gone already: then nobody can be told.
    api_.isend(note.get(), sizeof(Note), api_.u8, r, kNoteTag, notes_, &request);
    said_.push_back(std::move(note));
  }
}

template <class Abi>
void MpiSession<Abi>::Listen() {
  for (size_t i = 0; i < listening_.size(); ++i) ListenTo(i);
}

template <class Abi>
void MpiSession<Abi>::ListenTo(size_t i) {
  auto& [rank, request] = listening_[i];
  int came = 0;
  const absl::Time begin = absl::Now();
  const int code = api_.test(&request, &came, api_.no_status);
  const absl::Time end = absl::Now();
  if (end - begin > kMovesData) moved_ = end;
  if (code != 0 || came == 0) return;
  Heard(heard_[i]);
  api_.irecv(&heard_[i], sizeof(Note), api_.u8, rank, kNoteTag, notes_, &request);
}

template <class Abi>
void MpiSession<Abi>::Heard(const Note& note) {
  const std::string text(note.text, strnlen(note.text, sizeof(note.text)));
  if (note.kind == Kind::kWaiting) {
    if (note.rank >= 0 && note.rank < size_) waiting_[static_cast<size_t>(note.rank)] = true;
    return;
  }
  Fail(absl::AbortedError(absl::StrCat("rank ", note.rank, " gave up: ", text)));
}

template <class Abi>
absl::Status MpiSession<Abi>::TimedOut(const std::string& call) {
  Say(Kind::kWaiting, call);
  const absl::Time until = absl::Now() + std::min(kGrace, timeout_);
  while (absl::Now() < until) {
    Listen();
    FIRN_RETURN_IF_ERROR(failed_);
    usleep(1000);
  }
  std::vector<int> missing;
  for (int r = 0; r < size_; ++r) {
    if (r != rank_ && !waiting_[static_cast<size_t>(r)]) missing.push_back(r);
  }
  Fail(absl::DeadlineExceededError(
      absl::StrCat(call, " on rank ", rank_, " waited ", absl::FormatDuration(timeout_),
                   missing.empty() ? std::string(" while all others waited for something else")
                                   : absl::StrCat(" for rank ", absl::StrJoin(missing, ", ")))));
  // Ranks that come later must not wait for this one.
  Say(Kind::kGaveUp, std::string(failed_.message()));
  return failed_;
}

template <class Abi>
void MpiSession<Abi>::GiveUp(const std::string& why) {
  if (getpid() != process_) return;
  const absl::MutexLock lock(&mutex_);
  if (!failed_.ok()) return;
  Say(Kind::kGaveUp, why);
  Fail(absl::AbortedError(absl::StrCat("rank ", rank_, " gave up: ", why)));
}

template <class Abi>
absl::Status MpiSession<Abi>::Heard() {
  if (getpid() != process_ || !mutex_.TryLock()) return absl::OkStatus();
  if (any_thread_ && !over_ && failed_.ok()) Listen();
  const absl::Status heard = failed_;
  mutex_.Unlock();
  return heard;
}

template class MpiSession<OpenMpi>;
template class MpiSession<Mpich>;

}  // namespace firn::comm
