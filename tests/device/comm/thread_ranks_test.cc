#include "firn/device/comm/thread_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace firn::comm {
namespace {

using Ranks = std::vector<std::unique_ptr<Communicator>>;

// Calls `body` with each rank on a thread of its own.
void OnAll(Ranks& ranks, const std::function<void(Communicator&)>& body) {
  std::vector<std::thread> threads;
  for (const auto& rank : ranks) threads.emplace_back([&body, &rank] { body(*rank); });
  for (std::thread& t : threads) t.join();
}
void OnRanks(int size, const std::function<void(Communicator&)>& body) {
  Ranks ranks = ThreadRanks(size);
  OnAll(ranks, body);
}

// Small whole numbers, which all types hold, as do their sums and products here.
int Number(int rank, int64_t i) { return static_cast<int>((rank + i) % 3) + (i % 5 == 0 ? 0 : 1); }

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

template <class T>
class ThreadRanksTypesTest : public ::testing::Test {};
using Types = ::testing::Types<Type<float, Element::kF32>, Type<double, Element::kF64>,
                               Type<uint16_t, Element::kF16>, Type<uint16_t, Element::kBF16>,
                               Type<int8_t, Element::kI8>, Type<int32_t, Element::kI32>,
                               Type<int64_t, Element::kI64>, Type<uint8_t, Element::kU8>>;
TYPED_TEST_SUITE(ThreadRanksTypesTest, Types);

double Reduced(Reduction reduction, int size, int64_t i) {
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

// Every collective on every size of group: nothing, one element, a prime number of them, more than
// are combined at once.
TYPED_TEST(ThreadRanksTypesTest, GiveWhatTheirDefinitionSays) {
  using T = typename TypeParam::Stored;
  constexpr Element kElement = TypeParam::kIs;
  constexpr bool kIsFloat = kElement == Element::kF32 || kElement == Element::kF64 ||
                            kElement == Element::kF16 || kElement == Element::kBF16;
  for (int size = 1; size <= 8; ++size) {
    OnRanks(size, [&](Communicator& c) {
      for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{2503}}) {
        const auto mine = [&](int rank, int64_t count) {
          std::vector<T> x;
          for (int64_t i = 0; i < count; ++i) x.push_back(TypeParam::Of(Number(rank, i)));
          return x;
        };
        const std::string which = absl::StrCat(size, " ranks, ", n, " elements");
        for (const Reduction r : {Reduction::kSum, Reduction::kMean, Reduction::kProd,
                                  Reduction::kMin, Reduction::kMax}) {
          // A mean is exact where the group's size is a power of two.
          if (r == Reduction::kMean && (!kIsFloat || (size & (size - 1)) != 0)) continue;
          std::vector<T> x = mine(c.rank(), n), want;
          for (int64_t i = 0; i < n; ++i) want.push_back(TypeParam::Of(Reduced(r, size, i)));
          ASSERT_TRUE(c.AllReduce(x.data(), n, kElement, r).ok());
          EXPECT_EQ(x, want) << which;
          const int root = size - 1;
          std::vector<T> y = mine(c.rank(), n), out(static_cast<size_t>(n));
          ASSERT_TRUE(c.Run({.kind = CollectiveKind::kReduce,
                             .element = kElement,
                             .reduction = r,
                             .root = root,
                             .count = n,
                             .in = y.data(),
                             .out = c.rank() == root ? out.data() : nullptr})
                          .ok());
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
    });
  }
}

TEST(ThreadRanksTest, SumHalfTypesInF32) {
  // 2048 + 1 + 1 is 2050 in f16 only if it is rounded once.
  OnRanks(3, [](Communicator& c) {
    uint16_t x = Type<uint16_t, Element::kF16>::Of(c.rank() == 0 ? 2048 : 1);
    ASSERT_TRUE(c.AllReduce(&x, 1, Element::kF16, Reduction::kSum).ok());
    EXPECT_EQ(x, (Type<uint16_t, Element::kF16>::Of(2050)));
  });
}

TEST(ThreadRanksTest, KeepNotANumber) {
  for (const int rank : {0, 1, 2}) {
    OnRanks(3, [&](Communicator& c) {
      float x[2];
      x[0] = x[1] = c.rank() == rank ? std::nanf("") : static_cast<float>(c.rank());
      ASSERT_TRUE(c.AllReduce(x, 1, Element::kF32, Reduction::kMax).ok());
      ASSERT_TRUE(c.AllReduce(x + 1, 1, Element::kF32, Reduction::kMin).ok());
      EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[1])) << rank;
    });
  }
}

TEST(ThreadRanksTest, LetIntegersWrapAround) {
  OnRanks(2, [](Communicator& c) {
    int8_t x[2] = {100, static_cast<int8_t>(c.rank() == 0 ? -128 : 127)};
    ASSERT_TRUE(c.AllReduce(x, 1, Element::kI8, Reduction::kSum).ok());
    ASSERT_TRUE(c.AllReduce(x + 1, 1, Element::kI8, Reduction::kMin).ok());
    EXPECT_EQ(x[0], -56);
    EXPECT_EQ(x[1], -128);
  });
}

