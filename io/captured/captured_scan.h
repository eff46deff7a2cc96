#ifndef FIRN_IO_CAPTURED_CAPTURED_SCAN_H_
#define FIRN_IO_CAPTURED_CAPTURED_SCAN_H_

// Scans by doubling: with results over the last k elements at each place, those over 2k are made of
// two of them, so that lines of n elements take log2(n) rounds (W. Hillis and G. Steele, "Data
// Parallel Algorithms", 1986).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace firn::io::internal {

// Runs the rounds along `dim`, which has `length` elements: `combine` joins elements that stand
// `by` apart, in vectors as long as `all`. The first places have nothing before them and stay.
// `Call` is an exporter's, whose values are V.
template <class Call, class V, class Combine>
std::vector<V> ScannedByDoubling(Call& n, int64_t dim, int64_t length, std::vector<V> all,
                                 const Combine& combine) {
  for (int64_t by = 1; by < length; by *= 2) {
    std::vector<V> before, now;
    for (const V& x : all) {
      before.push_back(n.Slice(x, dim, 0, length - by));
      now.push_back(n.Slice(x, dim, by, length));
    }
    const std::vector<V> both = combine(before, now);
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = n.Concat({n.Slice(all[i], dim, 0, by), both[i]}, dim);
    }
  }
  return all;
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_SCAN_H_
