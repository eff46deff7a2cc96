#ifndef FIRN_TESTS_GROWTH_H_
#define FIRN_TESTS_GROWTH_H_

// Tells whether a time grows linearly with the size of the work or with its square, which no test
// of a few operations sees. Counting instructions one by one (count_instructions.h) is exact but
// takes a million times as long, so it could only try sizes at which a square is still small.

#include <time.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace firn::testing {

// Processor seconds of this thread, without those of other threads and processes.
inline double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// How many times as long run(4 n) takes as run(n): 4 where the time is linear, 16 where it is
// quadratic. Shared processors and caches disturb the time of a try, for long runs as much as for
// the short ones beside them, so each is compared with those before and after it. Tries are
// repeated until one stays below `enough`.
inline double GrowthOf(const std::function<void(int n)>& run, int n, double enough) {
  const auto seconds = [&run](int size) {
    const double begin = ThreadSeconds();
    run(size);
    return ThreadSeconds() - begin;
  };
  run(n);  // caches and free lists are filled
  double least = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < 6 && least >= enough; ++attempt) {
    const double before = seconds(n), many = seconds(4 * n), after = seconds(n);
    least = std::min(least, many / ((before + after) / 2));
  }
  return least;
}

// Between 4 and 16, nearer to 4.
inline constexpr double kLinear = 7;

}  // namespace firn::testing

#endif  // FIRN_TESTS_GROWTH_H_