// Many on their way at once, waited for backwards.
TEST(ThreadRanksTest, ComputeWhileOthersAreComing) {
  OnRanks(4, [](Communicator& c) {
    std::vector<float> x(50);
    std::vector<std::unique_ptr<Pending>> pending;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) * static_cast<float>(c.rank() + 1);
      auto started =
          c.Start({.kind = CollectiveKind::kAllReduce, .count = 1, .in = &x[i], .out = &x[i]});
      ASSERT_TRUE(started.ok());
      pending.push_back(*std::move(started));
    }
    while (!pending.empty()) {
      ASSERT_TRUE(pending.back()->Wait().ok());
      EXPECT_EQ(x[pending.size() - 1], static_cast<float>(pending.size() - 1) * 10);
      pending.pop_back();
    }
  });
}

TEST(ThreadRanksTest, SplitByColorAndKey) {
  OnRanks(6, [](Communicator& c) {
    // Ranks 0 and 3 stay out; the others are even and odd ones, the last first.
    const int color = c.rank() % 3 == 0 ? -1 : c.rank() % 2;
    auto part = c.Split(color, -c.rank());
    ASSERT_TRUE(part.ok());
    ASSERT_EQ(*part == nullptr, color < 0);
    if (*part == nullptr) return;
    EXPECT_EQ((*part)->size(), 2);
    EXPECT_EQ((*part)->rank(), c.rank() < 3 ? 1 : 0);
    float x = static_cast<float>(c.rank());
    ASSERT_TRUE((*part)->AllReduce(&x, 1, Element::kF32, Reduction::kSum).ok());
    EXPECT_EQ(x, 6);  // 2 + 4, 1 + 5
  });
}

TEST(ThreadRanksTest, NameCallsThatDoNotFit) {
  Ranks ranks = ThreadRanks(2);
  std::string errors[2];
  OnAll(ranks, [&](Communicator& c) {
    float x[3] = {};
    const absl::Status status = c.AllReduce(x, c.rank() + 1, Element::kF32, Reduction::kSum);
    errors[c.rank()] = std::string(status.message());
    EXPECT_EQ(c.Barrier(), status);  // nothing fits together any more
  });
  EXPECT_EQ(errors[0], errors[1]);
  for (const char* part :
       {"rank 0", "all_reduce of 1 f32 (sum)", "rank 1", "all_reduce of 2 f32"}) {
    EXPECT_NE(errors[0].find(part), std::string::npos) << errors[0];
  }
}

TEST(ThreadRanksTest, NameRanksThatDoNotCome) {
  Ranks ranks = ThreadRanks(3, {.timeout = absl::Milliseconds(50)});
  OnAll(ranks, [&](Communicator& c) {
    if (c.rank() == 1) return;
    const absl::Status status = c.Barrier();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_NE(status.message().find("waited 50ms for rank 1"), absl::string_view::npos) << status;
  });
}

TEST(ThreadRanksTest, NameRanksThatAreGone) {
  Ranks ranks = ThreadRanks(3);
  OnAll(ranks, [&](Communicator& c) {
    if (c.rank() == 2) {
      ranks[2] = nullptr;
      return;
    }
    const absl::Status status = c.Barrier();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(), "rank 2 is gone");
  });
}

TEST(ThreadRanksTest, EndWhatOneAborts) {
  Ranks ranks = ThreadRanks(3);
  OnAll(ranks, [&](Communicator& c) {
    if (c.rank() == 1) return c.Abort("the disk is full");
    EXPECT_EQ(c.Barrier().message(), "rank 1 gave up: the disk is full");
  });
}

TEST(ThreadRanksTest, RefuseCallsThatMakeNoSense) {
  OnRanks(2, [](Communicator& c) {
    float x = 1;
    int32_t i = 1;
    const auto error = [](const absl::Status& status) { return std::string(status.message()); };
    EXPECT_EQ(error(c.Broadcast(&x, 1, Element::kF32, 2)), "broadcast: root is 2 (want 0 to 1)");
    EXPECT_EQ(error(c.Broadcast(&x, -1, Element::kF32, 0)), "broadcast: count is -1 (want >= 0)");
    EXPECT_EQ(error(c.AllReduce(&i, 1, Element::kI32, Reduction::kMean)),
              "all_reduce: the mean of i32 (want floats)");
    EXPECT_EQ(error(c.AllReduce(nullptr, 1, Element::kF32, Reduction::kSum)),
              "all_reduce of 1 f32 (sum): there is no memory to read from");
    EXPECT_EQ(error(c.Send(&x, 1, Element::kF32, c.rank())),
              absl::StrCat("send: rank ", c.rank(), " is this one itself"));
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(error(c.AllGather(&x, &x, kMost / 4, Element::kF32)),
              absl::StrCat("all_gather: count is ", kMost / 4, ", more than memory holds"));
    // Nobody else has heard of these.
    ASSERT_TRUE(c.AllReduce(&x, 1, Element::kF32, Reduction::kSum).ok());
    EXPECT_EQ(x, 2);
  });
}

}  // namespace
}  // namespace firn::comm
