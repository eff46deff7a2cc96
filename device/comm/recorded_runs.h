#ifndef FIRN_DEVICE_COMM_RECORDED_RUNS_H_
#define FIRN_DEVICE_COMM_RECORDED_RUNS_H_

// Work of a device with calls of other ranks in it, recorded (as a CUDA graph) and launched again.
// NCCL wants a call recorded on all ranks or on none, and a recording launched together with those
// that were made with it; but each rank has addresses of its own, which decide what it can launch.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// Stands for the memory that a run works on. Whoever asks for runs keeps it as long as runs on this
// memory may come; its recordings end with the next run of these ranks.
class RunPlace {
 public:
  RunPlace();
  // 1 or more, another one for each place of the process.
  int64_t number() const { return number_; }

 private:
  const int64_t number_;
};

// What communicators do whose calls can be recorded (nccl_ranks.h).
class RecordedRuns {
 public:
  virtual ~RecordedRuns() = default;

  // Runs what `queue` queues. All ranks call it together, and each says by `place` on which memory
  // of its own it runs; null: not to be recorded. The first run with places that come together is
  // an ordinary one, the second is recorded, and later ones launch the recordings. Where one of the
  // ranks cannot record, all run what `queue` queues, then and whenever these places come again.
  //
  // `queue` must wait for the calls that it starts. Returns whether the run was a launch. `why`
  // becomes the error of a recording that failed, with the rank. Errors: those of `queue` and of
  // the communicator, on all ranks also one that ended a rank's communicator while it recorded;
  // FailedPrecondition where a rank makes another call of the host's in place of a run;
  // DeadlineExceeded where a rank does not come to a run.
  virtual absl::StatusOr<bool> Run(const std::shared_ptr<const RunPlace>& place,
                                   absl::FunctionRef<absl::Status()> queue, std::string& why) = 0;
};

// Null for ranks whose calls are not recorded.
RecordedRuns* RecordedRunsOf(Communicator& ranks);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_RECORDED_RUNS_H_
