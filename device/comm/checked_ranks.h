#ifndef FIRN_DEVICE_COMM_CHECKED_RANKS_H_
#define FIRN_DEVICE_COMM_CHECKED_RANKS_H_

#include <memory>

#include "firn/device/comm/communicator.h"

namespace firn::comm {

// A communicator whose ranks tell each other what they are about to do. Where these calls differ,
// in kind, number of elements, element, reduction, root or order, the call is FailedPrecondition on
// every rank before data moves, and names the first rank unlike rank 0 and what both called; so are
// those that follow, since Abort is called too. Parts that Split gives do the same, and name ranks
// as their own and as `ranks` counts them.
//
// It costs a small all_gather for each call, and Start waits for the ranks to start the same: a
// rank must not send, before it starts a call of all, what another receives after it has started
// that. With a message the receiver compares what both have called, in its Wait, when data may have
// arrived.
//
// All ranks have one or none has. FIRN_CHECK_COLLECTIVES=1 has WorldRanks and ThreadRanks give
// such.
std::unique_ptr<Communicator> CheckedRanks(std::unique_ptr<Communicator> ranks);

// CheckedRanks where FIRN_CHECK_COLLECTIVES asks for it and there are several ranks.
std::unique_ptr<Communicator> CheckedIfAsked(std::unique_ptr<Communicator> ranks);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_CHECKED_RANKS_H_
