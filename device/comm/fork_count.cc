#include "firn/device/comm/fork_count.h"

#include <pthread.h>

#include <atomic>

namespace firn::comm {
namespace {

std::atomic<int> forks = 0;

}  // namespace

int ForkCount() {
  static const bool notices =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
  return notices ? forks.load(std::memory_order_relaxed) : -1;
}

}  // namespace firn::comm
