// Finds the fastest of several ways to compute the same, by trying them.

#include "firn/tensor/kernels/cuda/fastest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace firn::cuda {
namespace {

constexpr float kHopeless = 3;

struct Candidate {
  bool running = true, broken = false;
  std::vector<float> times;

  float Median() {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }
};

}  // namespace

std::optional<size_t> Fastest(size_t candidates, int repeats, TimeOnce time) {
  std::vector<Candidate> all(candidates);
  for (int turn = 0; turn <= repeats; ++turn) {  // the first one does not count
    float best = std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < candidates; ++i) {
      if (!all[i].running) continue;
      const absl::StatusOr<float> t = time(i);
      all[i].broken = !t.ok() || !std::isfinite(*t);
      all[i].running = !all[i].broken;
      if (all[i].broken || turn == 0) continue;
      all[i].times.push_back(*t);
      best = std::min(best, *t);
    }
    for (Candidate& c : all) {
      if (turn != 0 && c.running && c.times.back() > kHopeless * best) c.running = false;
    }
  }
  std::optional<size_t> fastest;
  float least = 0;
  for (size_t i = 0; i < candidates; ++i) {
    if (all[i].broken || all[i].times.empty()) continue;
    const float median = all[i].Median();
    if (fastest && !(median < least)) continue;
    fastest = i;
    least = median;
  }
  return fastest;
}

}  // namespace firn::cuda
