#ifndef FIRN_TESTS_DEVICE_COMM_COLLECTIVES_H_
#define FIRN_TESTS_DEVICE_COMM_COLLECTIVES_H_

// Compares all collectives of one rank among others with their definitions.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// Small whole numbers, which all types hold, as do their sums and products here.
inline int Number(int rank, int64_t i) {
  return static_cast<int>((rank + i) % 3) + (i % 5 == 0 ? 0 : 1);
}

// How a type stores small whole numbers: half types by their bits.
template <class T, Element kElement>
struct Type {
  using Stored = T;
  static constexpr Element kIs = kElement;
  static T Of(double x) {
    if constexpr (kElement == Element::kBF16) {
      const auto f = static_cast<float>(x);
      uint32_t bits = 0;
      std::memcpy(&bits, &f, 4);
      return static_cast<T>(bits >> 16);
    } else if constexpr (kElement == Element::kF16) {
      const auto h = static_cast<_Float16>(x);
      T bits = 0;
      std::memcpy(&bits, &h, 2);
      return bits;
    } else {
      return static_cast<T>(x);
    }
  }
};

inline double Reduced(Reduction reduction, int size, int64_t i) {
  double value = Number(0, i);
  for (int r = 1; r < size; ++r) {
    const double x = Number(r, i);
    switch (reduction) {
      case Reduction::kSum:
      case Reduction::kMean:
        value += x;
        break;
      case Reduction::kProd:
        value *= x;
        break;
      case Reduction::kMin:
        value = std::fmin(value, x);
        break;
      case Reduction::kMax:
        value = std::fmax(value, x);
        break;
    }
  }
  return reduction == Reduction::kMean ? value / size : value;
}

// Every collective on so many elements: nothing, one, a prime number of them, more than are
// combined at once. Called by all ranks.
template <class TypeParam>
void CheckCollectives(Communicator& c, const std::vector<int64_t>& counts = {0, 1, 7, 2503}) {
  using T = typename TypeParam::Stored;
  constexpr Element kElement = TypeParam::kIs;
  constexpr bool kIsFloat = kElement == Element::kF32 || kElement == Element::kF64 ||
                            kElement == Element::kF16 || kElement == Element::kBF16;
  const int size = c.size();
  for (const int64_t n : counts) {
    const auto mine = [&](int rank, int64_t count) {
      std::vector<T> x;
      for (int64_t i = 0; i < count; ++i) x.push_back(TypeParam::Of(Number(rank, i)));
      return x;
    };
    const std::string which = absl::StrCat(size, " ranks, ", n, " elements");
    for (const Reduction r :
         {Reduction::kSum, Reduction::kMean, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
      // A mean is exact where the group's size is a power of two.
      if (r == Reduction::kMean && (!kIsFloat || (size & (size - 1)) != 0)) continue;
      std::vector<T> x = mine(c.rank(), n), want;
      for (int64_t i = 0; i < n; ++i) want.push_back(TypeParam::Of(Reduced(r, size, i)));
      ASSERT_TRUE(c.AllReduce(x.data(), n, kElement, r).ok());
      EXPECT_EQ(x, want) << which;
      const int root = size - 1;
      std::vector<T> y = mine(c.rank(), n), out(static_cast<size_t>(n));
      void* const to = c.rank() == root ? out.data() : nullptr;
      ASSERT_TRUE(c.Reduce(y.data(), to, n, kElement, r, root).ok());
      if (c.rank() == root) {
        EXPECT_EQ(out, want) << which;
      }
      std::vector<T> all = mine(c.rank(), n * size), part(static_cast<size_t>(n)), part_want;
      for (int64_t i = 0; i < n; ++i) {
        part_want.push_back(TypeParam::Of(Reduced(r, size, c.rank() * n + i)));
      }
      ASSERT_TRUE(c.ReduceScatter(all.data(), part.data(), n, kElement, r).ok());
      EXPECT_EQ(part, part_want) << which;
    }
    for (int root = 0; root < size; ++root) {
      std::vector<T> x = mine(c.rank(), n);
      ASSERT_TRUE(c.Broadcast(x.data(), n, kElement, root).ok());
      EXPECT_EQ(x, mine(root, n)) << which;
    }
    std::vector<T> gathered(static_cast<size_t>(n * size)), want;
    for (int r = 0; r < size; ++r) {
      const std::vector<T> x = mine(r, n);
      want.insert(want.end(), x.begin(), x.end());
    }
    ASSERT_TRUE(c.AllGather(mine(c.rank(), n).data(), gathered.data(), n, kElement).ok());
    EXPECT_EQ(gathered, want) << which;
    if (size > 1) {
      const int to = (c.rank() + 1) % size, from = (c.rank() + size - 1) % size;
      std::vector<T> got(static_cast<size_t>(n));
      const std::vector<T> sent = mine(c.rank(), n);
      auto send = c.Start({.kind = CollectiveKind::kSend,
                           .element = kElement,
                           .root = to,
                           .count = n,
                           .in = sent.data()});
      ASSERT_TRUE(send.ok());
      ASSERT_TRUE(c.Recv(got.data(), n, kElement, from).ok());
      ASSERT_TRUE((*send)->Wait().ok());
      EXPECT_EQ(got, mine(from, n)) << which;
    }
  }
}

// The sum of more bytes than the first bucket of gradients has (1 MiB), and of a number of elements
// that no number of ranks divides. Called by all ranks.
inline void CheckSumBeyondABucket(Communicator& c) {
  constexpr int64_t kCount = 300'007;
  std::vector<float> x, want;
  for (int64_t i = 0; i < kCount; ++i) {
    x.push_back(static_cast<float>(Number(c.rank(), i)));
    want.push_back(static_cast<float>(Reduced(Reduction::kSum, c.size(), i)));
  }
  ASSERT_TRUE(c.AllReduce(x.data(), kCount, Element::kF32, Reduction::kSum).ok());
  EXPECT_EQ(x, want) << c.size() << " ranks";
}

}  // namespace firn::comm

#endif  // FIRN_TESTS_DEVICE_COMM_COLLECTIVES_H_
