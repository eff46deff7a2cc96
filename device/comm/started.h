#ifndef FIRN_DEVICE_COMM_STARTED_H_
#define FIRN_DEVICE_COMM_STARTED_H_

// Calls that this thread has started and not yet waited for, known by the memory that they write.
// So two operations, of which one starts and the other waits, need to share nothing else.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// Starts a call. FailedPrecondition where one into the same memory is on its way.
absl::Status StartInto(Communicator& ranks, const Collective& call);
// Waits for the first one that was started into this memory. FailedPrecondition where this thread
// has started none.
absl::Status WaitInto(const void* out);

// Whether this thread has started a call into this memory that nobody has waited for, so that it
// may be written at any time. False for a call without elements.
bool IsStarted(const void* out);

// Keeps `what`, which owns the memory of the last call that was started into `out`, until that call
// is done: an exception between the start and the wait must not free it.
void KeepUntilDone(const void* out, std::shared_ptr<const void> what);

// Grows with each start.
uint64_t StartedSoFar();
// Waits for those that were started after StartedSoFar() was `mark` and that nobody has waited for,
// and returns their first error. Afterwards their memory may be freed.
absl::Status WaitForAllSince(uint64_t mark);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_STARTED_H_
