#ifndef FIRN_TESTS_GROWTH_H_
#define FIRN_TESTS_GROWTH_H_

// Whether a time grows with the size of what is done or with its square, which no test of a few
// operations sees. Counting instructions one by one (count_instructions.h) is exact but takes a
// million times as long, so that only sizes could be tried at which a square is still small.

#include <time.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace firn::testing {

// Seconds of this thread on a processor, whatever others do beside it.
inline double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// How many times as long run(4 n) takes as run(n): 4 where the time is linear, 16 where it is
// quadratic. Processors that are shared, and caches, disturb what a try takes, for long runs as
// much as for the short ones beside them, so that each is compared with those before and after it;
// several are made until one stays below `enough`.
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

// Between the two, on the side of the linear one.
inline constexpr double kLinear = 7;

}  // namespace firn::testing

#endif  // FIRN_TESTS_GROWTH_H_
