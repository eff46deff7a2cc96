#ifndef FIRN_DEVICE_COMM_NCCL_SESSION_H_
#define FIRN_DEVICE_COMM_NCCL_SESSION_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/nccl_api.h"
#include "firn/device/context.h"
#include "firn/device/internal/cuda_context.h"

namespace firn::comm {

// NCCL's communicator of one rank, with the stream that its calls are queued on and a thread that
// looks after them: NCCL itself waits for other ranks for ever. Only one thread may use it, except
// for Fail.
class NcclSession {
 public:
  // A send or receive, which is queued together with those that are started before one is waited
  // for: NCCL must be given calls that need each other in one group.
  struct Message {
    Collective call;
    std::shared_ptr<Event> done;  // null until it is queued
  };

  // Work of the device that was recorded, with calls in it.
  struct Recorded {
    std::string name;                      // for errors
    std::unique_ptr<Recording> recording;  // null once the communicator has ended
  };

  // Blocks until all ranks of `host` have called it; DeadlineExceeded after its timeout. An error
  // that ends the calls of `host` ends those of the device, too. Requires: a context of a CUDA
  // device, which lives on.
  static absl::StatusOr<std::shared_ptr<NcclSession>> Begin(
      const NcclApi& api, inner::internal::CudaDeviceContext& device, const Communicator& host,
      const NcclId& id);
  ~NcclSession();
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;

  inner::internal::CudaDeviceContext& device() { return device_; }
  absl::Duration timeout() const { return timeout_; }

  // Queues a call that is neither a message nor a barrier, behind all on the device's stream. The
  // event comes when it is done.
  absl::StatusOr<std::shared_ptr<Event>> Queue(const Collective& call);
  absl::StatusOr<std::shared_ptr<Message>> Hold(const Collective& call);
  // Queues messages that are held.
  absl::Status Flush();
  // Has the device's stream wait.
  absl::Status Wait(const Event& done);

  // Records what `queue` queues on the device's stream, with the calls that it makes here and waits
  // for; all ranks record the same calls. Recordings end with the communicator, since NCCL waits
  // for their end before its own.
  absl::StatusOr<std::shared_ptr<Recorded>> Record(absl::FunctionRef<absl::Status()> queue)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Launches it on the device's stream, behind all calls that were queued; all ranks do so, each
  // with what it has recorded together with the others.
  absl::Status Launch(const Recorded& recorded) ABSL_LOCKS_EXCLUDED(mutex_);

  // The error that ended the communicator; OK while it works.
  absl::Status failed() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends it: calls on their way stop, and whatever waits for the device next has the error.
  void Fail(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct InFlight {
    std::string call;
    std::shared_ptr<Event> ready, done;
    std::optional<absl::Time> since = {};  // when the device was first seen to have come to it
  };

  NcclSession(const NcclApi& api, inner::internal::CudaDeviceContext& device,
              std::unique_ptr<Stream> stream, const Communicator& host)
      : api_(api),
        device_(device),
        stream_(std::move(stream)),
        rank_(host.rank()),
        timeout_(host.timeout()),
        failures_of_host_(host.Failures()) {}

  absl::StatusOr<std::shared_ptr<Event>> QueueNamed(
      const std::string& name, absl::FunctionRef<int(NcclComm, void* stream)> queue)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Like QueueNamed, but after an error it is the caller who ends the communicator.
  absl::StatusOr<std::shared_ptr<Event>> QueueOrFail(
      const std::string& name, absl::FunctionRef<int(NcclComm, void* stream)> queue)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status LaunchOrFail(const Recorded& recorded) ABSL_LOCKS_EXCLUDED(mutex_);
  // FailedPrecondition while the device records, and not for Record: NCCL wants a call recorded on
  // all ranks or on none.
  absl::Status CheckNotRecording() const;
  // The error for a code of NCCL's. While the code is "in progress", waits without the mutex, so
  // that others can end the call.
  absl::Status Settle(int code, const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ErrorOf(int code, const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Its caller, directly or not, must call AbortFailed afterwards without the mutex, because
  // ncclCommAbort may wait for another thread, and not while it records.
  void FailLocked(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    FailLocked(why, queued_);
  }
  // `of_device`: whether the device may wait for calls that now end.
  void FailLocked(const absl::Status& why, bool of_device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AbortFailed() ABSL_LOCKS_EXCLUDED(mutex_);
  // What was recorded. To be destroyed without the mutex, and before NCCL's communicator ends.
  std::vector<std::unique_ptr<Recording>> TakeRecordings() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<bool> IsOver(InFlight& first);

  const NcclApi& api_;
  inner::internal::CudaDeviceContext& device_;
  const std::unique_ptr<Stream> stream_;
  const int rank_;
  const absl::Duration timeout_;
  const std::function<absl::Status()> failures_of_host_;  // may be null
  std::vector<std::shared_ptr<Message>> held_;
  bool recording_ = false;              // by Record
  std::vector<std::string> in_record_;  // the calls of the recording under way

  absl::Mutex mutex_;
  NcclComm comm_ ABSL_GUARDED_BY(mutex_) = nullptr;
  NcclComm to_abort_ ABSL_GUARDED_BY(mutex_) = nullptr;  // has failed, and is not aborted yet
  std::vector<std::weak_ptr<Recorded>> recorded_ ABSL_GUARDED_BY(mutex_);
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
  std::deque<InFlight> in_flight_ ABSL_GUARDED_BY(mutex_);
  bool queued_ ABSL_GUARDED_BY(mutex_) = false;    // something, ever: the device may wait for it
  bool settling_ ABSL_GUARDED_BY(mutex_) = false;  // a thread waits until its call is queued
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watch_;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_NCCL_SESSION_H_
