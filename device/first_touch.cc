// A huge page comes at once where the system has one free. Otherwise the kernel moves others' pages
// together first, or, in a virtual machine, takes one that the machine below has yet to provide;
// either costs milliseconds, which no file of /proc predicts, while 512 small pages are mostly
// free. So the thread's time for each huge page is measured; other programs' work does not count in
// it. After a slow one, no thread asks for the next 64.
#include "firn/device/first_touch.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "firn/device/environment.h"
#include "firn/device/internal/slab_source.h"

namespace firn::inner::internal {
namespace {

constexpr int64_t kPause = 64;  // huge pages
std::atomic<int64_t> pause = 0;

int64_t ThreadNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

bool Asked() {
  static const bool asked = env::HugePages();
  return asked;
}

char* Up(char* at) { return at + -reinterpret_cast<uintptr_t>(at) % kHugePageBytes; }

char* Down(char* at) { return at - reinterpret_cast<uintptr_t>(at) % kHugePageBytes; }

}  // namespace

FirstTouch::FirstTouch(char* begin, size_t bytes, int64_t most_ns)
    : first_(Up(begin)),
      last_(Asked() ? std::max(first_, Down(begin + bytes)) : first_),
      next_(first_),
      most_ns_(most_ns) {}

FirstTouch::~FirstTouch() {
  if (gave_up_) madvise(first_, static_cast<size_t>(last_ - first_), MADV_HUGEPAGE);
}

void FirstTouch::Reach(const char* end) {
  while (next_ < last_ && next_ < end) {
    const auto left = static_cast<int64_t>(static_cast<size_t>(last_ - next_) / kHugePageBytes);
    // Two threads may take the same part of the pause: it becomes shorter, and nothing else.
    const int64_t paused = pause.load(std::memory_order_relaxed);
    if (paused > 0) {
      const int64_t small = std::min(left, paused);
      pause.store(paused - small, std::memory_order_relaxed);
      const size_t bytes = static_cast<size_t>(small) * kHugePageBytes;
      madvise(next_, bytes, MADV_NOHUGEPAGE);
      gave_up_ = true;
      next_ += bytes;
      continue;
    }
    const int64_t start = ThreadNs();
    *const_cast<volatile char*>(next_) = 0;
    if (ThreadNs() - start > most_ns_) pause.store(kPause, std::memory_order_relaxed);
    next_ += kHugePageBytes;
  }
}

}  // namespace firn::inner::internal
