#ifndef FIRN_BENCHMARKS_CALL_TIMES_H_
#define FIRN_BENCHMARKS_CALL_TIMES_H_

// Calls of two libraries beside each other in one process, for programs below peers/.

#include <functional>
#include <string>
#include <vector>

namespace firn::benchmarks {

// Seconds for which the threads of this process have had their processors, all together.
double ProcessorSeconds();

struct TimedCall {
  std::string name;
  std::function<void()> call;
  std::function<void()> before = {};  // each time, and not timed
};

// Runs all calls in turns, once to warm up and so many rounds more, and prints for each the median
// and the least time in milliseconds: processor time, or time by the clock where several threads
// work.
void PrintTimesInTurns(const std::vector<TimedCall>& calls, int rounds, bool by_clock = false);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_CALL_TIMES_H_
