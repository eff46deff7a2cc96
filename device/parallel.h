#ifndef FIRN_DEVICE_PARALLEL_H_
#define FIRN_DEVICE_PARALLEL_H_

#include <cstdint>
#include <memory>
#include <type_traits>

#include "firn/device/arguments.h"

namespace firn {

// Sets how many threads one op may use, the caller included. Global: obeyed by ParallelFor from any
// thread at once. Values below 1 mean 1.
void SetNumThreads(inner::Integer threads);

// The number set; by default FIRN_NUM_THREADS, else OMP_NUM_THREADS, else the number of cores this
// process may run on.
int NumThreads();

// Makes OpenMP code that is not ours (oneDNN) obey NumThreads() when called from this thread:
// OpenMP keeps its own number per thread. Call it before entering such code; costs two loads when
// nothing changed.
void SyncOpenMpThreads();

// True inside a ParallelFor body that runs beside others (or any other active OpenMP region).
bool InParallelRegion();

// While one exists, ParallelFor, and OpenMP code after SyncOpenMpThreads(), called from its thread,
// run on that thread alone. It is for threads that work beside those of the pool, such as a data
// loader's. May be nested.
class SerialScope {
 public:
  [[nodiscard]] SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  const bool outer_;
};

// Sets flush-to-zero and denormals-are-zero on the calling thread and on the threads of its pool. A
// ParallelFor body always runs with the caller's setting, whichever thread it lands on.
void SetFlushDenormals(inner::Flag on);

// Whether the calling thread flushes denormals.
bool FlushDenormals();

// Into how many chunks ParallelFor cuts [0, n) when called here: min(NumThreads(), ceil(n /
// grain)), 1 inside a parallel region or a SerialScope, 0 for n <= 0. For sizing per-chunk partial
// results.
int NumChunks(int64_t n, int64_t grain);

namespace inner::internal {

using ChunkFn = void (*)(void* body, int chunk, int64_t begin, int64_t end);

// Runs `fn` for each of the chunks on the OpenMP pool.
void RunChunks(int64_t n, int chunks, ChunkFn fn, void* body);

}  // namespace inner::internal

// Calls f(chunk, begin, end) for the NumChunks(n, grain) contiguous chunks of [0, n), `chunk`
// counting from 0 in order of position. Among k chunks the first n % k have n / k + 1 elements and
// the others n / k: they depend on n, grain and the number of threads only, never on timing, so
// partial results added in chunk order are reproducible. Returns when all are done. With one chunk
// f runs on the calling thread and OpenMP is not touched.
//
// `grain` (>= 1) is the smallest piece worth a thread: about 10 us of work.
// Requires: f may be called from several threads at once and lets no exception escape (one that
// does ends the process).
template <class F>
void ParallelForChunks(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  const int chunks = n <= grain ? 1 : NumChunks(n, grain);
  if (chunks == 1) {
    f(0, int64_t{0}, n);
    return;
  }
  using Body = std::remove_reference_t<F>;
  inner::internal::RunChunks(
      n, chunks,
      [](void* body, int chunk, int64_t begin, int64_t end) noexcept {
        (*static_cast<Body*>(body))(chunk, begin, end);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

// ParallelForChunks for bodies that do not care which chunk they are: calls f(begin, end).
template <class F>
void ParallelFor(int64_t n, int64_t grain, F&& f) {
  ParallelForChunks(n, grain, [&f](int, int64_t begin, int64_t end) { f(begin, end); });
}

}  // namespace firn

#endif  // FIRN_DEVICE_PARALLEL_H_
