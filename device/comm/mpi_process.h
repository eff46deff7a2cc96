#ifndef FIRN_DEVICE_COMM_MPI_PROCESS_H_
#define FIRN_DEVICE_COMM_MPI_PROCESS_H_

// What outlives all sessions of MPI, since it is needed while the process ends. Thread-safe. In a
// child of fork(), which has neither ranks nor threads, nothing of it happens.

#include <memory>

namespace firn::comm {

// Memory that MPI may still write after something failed, which it does whoever calls it: never
// freed.
void KeepForever(std::shared_ptr<void> memory);

// Has stop(session) called when the process ends, before what libraries do then that have been
// loaded so far, unless ForgetTheEnd is called before: a thread in a library whose destructors run
// would find what is no longer there. False where that is not possible.
bool AtTheEnd(void* session, void (*stop)(void* session));
void ForgetTheEnd(void* session);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_PROCESS_H_
