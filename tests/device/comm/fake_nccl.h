#ifndef FIRN_TESTS_DEVICE_COMM_FAKE_NCCL_H_
#define FIRN_TESTS_DEVICE_COMM_FAKE_NCCL_H_

#include "firn/device/comm/nccl_api.h"
#include "tests/device/fake_cuda.h"

namespace firn::comm {

// While it lives, NcclRanks finds a stand-in for NCCL, for ranks that are threads of this process,
// each with a device of `cuda`. It does what NCCL's documentation says of communicators that do
// not block: a call queues work that ends when all ranks' devices have come to their calls, which
// never happens if the calls differ; answers ncclInProgress and refuses further calls until it was
// asked whether it has ended, which the first message of a pair and direction has not before both
// sides have called; and checks whose memory and which stream it is given. Calls
// that some ranks have recorded and others have not do not meet either. A group that stays open
// is the thread's: no communicator begins or ends in it. One at a time.
class FakeNccl {
 public:
  explicit FakeNccl(FakeCuda& cuda);
  ~FakeNccl();
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  // What ncclCommGetAsyncError says of that rank's communicators from now on.
  void FailAsync(int rank, int code);
  // Communicators that were made, and how they have ended.
  int made() const;
  int aborted() const;
  int destroyed() const;
  // Calls that queue something, messages of a group as one.
  int queued() const;
  // Communicators that were ended while a recording of their device still had calls in it, or by
  // the thread that was recording. NCCL itself waits there, for ever.
  int ended_in_graphs() const;
};

}  // namespace firn::comm

#endif  // FIRN_TESTS_DEVICE_COMM_FAKE_NCCL_H_
