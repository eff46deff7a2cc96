#include "benchmarks/call_times.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace firn::benchmarks {

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void PrintTimesInTurns(const std::vector<TimedCall>& calls, int rounds, bool by_clock) {
  const auto now = [by_clock] {
    if (!by_clock) return ProcessorSeconds();
    const auto clock = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(clock).count();
  };
  std::vector<std::vector<double>> ms(calls.size());
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].before) calls[i].before();
      const double begin = now();
      calls[i].call();
      if (round > 0) ms[i].push_back((now() - begin) * 1e3);
    }
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    std::sort(ms[i].begin(), ms[i].end());
    std::printf("%-32s %9.2f ms (%.2f)\n", calls[i].name.c_str(), ms[i][ms[i].size() / 2],
                ms[i][0]);
  }
}

}  // namespace firn::benchmarks
