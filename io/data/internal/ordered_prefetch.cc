// A ring of `ahead` slots under one lock. Workers claim indices in order while claimed - taken <
// ahead, so a slot is free again before its next index can be claimed, and the taker always waits
// for a slot that a worker fills. An exception of `make` is kept in the slot.
#include "firn/io/data/internal/ordered_prefetch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {

OrderedPrefetch::OrderedPrefetch(int64_t begin, int64_t end, int threads, int64_t ahead,
                                 std::function<Sample(int64_t)> make)
    : end_(end),
      make_(std::move(make)),
      slots_(static_cast<size_t>(std::clamp<int64_t>(end - begin, 1, ahead))),
      claimed_(begin),
      taken_(begin) {
  const auto wanted = static_cast<int>(std::min<int64_t>(threads, end - begin));
  workers_.reserve(static_cast<size_t>(wanted));
  for (int i = 0; i < wanted; ++i) {
    try {
      workers_.emplace_back([this] { Work(); });
    } catch (const std::system_error& e) {
      if (!workers_.empty()) break;  // fewer threads give the same samples
      RaiseStatus(ResourceExhausted("cannot start a thread: ", e.what()), "prefetch");
    }
  }
}

OrderedPrefetch::~OrderedPrefetch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Sample OrderedPrefetch::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  Slot& slot = SlotOf(taken_);
  ready_.wait(lock, [&] { return slot.ready; });
  Slot result = std::exchange(slot, Slot());
  ++taken_;
  lock.unlock();
  work_.notify_one();
  if (result.error) std::rethrow_exception(result.error);
  return std::move(result.sample);
}

void OrderedPrefetch::Work() {
  const SerialScope serial;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] {
      return stop_ || claimed_ == end_ || claimed_ - taken_ < static_cast<int64_t>(slots_.size());
    });
    if (stop_ || claimed_ == end_) return;
    const int64_t i = claimed_++;
    lock.unlock();
    Slot made{.ready = true, .sample = {}, .error = nullptr};
    try {
      made.sample = make_(i);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    SlotOf(i) = std::move(made);
    ready_.notify_one();
  }
}

}  // namespace firn::io::internal
