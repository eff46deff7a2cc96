// Compares orders of lines with std::stable_sort, for lines that are sorted by comparing, by digits
// and only in part.

#include "firn/tensor/kernels/cpu/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "firn/tensor/kernels/reducers.h"

namespace firn {
namespace {

template <class T>
class OrderTest : public testing::Test {};
using DTypes =
    testing::Types<float, double, Half, BFloat16, int8_t, uint8_t, int32_t, int64_t, bool>;
TYPED_TEST_SUITE(OrderTest, DTypes);

// Elements of any bits: NaN of both signs, zeros of both signs and denormals among them. There are
// `few` different ones, so that there are ties.
template <class T>
std::vector<T> AnyBits(int64_t n, int64_t few, std::mt19937_64& random) {
  using Bits = BitsOf<T>;
  std::vector<Bits> some(static_cast<size_t>(few));
  for (Bits& b : some) b = static_cast<Bits>(random());
  const Bits sign = static_cast<Bits>(Bits{1} << (sizeof(T) * 8 - 1));
  some[0] = 0;
  if (few > 1) some[1] = sign;
  if (few > 2) some[2] = static_cast<Bits>(~Bits{0});  // NaN, for types that have it
  if (few > 3) some[3] = static_cast<Bits>(~sign);     // the same, positive
  std::vector<T> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) {
    const Bits b = some[random() % some.size()];
    if constexpr (std::is_same_v<T, bool>) {
      v[i] = (b & 1) != 0;
    } else {
      v[i] = std::bit_cast<T>(b);
    }
  }
  return v;
}

template <class T>
bool Less(T a, T b) {
  using C = ComparedAs<T>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(y)) return !std::isnan(x);
  }
  return x < y;
}

// std::vector<bool> has no data().
template <class T>
std::vector<char> BytesOf(const std::vector<T>& v) {
  std::vector<char> bytes(v.size() * sizeof(T));
  for (size_t i = 0; i < v.size(); ++i) {
    const T one = v[i];
    std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
  }
  return bytes;
}

template <class T>
void Check(const Lines& l, const std::vector<T>& x, const cpu::LineOrder& o) {
  const int64_t lines = l.outer * l.inner;
  std::vector<char> values(static_cast<size_t>(lines * o.keep) * sizeof(T));
  std::vector<int64_t> indices(static_cast<size_t>(lines * o.keep), -1);
  std::vector<char> workspace(cpu::OrderWorkspace(l, o, DTypeOf<T>()) + 1);
  const std::vector<char> in = BytesOf(x);
  cpu::OrderLines(l, o, DTypeOf<T>(), in.data(), values.data(), indices.data(), workspace.data());
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t block = line / l.inner, column = line % l.inner;
    const auto at = [&](int64_t i) {
      return x[static_cast<size_t>((block * l.length + i) * l.inner + column)];
    };
    std::vector<int64_t> want(static_cast<size_t>(l.length)), got;
    std::iota(want.begin(), want.end(), 0);
    std::stable_sort(want.begin(), want.end(), [&](int64_t i, int64_t j) {
      return o.descending ? Less<T>(at(j), at(i)) : Less<T>(at(i), at(j));
    });
    want.resize(static_cast<size_t>(o.keep));
    for (int64_t i = 0; i < o.keep; ++i) {
      const auto to = static_cast<size_t>((block * o.keep + i) * l.inner + column);
      got.push_back(indices[to]);
      const T value = at(indices[to]);
      ASSERT_EQ(std::memcmp(values.data() + to * sizeof(T), &value, sizeof(T)), 0);
    }
    if (!o.sorted) {
      std::sort(want.begin(), want.end());
      std::sort(got.begin(), got.end());
    }
    ASSERT_EQ(got, want) << "line " << line;
  }
}

TYPED_TEST(OrderTest, IsThatOfAStableSort) {
  std::mt19937_64 random(1);
  for (const int64_t length : {1, 2, 31, 128, 129, 1000, 3000}) {
    for (const int64_t few : {1, 4, 60, 5000}) {
      const std::vector<TypeParam> x = AnyBits<TypeParam>(3 * length, few, random);
      for (const bool descending : {false, true}) {
        for (const int64_t keep : {int64_t{1}, length / 100, length / 3, length}) {
          SCOPED_TRACE(testing::Message() << length << " of " << few << ", keep " << keep);
          for (const bool sorted : {true, false}) {
            const cpu::LineOrder o = {.descending = descending, .keep = keep, .sorted = sorted};
            Check({3, length, 1}, x, o);
            if (length < 1000) Check({1, length, 3}, x, o);
          }
        }
      }
    }
  }
}

// Every element beats all before it, or no element does.
TYPED_TEST(OrderTest, FindsTheFirstOfLinesThatAreInOrder) {
  std::mt19937_64 random(2);
  std::vector<TypeParam> x = AnyBits<TypeParam>(2500, 400, random);
  std::sort(x.begin(), x.end(), Less<TypeParam>);
  for (const bool descending : {false, true}) {
    for (const int64_t keep : {1, 10, 70}) {
      Check({1, 2500, 1}, x, {.descending = descending, .keep = keep});
    }
  }
}

}  // namespace
}  // namespace firn
