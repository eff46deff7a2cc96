// The shuffle of Fisher and Yates, with numbers below a bound by D. Lemire, "Fast random integer
// generation in an interval", 2019, without the rejection: with 64-bit words the bias is below
// n / 2^64. Words come from Philox at a position of the epoch's own, under a key that keeps them
// apart from the numbers a program draws with the same seed.
#include "firn/io/data/permutation.h"

#include <numeric>
#include <utility>

#include "firn/device/inner.h"
#include "firn/device/philox.h"

namespace firn::io {
namespace {

constexpr uint64_t kShuffleKey = 0x73687566666c6531;  // "shuffle1"

}  // namespace

std::vector<int64_t> InOrder(int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

std::vector<int64_t> Permutation(int64_t n, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order = InOrder(n);
  const PhiloxState stream{seed ^ kShuffleKey, epoch << 40};
  for (int64_t i = n - 1; i > 0; --i) {
    const PhiloxResult r = PhiloxAt(stream, static_cast<uint64_t>(n - 1 - i));
    const uint64_t word = uint64_t{r.v[0]} << 32 | r.v[1];
    const auto j = static_cast<size_t>(
        static_cast<unsigned __int128>(word) * static_cast<uint64_t>(i + 1) >> 64);
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
  return order;
}

}  // namespace firn::io
