#ifndef FIRN_DEVICE_COMM_MPI_SESSION_H_
#define FIRN_DEVICE_COMM_MPI_SESSION_H_

// State that all communicators of a process share: MPI itself, the first error, and the notes about
// errors that ranks send one another over a communicator of its own.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "firn/device/comm/mpi_api.h"
#include "firn/device/comm/shared_calls.h"

namespace firn::comm {

// Libraries move data only while they are called, so a thread of the session calls MPI now and then
// while the program computes. All calls are made by one thread at a time, that which holds mutex().
// A child that was forked has no such thread, and no ranks: it may end a session, and nothing else.
template <class Abi>
class MpiSession {
 public:
  using Handle = typename Abi::Handle;

  static absl::StatusOr<std::shared_ptr<MpiSession>> Begin(const MpiLibrary& library,
                                                           absl::Duration timeout);
  // Ends MPI together with the other ranks. If something failed, an exception is on its way or a
  // rank does not come in time, tells the other ranks instead, and the launcher ends those that are
  // left.
  ~MpiSession();

  absl::Mutex& mutex() { return mutex_; }
  absl::Duration timeout() const { return timeout_; }
  const MpiApi<Abi>& api() const { return api_; }
  // Notes that there are at least so many ranks on this machine. Requires: mutex() is held.
  void NoteLocalRanks(int ranks);
  int rank() const { return rank_; }
  int size() const { return size_; }
  const absl::Status& failed() const { return failed_; }  // requires: mutex() is held

  // FailedPrecondition in a child of the process that began this, where a lock may be held for
  // ever.
  absl::Status CheckProcess() const;
  // Notes an error of MPI's as the first error. Requires: mutex() is held.
  absl::Status StatusOf(int code, const char* function);
  using Words = absl::FunctionRef<std::string()>;
  // Waits for all requests; `call` names the call that they belong to.
  absl::Status Wait(absl::Span<Handle> requests, Words call) {
    return WaitUntil([&] { return Done(requests); }, call);
  }
  // Waits for a call through shared memory.
  absl::Status Wait(const SharedCalls& calls, uint64_t number, Words call) {
    return WaitUntil([&] { return calls.IsDone(number); }, call);
  }
  // Advances all calls through shared memory, after which failed() may hold an error. Every wait
  // does so too, and the thread, since another rank may wait for any of these calls. Calls count
  // from Add to Remove. Requires: mutex() is held.
  void AdvanceShared();
  void Add(SharedCalls* calls) { shared_.push_back(calls); }
  void Remove(SharedCalls* calls) { std::erase(shared_, calls); }
  // Tells all ranks that this one gives up.
  void GiveUp(const std::string& why);
  // What has failed, with the notes that have come; on any thread. OK while another thread calls
  // MPI, since that listens itself.
  absl::Status Heard();
  // A call that goes on while the program does something else begins, or is over. Requires: mutex()
  // is held.
  enum class Way { kMpi, kSharedMemory };
  void NoteBegun(Way way) {
    ++on_their_way_;
    if (way == Way::kMpi) ++through_mpi_;
    moved_ = absl::Now();
  }
  void NoteDone(Way way) {
    --on_their_way_;
    if (way == Way::kMpi) --through_mpi_;
  }
  // Ends the thread, because the process ends.
  void StopMoving();

 private:
  enum class Kind : int32_t { kGaveUp, kWaiting };
  struct Note {
    Kind kind;
    int32_t rank;
    char text[248];  // ends in 0
  };

  MpiSession(const MpiApi<Abi>& api, absl::Duration timeout);
  absl::Status Open();
  absl::Status ListenToAll();
  void StartMoving();
  // What the thread does.
  void MoveData();
  bool Done(absl::Span<Handle> requests);
  absl::Status WaitUntil(absl::FunctionRef<bool()> done, Words call);
  absl::Status WaitLocked(absl::FunctionRef<bool()> done, Words call);
  // Pauses between two checks whether data has moved; it has not for `unmoved`.
  void Rest(absl::Duration unmoved);
  void Say(Kind kind, const std::string& text);
  // Takes the notes that have come: from all other ranks, or from one, in order.
  void Listen();
  void ListenTo(size_t i);
  void Heard(const Note& note);
  absl::Status TimedOut(const std::string& call);
  // How long not to call MPI, which moves no data while other ranks are late.
  absl::Duration Pause(absl::Duration least) const;
  // Whether all ranks have come to the end.
  bool EndsTogether();
  // Whether no receive writes into heard_ any longer.
  bool StopListening();
  void Fail(const absl::Status& why);

  const MpiApi<Abi> api_;
  const absl::Duration timeout_;
  const int exceptions_;  // on their way when this was made
  const pid_t process_;
  const int forks_;  // ForkCount() of this process
  int rank_ = 0, size_ = 1;
  bool ends_mpi_ = false;
  bool any_thread_ = false;  // whether others than the first may call MPI, one at a time
  int local_size_ = 1;
  bool has_core_ = true;  // of its own, as all ranks of the machine
  absl::Status failed_;
  Handle notes_;                                   // the communicator of notes
  std::vector<std::pair<int, Handle>> listening_;  // a receive from each other rank
  std::vector<Note> heard_;                        // where they arrive, in the same order
  std::vector<bool> waiting_;                      // ranks that have said that they wait
  std::vector<std::unique_ptr<Note>> said_;        // on their way, for good

  absl::Mutex mutex_;
  int on_their_way_ = 0, through_mpi_ = 0;  // calls that go on meanwhile, and those of them
  int waits_ = 0;                           // threads
  absl::Time moved_;                        // when a call of MPI had something to do
  std::vector<SharedCalls*> shared_;
  bool over_ = false;
  std::thread mover_;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_SESSION_H_
