#ifndef FIRN_IO_DATA_INTERNAL_ORDERED_PREFETCH_H_
#define FIRN_IO_DATA_INTERNAL_ORDERED_PREFETCH_H_

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "firn/io/data/dataset.h"

namespace firn::io::internal {

// Computes make(begin), make(begin + 1), ... make(end - 1) on threads of its own, at most `ahead`
// of them before they are taken, and gives them out in that order. Results do not depend on the
// number of threads. Operations that `make` calls run on their worker alone. Only one thread may
// call Next.
class OrderedPrefetch {
 public:
  // Requires: begin <= end, threads >= 1, ahead >= 1; make may be called from several threads.
  // Throws firn::Error when not a single thread can be started.
  OrderedPrefetch(int64_t begin, int64_t end, int threads, int64_t ahead,
                  std::function<Sample(int64_t)> make);
  // Waits for the samples that are being made, not for those that are still to come.
  ~OrderedPrefetch();
  OrderedPrefetch(const OrderedPrefetch&) = delete;
  OrderedPrefetch& operator=(const OrderedPrefetch&) = delete;

  // The index whose sample Next gives.
  int64_t next() const { return taken_; }
  // Requires: next() < end. Throws the exception of make for this index; the next call goes on
  // after it.
  Sample Next();

 private:
  struct Slot {
    bool ready = false;
    Sample sample;
    std::exception_ptr error;
  };
  Slot& SlotOf(int64_t i) { return slots_[static_cast<size_t>(i) % slots_.size()]; }
  void Work();

  const int64_t end_;
  const std::function<Sample(int64_t)> make_;
  std::mutex mutex_;
  std::condition_variable work_;   // an index may be claimed, or stop_
  std::condition_variable ready_;  // a slot was filled
  std::vector<Slot> slots_;        // a ring: index i lies in slot i % size
  int64_t claimed_;                // the next index to make; guarded by mutex_
  int64_t taken_;                  // the next index to give out; guarded by mutex_
  bool stop_ = false;              // guarded by mutex_
  std::vector<std::thread> workers_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_ORDERED_PREFETCH_H_
