// A pooling layer's gradient has an index for each element.

#include "firn/tensor/internal/index_values.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/internal/kernel_functions.h"

namespace firn::inner::internal {
namespace {

template <class T>
bool AnyOutside(const T* v, int64_t n, const IndexInterval& b) {
  using Limits = std::numeric_limits<T>;
  const auto clamped = [](int64_t x) {
    return static_cast<T>(std::clamp<int64_t>(x, Limits::min(), Limits::max()));
  };
  const bool none = b.high <= b.low || b.low > Limits::max() || b.high <= Limits::min();
  const T low = none ? Limits::max() : clamped(b.low);
  const T last = none ? Limits::min() : clamped(b.high - 1);
  const bool any_ignored = b.ignored != INT64_MIN && clamped(b.ignored) == b.ignored;
  const T ignored = clamped(b.ignored), all = any_ignored ? T{0} : T{-1};
  Vec<T> bad = {};
  int64_t i = 0;
  for (; i + kSimdLanes<T> <= n; i += kSimdLanes<T>) {
    Vec<T> x;
    std::memcpy(&x, v + i, sizeof(x));
    bad |= ((x < low) | (x > last)) & ((x != ignored) | all);
  }
  for (; i < n; ++i) bad[0] |= (v[i] < low || v[i] > last) && (v[i] != ignored || !any_ignored);
  T any = 0;
  for (int64_t lane = 0; lane < kSimdLanes<T>; ++lane) any |= bad[lane];
  return any != 0;
}

template <class T>
bool AnyOutsideInParts(const T* v, int64_t n, const IndexInterval& b) {
  constexpr int64_t kGrain = 1 << 17;
  if (n <= kGrain) [[likely]]
    return AnyOutside(v, n, b);
  std::atomic<bool> any = false;
  ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    if (AnyOutside(v + begin, end - begin, b)) any.store(true, std::memory_order_relaxed);
  });
  return any.load(std::memory_order_relaxed);
}

}  // namespace

bool AnyOutside(DType dtype, const void* values, int64_t n, const IndexInterval& interval) {
  return VisitIndex(dtype, [&]<class T>(TypeTag<T>) {
    return AnyOutsideInParts(static_cast<const T*>(values), n, interval);
  });
}

FIRN_OF_THIS_LEVEL(any_outside, AnyOutside);

}  // namespace firn::inner::internal
