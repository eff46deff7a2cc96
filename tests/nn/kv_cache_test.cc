// Decoding piece by piece against attention over the whole sequence, growing, and captured steps.

#include "firn/nn/kv_cache.h"

#include <gtest/gtest.h>

#include "firn/nn/linear.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

constexpr int64_t kHeads = 2, kWidth = 4, kEmbed = kHeads * kWidth;

void ExpectNear(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_LE(Amax(Abs(got - want)).Item<double>(), 2e-6);
}

Tensor Rows(const Tensor& x, int64_t begin, int64_t end) { return Slice(x, 2, begin, end); }

struct Sequence {
  Tensor q = Randn({1, kHeads, 9, kWidth}), k = Randn({1, kHeads, 9, kWidth}),
         v = Randn({1, kHeads, 9, kWidth});
  Tensor whole = ScaledDotProductAttention(q, k, v, {.is_causal = true});
};

KvCacheOptions Options(int64_t capacity, int64_t max_length = 0) {
  return {.heads = kHeads, .width = kWidth, .capacity = capacity, .max_length = max_length};
}

// The results for pieces of the given sizes.
Tensor Decode(KvCache& cache, const Sequence& s, std::vector<int64_t> pieces) {
  std::vector<Tensor> results;
  int64_t at = cache.length();
  for (const int64_t n : pieces) {
    const KvCache::View seen = cache.Append(Rows(s.k, at, at + n), Rows(s.v, at, at + n));
    results.push_back(ScaledDotProductAttention(Rows(s.q, at, at + n), seen.keys, seen.values,
                                                {.mask = seen.mask}));
    at += n;
  }
  return Concat(results, 2);
}

TEST(KvCacheTest, PiecesGiveWhatTheWholeSequenceGives) {
  const Sequence s;
  KvCache fixed(Options(9)), growing(Options(2, 9));
  ExpectNear(Decode(fixed, s, {4, 1, 1, 3}), s.whole);
  ExpectNear(Decode(growing, s, {1, 1, 1, 1, 5}), s.whole);
  EXPECT_EQ(growing.length(), 9);
  EXPECT_EQ(growing.capacity(), 9);
}

TEST(KvCacheTest, RoomDoubles) {
  const Sequence s;
  KvCache cache(Options(2, 100));
  Decode(cache, s, {1, 1});
  EXPECT_EQ(cache.capacity(), 2);
  Decode(cache, s, {1});
  EXPECT_EQ(cache.capacity(), 4);
  Decode(cache, s, {6});
  EXPECT_EQ(cache.capacity(), 9);
}

TEST(KvCacheTest, GoesOnFromAShorterSequence) {
  const Sequence s;
  KvCache cache(Options(9));
  Decode(cache, s, {8});
  cache.Truncate(3);
  EXPECT_EQ(cache.length(), 3);
  EXPECT_EQ(cache.position().Item<int64_t>(), 3);
  ExpectNear(Decode(cache, s, {2, 4}), Rows(s.whole, 3, 9));
  cache.Truncate();
  ExpectNear(Decode(cache, s, {9}), s.whole);
}

TEST(KvCacheTest, AnErrorChangesNothing) {
  const Sequence s;
  KvCache cache(Options(2, 3));
  Decode(cache, s, {2});
  EXPECT_EQ(ErrorOf([&] { cache.Append(Rows(s.k, 0, 2), Rows(s.v, 0, 2)); }),
            "nn::KvCache: has room for 3 rows, 4 are wanted (KvCacheOptions::max_length)");
  EXPECT_EQ(ErrorOf([&] { cache.Append(Rows(s.k, 0, 2), Rows(s.v, 0, 1)); }),
            "nn::KvCache: k has 2 rows and v 1");
  EXPECT_EQ(ErrorOf([&] {
              cache.Append(Zeros({1, 1, 1, 4}), Rows(s.v, 0, 1));
            }),
            "nn::KvCache: k must be [1, 2, rows, 4], got f32 [1, 1, 1, 4] on cpu");
  EXPECT_EQ(ErrorOf([&] { cache.Truncate(3); }), "nn::KvCache: length 3 is outside [0, 2]");
  EXPECT_EQ(cache.length(), 2);
  ExpectNear(Decode(cache, s, {1}), Rows(s.whole, 2, 3));
  EXPECT_EQ(ErrorOf([] { KvCache(Options(4, 3)); }),
            "nn::KvCache: max_length 3 is less than capacity 4");
}

// A layer that takes one token at a time, with projections of its own.
struct Decoder final : Layer {
  Linear& projections = Add<Linear>("projections", {.in = kEmbed, .out = 3 * kEmbed});
  KvCache cache{Options(9)};

 protected:
  Tensor Forward(const Tensor& x) override {  // [1, 1, embed]
    const std::vector<Tensor> parts = Split(projections(x), kEmbed, -1);
    const auto heads = [](const Tensor& t) {
      return Permute(Reshape(t, {1, 1, kHeads, kWidth}), {0, 2, 1, 3});
    };
    const KvCache::View seen = cache.Append(heads(parts[1]), heads(parts[2]));
    return ScaledDotProductAttention(heads(parts[0]), seen.keys, seen.values, {.mask = seen.mask});
  }
};

TEST(KvCacheTest, AFrozenStepAppendsEachTimeItRuns) {
  const NoGradScope no_grad;
  Decoder net;
  net.Eval();
  const Tensor x = Randn({9, 1, 1, kEmbed});
  std::vector<Tensor> want;
  for (int64_t i = 0; i < 9; ++i) want.push_back(Clone(net(x[{i}])));
  net.cache.Truncate();
  StaticModule fast(net);
  for (int64_t i = 0; i < 6; ++i) ExpectNear(fast(x[{i}]), want[static_cast<size_t>(i)]);
  EXPECT_EQ(fast.hits(), 5);
  EXPECT_EQ(net.cache.length(), 6);
  ExpectNear(net(x[{6}]), want[6]);  // an ordinary step goes on
  ExpectNear(fast(x[{7}]), want[7]);
  ExpectNear(fast(x[{8}]), want[8]);
  EXPECT_NE(ErrorOf([&] { fast(x[{8}]); }), "");  // no room is left
  EXPECT_EQ(net.cache.length(), 9);
}

TEST(KvCacheTest, AVectorHoldsOneForEachLayer) {
  const Sequence s;
  std::vector<KvCache> caches;
  caches.emplace_back(Options(9));
  Decode(caches[0], s, {4});
  for (int i = 0; i < 7; ++i) caches.emplace_back(Options(9));  // which moves the first one
  ExpectNear(Decode(caches[0], s, {1, 4}), Rows(s.whole, 4, 9));
  EXPECT_EQ(caches[7].length(), 0);
}

// Appends its input to the cache, and attends to all of the cache.
struct Echo final : Layer {
  KvCache cache{Options(9)};

 protected:
  Tensor Forward(const Tensor& x) override {
    const KvCache::View seen = cache.Append(x, x);
    return ScaledDotProductAttention(x, seen.keys, seen.values, {.mask = seen.mask});
  }
};

TEST(KvCacheTest, AFrozenStepDoesNotSeeWhatWasForgotten) {
  const NoGradScope no_grad;
  Echo net;
  StaticModule fast(net);
  const Tensor x = Randn({1, kHeads, 1, kWidth});
  fast(x);
  EXPECT_FALSE(All(Isfinite(fast(Div(x, 0.0)))).Item<bool>());
  net.cache.Truncate();
  ExpectNear(fast(x), x);
}

}  // namespace
}  // namespace firn::nn
