// A thread of libgomp that waits, for the next region or for the others at the end of one, first
// spins for some milliseconds, which is faster on a quiet machine. Where another process keeps a
// core busy, spinning takes the time of the very thread that is waited for, and a step takes tens
// of times as long. libgomp reads the length of the spin when it is loaded, with one exception,
// which its manual promises under GOMP_SPINCOUNT: with more threads than cores it spins 100 times,
// some microseconds. So when the process is crowded, a thread is started that makes a team of as
// many sleeping threads as are missing for that; the team ends when the crowd is gone.
//
// A process is crowded when its threads lose their cores often though they have work: involuntary
// context switches. They are counted per second of computing, since a crowded process computes
// less. A quiet machine has nearly none, and one with other busy processes some 300 a second: Linux
// takes turns of about 3 ms.
#include "firn/device/internal/crowd.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "firn/device/fork.h"
#include "firn/device/internal/openmp.h"

namespace firn::inner::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPeriod = std::chrono::milliseconds(50);  // between two looks
constexpr int kLooks = 2;                                // crowded this often, it is no accident
constexpr auto kQuiet = std::chrono::seconds(1);         // until it counts as quiet again
// More threads than this would be a burden of their own.
constexpr int kMostSleepers = 8;

// Lost cores in a second of computing from which on the process is crowded. Every daemon that wakes
// up takes a core from some thread.
constexpr double kMany = 100;
constexpr double kLittle = 0.01;  // seconds of computing that tell nothing

struct Usage {
  int64_t lost = 0;
  double seconds = 0;  // of all threads
};

Usage UsageNow() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return {};
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {usage.ru_nivcsw, seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

class Crowd {
 public:
  // Never destroyed: a thread that sleeps may refer to it. A child of fork() gets its own object,
  // because the parent's counts the parent's time and knows threads that the child does not have.
  static Crowd& Get() {
    static constinit std::atomic<Crowd*> now{nullptr};
    static const bool once = [] {
      now = new Crowd;
      AddForkHandler([] {}, [] { now = new Crowd; });
      return true;
    }();
    static_cast<void>(once);
    return *now.load(std::memory_order_acquire);
  }

  void Look(int threads) {
    // Another thread is already looking.
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    const Clock::time_point now = Clock::now();
    if (now - last_ < kPeriod) return;
    const Usage usage = UsageNow();
    if (usage.seconds - usage_.seconds < kLittle) return;
    const double rate =
        static_cast<double>(usage.lost - usage_.lost) / (usage.seconds - usage_.seconds);
    last_ = now;
    usage_ = usage;
    crowded_ = rate > kMany ? crowded_ + 1 : 0;
    if (rate > kMany / 2) quiet_since_ = now;
    if (!sleeping_ && crowded_ >= kLooks) {
      Start(omp_get_num_procs() + 1 - threads);
    } else if (sleeping_ && now - quiet_since_ > kQuiet) {
      sleeping_ = false;
      over_.notify_all();
    }
  }

 private:
  static void Nothing(void*) {}

  void Start(int missing) {
    if (missing < 1 || missing > kMostSleepers) return;
    const int64_t mine = ++started_;
    try {
      std::thread([this, missing, mine] { Sleep(missing, mine); }).detach();
      sleeping_ = true;
    } catch (const std::system_error&) {  // no more threads: as it was
    }
  }

  // libgomp ends the process when it cannot start a thread. So as many threads are started and
  // ended before as a test, and some more, because others may start threads at the same moment.
  static bool HasRoomFor(int threads) {
    std::mutex hold;
    std::unique_lock<std::mutex> held(hold);
    std::vector<std::thread> all;
    bool room = true;
    try {
      for (int i = 0; i < threads; ++i) {
        all.emplace_back([&hold] { const std::lock_guard<std::mutex> wait(hold); });
      }
    } catch (const std::system_error&) {
      room = false;
    }
    held.unlock();
    for (std::thread& t : all) t.join();
    return room;
  }

  // The team counts for as long as the thread that made it lives.
  void Sleep(int missing, int64_t mine) {
    if (!HasRoomFor(missing + 4)) return;  // and no other is tried: it counts as sleeping
    GOMP_parallel(Nothing, nullptr, static_cast<unsigned>(missing) + 1, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    over_.wait(lock, [this, mine] { return !sleeping_ || started_ != mine; });
  }

  std::mutex mutex_;  // guards everything below
  Clock::time_point last_ = Clock::now(), quiet_since_ = last_;
  Usage usage_ = UsageNow();
  int crowded_ = 0;  // looks in a row
  bool sleeping_ = false;
  int64_t started_ = 0;
  std::condition_variable over_;
};

}  // namespace

void LookForCrowd(int threads) { Crowd::Get().Look(threads); }

}  // namespace firn::inner::internal
