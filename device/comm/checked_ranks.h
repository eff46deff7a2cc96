#ifndef FIRN_DEVICE_COMM_CHECKED_RANKS_H_
#define FIRN_DEVICE_COMM_CHECKED_RANKS_H_

#include <memory>

#include "firn/device/comm/communicator.h"

namespace firn::comm {

// A communicator whose ranks tell each other what they are about to do. Where these calls differ,
// in kind, number of elements, element, reduction, root or order, every rank gets
// FailedPrecondition before data moves, which names the first rank unlike rank 0 and what both
// called. Later calls fail too, since Abort is called. Communicators that Split gives check in the
// same way, and name each rank by its own number and by that in `ranks`.
//
// Each call costs a small all_gather, and Start waits until all ranks start the same call. So a
// rank must not send a message before it starts a call of all ranks if the receiver starts that
// call before it receives. For a message the receiver compares both calls in its Wait, when data
// may have arrived.
//
// Either all ranks use a checked communicator or none does. With FIRN_CHECK_COLLECTIVES=1,
// WorldRanks and ThreadRanks give checked ones.
std::unique_ptr<Communicator> CheckedRanks(std::unique_ptr<Communicator> ranks);

// CheckedRanks where FIRN_CHECK_COLLECTIVES asks for it and there are several ranks.
std::unique_ptr<Communicator> CheckedIfAsked(std::unique_ptr<Communicator> ranks);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_CHECKED_RANKS_H_
