// Parallel loops on OpenMP, the only thread pool in the process.
//
// A region always asks for the full team, also when there are fewer chunks than threads: libgomp
// ends the surplus threads of a smaller team and has to start new ones for the next larger one
// (tens of microseconds), and oneDNN's regions between ours use the full team too. OpenMP may still
// give fewer threads than asked, so threads take chunks in turn and the chunks do not depend on it.
#include "firn/device/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "firn/device/environment.h"
#include "firn/device/fork.h"
#include "firn/device/internal/crowd.h"
#include "firn/device/internal/float_control.h"
#include "firn/device/internal/openmp.h"
#include "firn/device/internal/race_detector.h"

namespace firn {
namespace {

std::atomic<int> num_threads{0};             // 0 until set or asked for
thread_local constinit bool serial = false;  // inside a SerialScope

// libgomp does not notice that a forked child lacks the waiting threads that it has listed, and a
// team of more than one would wait for them for ever. So they end before the process is copied; the
// next team starts new ones, which takes some tens of microseconds.
void EndWaitingThreads() {
  constexpr int kSoft = 1;
  omp_pause_resource_all(kSoft);
}

// A child works beside its parent, on the same cores.
void StartWithOneThread() { num_threads.store(1, std::memory_order_relaxed); }

void PrepareForForks() {
  static const bool done = (inner::AddForkHandler(EndWaitingThreads, StartWithOneThread), true);
  static_cast<void>(done);
}

}  // namespace

void SetNumThreads(inner::Integer threads) {
  PrepareForForks();
  num_threads.store(static_cast<int>(std::clamp<int64_t>(threads, 1, INT32_MAX)),
                    std::memory_order_relaxed);
  SyncOpenMpThreads();
}

int NumThreads() {
  const int set = num_threads.load(std::memory_order_relaxed);
  if (set != 0) return set;
  PrepareForForks();
  int unset = 0;
  num_threads.compare_exchange_strong(unset, env::NumThreads().value_or(omp_get_max_threads()));
  return num_threads.load(std::memory_order_relaxed);
}

void SyncOpenMpThreads() {
  thread_local int synced = 0;
  const int wanted = serial ? 1 : NumThreads();
  if (synced == wanted) return;
  omp_set_num_threads(wanted);
  synced = wanted;
}

SerialScope::SerialScope() : outer_(serial) {
  serial = true;
  SyncOpenMpThreads();
}

SerialScope::~SerialScope() {
  serial = outer_;
  SyncOpenMpThreads();
}

bool InParallelRegion() { return omp_in_parallel() != 0; }

void SetFlushDenormals(inner::Flag on) {
  inner::internal::SetFlushBits(on ? inner::internal::kFlushBits : 0);
  if (InParallelRegion()) return;
  const auto carry_over = [](void*, int, int64_t, int64_t) {};  // RunChunks itself sets the bits
  inner::internal::RunChunks(NumThreads(), NumThreads(), carry_over, nullptr);
}

bool FlushDenormals() {
  return inner::internal::kFlushBits != 0 &&
         inner::internal::FlushBits() == inner::internal::kFlushBits;
}

int NumChunks(int64_t n, int64_t grain) {
  if (n <= 0) return 0;
  const int threads = NumThreads();
  if (n <= grain || threads == 1 || serial || InParallelRegion()) return 1;
  grain = std::max<int64_t>(grain, 1);
  return static_cast<int>(std::min<int64_t>(threads, (n - 1) / grain + 1));
}

namespace inner::internal {

namespace {

struct Region {
  uint64_t flush_bits;
  int64_t size, longer;  // of the chunks, the first `longer` have size + 1 elements
  int chunks;
  ChunkFn fn;
  void* body;
  char fork = 0, join = 0;  // only the addresses of these variables matter
};

// Runs on each thread of the team.
FIRN_NO_TSAN void RunShare(void* data) {
  auto& r = *static_cast<Region*>(data);
  TsanAcquire(&r.fork);
  SetFlushBits(r.flush_bits);
  const int team = omp_get_num_threads();
  for (int i = omp_get_thread_num(); i < r.chunks; i += team) {
    const int64_t begin = r.size * i + std::min<int64_t>(i, r.longer);
    r.fn(r.body, i, begin, begin + r.size + (i < r.longer ? 1 : 0));
  }
  TsanRelease(&r.join);
}

}  // namespace

FIRN_NO_TSAN void RunChunks(int64_t n, int chunks, ChunkFn fn, void* body) {
  Region region{FlushBits(), n / chunks, n % chunks, chunks, fn, body};
  const int threads = NumThreads();
  NoteRegion(threads);
  TsanRelease(&region.fork);
  GOMP_parallel(RunShare, &region, static_cast<unsigned>(threads), 0);
  TsanAcquire(&region.join);
}

}  // namespace inner::internal
}  // namespace firn
