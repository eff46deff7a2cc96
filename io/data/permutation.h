#ifndef FIRN_IO_DATA_PERMUTATION_H_
#define FIRN_IO_DATA_PERMUTATION_H_

#include <cstdint>
#include <vector>

namespace firn::io {

// The numbers 0 to n - 1 in a random order that (seed, epoch) alone decide; every order is equally
// likely.
std::vector<int64_t> Permutation(int64_t n, uint64_t seed, uint64_t epoch);

// 0, 1, ..., n - 1.
std::vector<int64_t> InOrder(int64_t n);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_PERMUTATION_H_
