#ifndef FIRN_DEVICE_COMM_MPI_SHARED_H_
#define FIRN_DEVICE_COMM_MPI_SHARED_H_

// Calls through shared memory for an MPI session, which advances them together with its own.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/mpi_session.h"
#include "firn/device/comm/shared_calls.h"
#include "firn/device/comm/shared_memory.h"
#include "firn/device/status_macros.h"

namespace firn::comm {

// The calls through shared memory of one communicator; the object outlives it while a call is on
// its way.
template <class Abi>
class OwnedCalls {
 public:
  OwnedCalls(std::shared_ptr<MpiSession<Abi>> session, std::unique_ptr<SharedMemory> memory,
             int rank, int size)
      : session_(std::move(session)), calls_(std::move(memory), rank, size) {
    const absl::MutexLock lock(&session_->mutex());
    session_->Add(&calls_);
  }
  ~OwnedCalls() {
    if (!session_->CheckProcess().ok()) return;
    const absl::MutexLock lock(&session_->mutex());
    session_->Remove(&calls_);
  }
  MpiSession<Abi>& session() { return *session_; }
  SharedCalls& calls() { return calls_; }  // for who holds the session's mutex

 private:
  const std::shared_ptr<MpiSession<Abi>> session_;
  SharedCalls calls_;
};

template <class Abi>
class SharedPending : public Pending {
 public:
  SharedPending(std::shared_ptr<OwnedCalls<Abi>> owner, const Collective& call,
                bool moves_meanwhile)
      : owner_(std::move(owner)), call_(call), moves_meanwhile_(moves_meanwhile) {}
  ~SharedPending() override { Wait().IgnoreError(); }

  absl::Status Post() {
    MpiSession<Abi>& session = owner_->session();
    FIRN_RETURN_IF_ERROR(session.CheckProcess());
    const absl::MutexLock lock(&session.mutex());
    FIRN_RETURN_IF_ERROR(session.failed());
    number_ = owner_->calls().Start(call_);
    session.AdvanceShared();
    // Others cannot go on without this rank's part, however small it is.
    is_noted_ = moves_meanwhile_ && session.failed().ok() && !owner_->calls().IsDone(*number_);
    if (is_noted_) session.NoteBegun(MpiSession<Abi>::Way::kSharedMemory);
    return session.failed();
  }

  absl::Status Wait() override {
    if (result_) return *result_;
    MpiSession<Abi>& session = owner_->session();
    if (!number_) return *(result_ = session.CheckProcess());
    result_ = session.Wait(owner_->calls(), *number_, [this] { return call_.ToString(); });
    if (std::exchange(is_noted_, false) && session.CheckProcess().ok()) {
      const absl::MutexLock lock(&session.mutex());
      session.NoteDone(MpiSession<Abi>::Way::kSharedMemory);
    }
    return *result_;
  }

 private:
  const std::shared_ptr<OwnedCalls<Abi>> owner_;
  const Collective call_;
  const bool moves_meanwhile_;
  std::optional<uint64_t> number_;  // once it has begun
  bool is_noted_ = false;           // as on its way
  std::optional<absl::Status> result_;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_SHARED_H_
