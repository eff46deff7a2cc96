#include "firn/device/comm/mpi_session.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

constexpr int kThreadSerialized = 2;  // MPI_THREAD_SERIALIZED, in both interfaces
constexpr int kNoteTag = 1;
constexpr absl::Duration kListenEvery = absl::Milliseconds(5);
// How often data is moved while the program computes: 16 MB in steps of 32 kB would take 50 ms.
constexpr absl::Duration kMoveEvery = absl::Microseconds(100);
// How long others have to say that they wait, too: they started to about when this rank did.
constexpr absl::Duration kGrace = absl::Seconds(2);

}  // namespace

template <class Abi>
MpiSession<Abi>::MpiSession(const MpiApi<Abi>& api, absl::Duration timeout)
    : api_(api), timeout_(timeout), exceptions_(std::uncaught_exceptions()), notes_(api.world) {}

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
    Fail(FailedPrecondition("MPI has ended in this process, for good"));
    return failed_;
  }
  FIRN_RETURN_IF_ERROR(StatusOf(api_.initialized(&is_there), "MPI_Initialized"));
  if (is_there == 0) {
    FIRN_RETURN_IF_ERROR(StatusOf(api_.init_thread(nullptr, nullptr, kThreadSerialized, &provided),
                                  "MPI_Init_thread"));
    ends_mpi_ = true;
  }
  FIRN_RETURN_IF_ERROR(StatusOf(api_.comm_dup(api_.world, &notes_), "MPI_Comm_dup"));
  for (const Handle comm : {api_.world, notes_}) {
    FIRN_RETURN_IF_ERROR(
        StatusOf(api_.comm_set_errhandler(comm, api_.errors_return), "MPI_Comm_set_errhandler"));
  }
  FIRN_RETURN_IF_ERROR(StatusOf(api_.comm_rank(notes_, &rank_), "MPI_Comm_rank"));
  FIRN_RETURN_IF_ERROR(StatusOf(api_.comm_size(notes_, &size_), "MPI_Comm_size"));
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
  if (size_ > 1 && provided >= kThreadSerialized) {
    try {
      mover_ = std::thread([this] { MoveData(); });
    } catch (const std::system_error&) {  // there are enough: data moves while ranks wait
    }
  }
  return absl::OkStatus();
}

template <class Abi>
void MpiSession<Abi>::MoveData() {
  const auto has_work = [this] { return over_ || (on_their_way_ > 0 && failed_.ok()); };
  const absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(&has_work));
    if (over_) return;
    Listen();  // any call of MPI moves what there is
    mutex_.AwaitWithTimeout(absl::Condition(&over_), kMoveEvery);
  }
}

template <class Abi>
MpiSession<Abi>::~MpiSession() {
  {
    const absl::MutexLock lock(&mutex_);
    over_ = true;
  }
  if (mover_.joinable()) mover_.join();
  if (std::uncaught_exceptions() > exceptions_ && failed_.ok()) GiveUp("it ends by an exception");
  // What others still wait for cannot be finished.
  if (!ends_mpi_ || !failed_.ok()) return;
  for (auto& [rank, request] : listening_) {
    api_.cancel(&request);
    api_.request_free(&request);
  }
  api_.finalize();
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
    if (!StatusOf(api_.test(&request, &done, api_.no_status), "MPI_Test").ok()) return true;
    if (done == 0) return false;
  }
  return true;
}

template <class Abi>
absl::Status MpiSession<Abi>::Wait(absl::Span<Handle> requests, const std::string& call) {
  const absl::MutexLock lock(&mutex_);
  FIRN_RETURN_IF_ERROR(failed_);
  if (Done(requests)) return failed_;
  const absl::Time start = absl::Now();
  absl::Time listen = start + kListenEvery;
  for (int turns = 0; !Done(requests); ++turns) {
    // Ranks that compute side by side on one core each come within microseconds.
    if (turns > 100) {
      mutex_.Unlock();
      turns < 1000 ? static_cast<void>(sched_yield()) : static_cast<void>(usleep(20));
      mutex_.Lock();
    }
    const absl::Time now = absl::Now();
    if (now < listen) continue;
    listen = now + kListenEvery;
    Listen();
    FIRN_RETURN_IF_ERROR(failed_);
    if (now - start > timeout_) return TimedOut(call);
  }
  return failed_;
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
    // Others may be gone: then nobody is to be told.
    api_.isend(note.get(), sizeof(Note), api_.u8, r, kNoteTag, notes_, &request);
    said_.push_back(std::move(note));
  }
}

template <class Abi>
void MpiSession<Abi>::Listen() {
  for (size_t i = 0; i < listening_.size(); ++i) {
    auto& [rank, request] = listening_[i];
    int came = 0;
    if (api_.test(&request, &came, api_.no_status) != 0 || came == 0) continue;
    Heard(heard_[i]);
    api_.irecv(&heard_[i], sizeof(Note), api_.u8, rank, kNoteTag, notes_, &request);
  }
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
  return failed_;
}

template <class Abi>
void MpiSession<Abi>::GiveUp(const std::string& why) {
  const absl::MutexLock lock(&mutex_);
  if (!failed_.ok()) return;
  Say(Kind::kGaveUp, why);
  Fail(absl::AbortedError(absl::StrCat("rank ", rank_, " gave up: ", why)));
}

template class MpiSession<OpenMpi>;
template class MpiSession<Mpich>;

}  // namespace firn::comm
