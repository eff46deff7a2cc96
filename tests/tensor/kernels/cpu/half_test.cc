// Rows of half types to float and back: what the elements do one by one, bit for bit.

#include "firn/tensor/kernels/cpu/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "firn/device/parallel.h"

namespace firn {
namespace {

// Every value of a half type.
template <class T>
std::vector<T> All() {
  std::vector<T> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<uint16_t>(i);
  return all;
}

// Floats of all sizes, and those around where rounding changes.
std::vector<float> ManyFloats() {
  std::vector<float> v;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 65521) {
    v.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (uint32_t half = 0; half < 1 << 16; half += 7) {
    for (const uint32_t low : {0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
      v.push_back(std::bit_cast<float>((half << 16) | low));
      v.push_back(std::bit_cast<float>((half << 13) | low));
    }
  }
  return v;
}

template <class T>
class HalfRows : public testing::Test {};
using HalfTypes = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(HalfRows, HalfTypes);

TYPED_TEST(HalfRows, WidenAsElementsDo) {
  const std::vector<TypeParam> from = All<TypeParam>();
  std::vector<float> to(from.size());
  cpu::ToFloats(from.data(), static_cast<int64_t>(from.size()), to.data());
  for (size_t i = 0; i < from.size(); ++i) {
    const float want = static_cast<float>(from[i]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(to[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(to[i]), std::bit_cast<uint32_t>(want)) << i;
    }
  }
}

TYPED_TEST(HalfRows, RoundAsElementsDo) {
  const std::vector<float> from = ManyFloats();
  std::vector<TypeParam> to(from.size());
  cpu::FromFloats(from.data(), static_cast<int64_t>(from.size()), to.data());
  for (size_t i = 0; i < from.size(); ++i) {
    const auto want = TypeParam(from[i]);
    if (std::isnan(from[i])) {
      EXPECT_TRUE(std::isnan(static_cast<float>(to[i]))) << i;
    } else {
      EXPECT_EQ(to[i].bits, want.bits) << from[i];
    }
  }
}

// Rounding is not arithmetic: whether an element is flushed must not depend on its place in a row.
TYPED_TEST(HalfRows, RoundAlikeWhereSubnormalNumbersAreFlushed) {
  std::vector<float> from;
  for (int i = 0; i < 75; ++i) {
    from.push_back(std::bit_cast<float>(i % 3 == 0 ? 0x00410000u + static_cast<uint32_t>(i)
                                                   : 0x3f800000u + static_cast<uint32_t>(i)));
  }
  std::vector<TypeParam> to(from.size());
  SetFlushDenormals(true);
  cpu::FromFloats(from.data(), static_cast<int64_t>(from.size()), to.data());
  SetFlushDenormals(false);
  for (size_t i = 0; i < from.size(); ++i) EXPECT_EQ(to[i].bits, TypeParam(from[i]).bits) << i;
}

TYPED_TEST(HalfRows, TouchNothingBehindTheEnd) {
  for (int64_t n = 0; n < 40; ++n) {
    const auto size = static_cast<size_t>(n);
    const std::vector<TypeParam> from(size, TypeParam(1.5f));
    std::vector<float> floats(size + 1, 7);
    cpu::ToFloats(from.data(), n, floats.data());
    EXPECT_EQ(std::vector<float>(floats.begin(), floats.end() - 1), std::vector<float>(size, 1.5f));
    EXPECT_EQ(floats.back(), 7);
    std::vector<TypeParam> back(size + 1, TypeParam(7.0f));
    cpu::FromFloats(floats.data(), n, back.data());
    for (size_t i = 0; i < size; ++i) EXPECT_EQ(static_cast<float>(back[i]), 1.5f);
    EXPECT_EQ(static_cast<float>(back.back()), 7);
  }
}

// Elements that are computed in as they are, and those that go through a buffer.
template <class T>
void DoublePieces() {
  std::vector<T> x;
  for (int i = 0; i < 100; ++i) x.push_back(static_cast<T>(static_cast<float>(i)));
  std::vector<T> y(x.size() + 1, T(7));
  cpu::Piece<T, 64> in, out;
  for (size_t at = 0; at < x.size(); at += 64) {
    const size_t n = std::min<size_t>(64, x.size() - at);
    const auto* const from = in.Read(x.data() + at, static_cast<int64_t>(n));
    auto* const to = out.Room(y.data() + at);
    for (size_t i = 0; i < n; ++i) to[i] = from[i] * 2;
    out.Write(y.data() + at, static_cast<int64_t>(n));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(static_cast<float>(y[i]), 2 * static_cast<float>(i));
  }
  EXPECT_EQ(static_cast<float>(y.back()), 7);
}

TEST(Piece, HasElementsInTheirComputeType) {
  DoublePieces<float>();
  DoublePieces<double>();
  DoublePieces<Half>();
  DoublePieces<BFloat16>();
}

}  // namespace
}  // namespace firn
