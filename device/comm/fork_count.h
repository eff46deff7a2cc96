#ifndef FIRN_DEVICE_COMM_FORK_COUNT_H_
#define FIRN_DEVICE_COMM_FORK_COUNT_H_

namespace firn::comm {

// How many calls of fork() made this process, counted from the first call of this function on; -1
// where the system cannot tell. A call of getpid instead would take longer than the rest of a small
// collective.
int ForkCount();

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_FORK_COUNT_H_
