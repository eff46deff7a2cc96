#ifndef FIRN_DEVICE_FORK_H_
#define FIRN_DEVICE_FORK_H_

#include <mutex>

#include "firn/device/inner.h"

// What happens around fork(). The child has a copy of all memory and of one thread only: a lock
// that another thread had stays locked there, and threads that waited for work do not exist.

namespace firn::inner {

// The order in which locks are taken: a thread that holds one may take only locks of later kinds.
enum class ForkOrder {
  kGenerators,  // a generator is made of tensors
  kTables,
  kHeap,
};

// Locks `mutex`, which must live as long as the process, while the process is copied: a child finds
// it free, and what it guards whole.
void KeepOverFork(std::mutex& mutex, ForkOrder order);

// Calls `before` on the thread that forks, before locks are taken, and `in_child` on the child's
// only thread. False where the system has no memory for it: forks then go on without handlers.
bool AddForkHandler(void (*before)(), void (*in_child)());

}  // namespace firn::inner

#endif  // FIRN_DEVICE_FORK_H_
