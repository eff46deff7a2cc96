// The basis of ranges of bodies and of folds in portable kernels.

#include "firn/tensor/kernels/for_each.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "firn/tensor/kernels/cpu/for_each.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(ForEachTest, RangesAreCutIntoRowsAndPartsOfRows) {
  constexpr int64_t kLength = 5;
  for (int64_t begin = 0; begin <= 12; ++begin) {
    for (int64_t end = 0; end <= 17; ++end) {
      std::vector<int64_t> seen;
      ForEachRowOf(begin, end, kLength, [&](int64_t row, int64_t first, int64_t last) {
        EXPECT_LT(first, last);
        EXPECT_LE(last, kLength);
        for (int64_t i = first; i < last; ++i) seen.push_back(row * kLength + i);
      });
      std::vector<int64_t> all;
      for (int64_t i = begin; i < end; ++i) all.push_back(i);
      EXPECT_EQ(seen, all);
    }
  }
}

struct CountBody {
  int* counts;
  int64_t each;
  void operator()(int64_t i) const { ++counts[i]; }
  int64_t cost() const { return each; }
};

TEST(ForEachTest, EveryIndexIsVisitedOnceHoweverCostly) {
  for (int64_t cost : {int64_t{0}, int64_t{1}, int64_t{100}, int64_t{1} << 40}) {
    std::vector<int> counts(1000);
    cpu::ForEach(1000, CountBody{counts.data(), cost});
    EXPECT_EQ(counts, std::vector<int>(1000, 1)) << cost;
  }
}

// Remembers its arguments.
struct OrderFold {
  struct Acc {
    std::vector<int64_t> seen;
  };
  using State = Acc;
  Acc start() const { return {}; }
  void add(State& s, int64_t, int64_t i) const { s.seen.push_back(i); }
  Acc total(const State& s) const { return s; }
  Acc combine(Acc a, const Acc& b) const {
    a.seen.insert(a.seen.end(), b.seen.begin(), b.seen.end());
    return a;
  }
};

TEST(ForEachTest, AFoldTakesEveryElementOnce) {
  for (int64_t n : {0, 1, 7, 8, 9, 511, 512, 513, 5000}) {
    std::vector<int64_t> seen = cpu::FoldRange(OrderFold(), 0, n).seen;
    std::sort(seen.begin(), seen.end());
    std::vector<int64_t> all;
    for (int64_t i = 0; i < n; ++i) all.push_back(i);
    EXPECT_EQ(seen, all);
  }
}

}  // namespace
}  // namespace firn
