#ifndef FIRN_TENSOR_RANK_SEED_H_
#define FIRN_TENSOR_RANK_SEED_H_

#include <cstdint>

namespace firn::inner {

// The seed of a rank's own stream of random numbers, from the first rank's, which keeps it. The odd
// factor gives each rank another one.
constexpr uint64_t SeedOfRank(uint64_t first, int64_t rank) {
  return first ^ (static_cast<uint64_t>(rank) * 0x9e3779b97f4a7c15);
}

}  // namespace firn::inner

#endif  // FIRN_TENSOR_RANK_SEED_H_
