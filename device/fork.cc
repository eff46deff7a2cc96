// One set of handlers for all of Firn, so that their order does not depend on which library came
// first: handlers that may end threads, which free memory, run before locks are taken; locks are
// taken in the library's own order.
#include "firn/device/fork.h"

#include <pthread.h>

#include <array>
#include <atomic>

#include "firn/device/check.h"

namespace firn {
namespace {

// Few are needed: the locks and handlers of the library's own global tables.
constexpr size_t kMost = 8;

// A list that grows by one at a time and that any thread reads when it forks.
template <class T>
class List {
 public:
  void Add(T item) {
    const size_t at = taken_.fetch_add(1);
    FIRN_CHECK(at < kMost, "more than ", kMost, " locks or handlers are kept over a fork");
    items_[at].store(item);
  }
  T operator[](size_t i) const { return items_[i].load(); }

 private:
  std::array<std::atomic<T>, kMost> items_ = {};
  std::atomic<size_t> taken_ = 0;
};

constexpr size_t kOrders = 3;
constinit std::array<List<std::mutex*>, kOrders> locks;
constinit List<void (*)()> before_fork, in_child;

// The locks that are held now: more may be added meanwhile. Guarded by `forking`.
constinit std::mutex forking;
constinit std::array<std::array<std::mutex*, kMost>, kOrders> locked = {};

void Before() {
  for (size_t i = 0; i < kMost; ++i) {
    if (const auto f = before_fork[i]) f();
  }
  forking.lock();
  for (size_t order = 0; order < locks.size(); ++order) {
    for (size_t i = 0; i < kMost; ++i) {
      locked[order][i] = locks[order][i];
      if (locked[order][i] != nullptr) locked[order][i]->lock();
    }
  }
}

void InBoth() {
  for (size_t order = locks.size(); order-- > 0;) {
    for (size_t i = kMost; i-- > 0;) {
      if (locked[order][i] != nullptr) locked[order][i]->unlock();
    }
  }
  forking.unlock();
}

void InChild() {
  InBoth();
  for (size_t i = 0; i < kMost; ++i) {
    if (const auto f = in_child[i]) f();
  }
}

bool Register() {
  static const bool registered = pthread_atfork(Before, InBoth, InChild) == 0;
  return registered;
}

}  // namespace

void inner::KeepOverFork(std::mutex& mutex, ForkOrder order) {
  locks[static_cast<size_t>(order)].Add(&mutex);
  Register();
}

bool inner::AddForkHandler(void (*before)(), void (*child)()) {
  before_fork.Add(before);
  in_child.Add(child);
  return Register();
}

}  // namespace firn
