#ifndef FIRN_TENSOR_KERNELS_CPU_PARTS_H_
#define FIRN_TENSOR_KERNELS_CPU_PARTS_H_

// A range cut into parts whose number depends on its length only: for workspace with a place for
// each part, whose size is computed before the kernel runs and must not change with the number of
// threads in between. Results joined in the order of parts do not depend on that number either.

#include <algorithm>
#include <cstdint>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"

namespace firn::cpu {

inline constexpr int64_t kMaxParts = 16;

// `grain` (>= 1): the smallest part worth a thread.
inline int64_t NumParts(int64_t n, int64_t grain) {
  return std::min(kMaxParts, n <= 0 ? 0 : (n + grain - 1) / grain);
}

// Calls f(part, begin, end) for each of the NumParts(n, grain) parts, in parallel.
template <class F>
void ForEachPart(int64_t n, int64_t grain, F&& f) {
  const int64_t parts = NumParts(n, grain);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      f(part, n / parts * part + std::min(part, n % parts),
        n / parts * (part + 1) + std::min(part + 1, n % parts));
    }
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PARTS_H_
