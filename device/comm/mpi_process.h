#ifndef FIRN_DEVICE_COMM_MPI_PROCESS_H_
#define FIRN_DEVICE_COMM_MPI_PROCESS_H_

// State that outlives all sessions of MPI, since it is needed while the process ends. Thread-safe.
// In a child of fork(), which has neither ranks nor threads, nothing is kept or stopped.

#include <memory>

namespace firn::comm {

// Keeps memory that MPI may still write after an error, in any later call of MPI: it is never
// freed.
void KeepForever(std::shared_ptr<void> memory);

// Calls stop(session) when the process ends, before the destructors of libraries that are loaded by
// now, unless ForgetTheEnd is called before: a thread within such a library would use objects that
// are destroyed already. Returns false where that is not possible.
bool AtTheEnd(void* session, void (*stop)(void* session));
void ForgetTheEnd(void* session);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_PROCESS_H_
