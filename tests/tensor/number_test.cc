// Numbers given with a dtype: integers that a double would round arrive unchanged.
#include "firn/tensor/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using inner::Number;

constexpr int64_t kOdd = 9007199254740993;  // 2^53 + 1
constexpr int64_t kLargest = INT64_MAX, kSmallest = INT64_MIN;
using Integers = std::vector<int64_t>;

Integers Of(const Tensor& t) { return t.ToVector<int64_t>(); }

TEST(NumberTest, KeepsIntegers) {
  for (const int64_t v : {int64_t{0}, int64_t{-7}, kOdd, -kOdd, kLargest, kSmallest, kLargest - 1,
                          kSmallest + 1, int64_t{1} << 62, (int64_t{1} << 62) + 1}) {
    const Number n(v);
    EXPECT_EQ(n.value(), static_cast<double>(v));
    EXPECT_EQ(n.is_double() ? static_cast<int64_t>(n.value()) : n.integer(), v);
    EXPECT_EQ(Of(Full({1}, v, DType::kI64)), (Integers{v}));
  }
  EXPECT_TRUE(Number(0.5).is_double());
  EXPECT_TRUE(Number(1e300).is_double());
  EXPECT_EQ(Number(std::numeric_limits<uint64_t>::max()).integer(), kLargest);
}

TEST(NumberTest, FillsExactly) {
  EXPECT_EQ(Of(Full({2}, kOdd, DType::kI64)), (Integers{kOdd, kOdd}));
  Tensor x = FromVector<int64_t>({1, 2, 3});
  EXPECT_EQ(Of(FullLike(x, -kOdd)), (Integers{-kOdd, -kOdd, -kOdd}));
  x[{Range(0, 1)}].Fill(kOdd);
  EXPECT_EQ(Of(x), (Integers{kOdd, 2, 3}));
  x[2].Fill(Half(3));
  EXPECT_EQ(Of(x), (Integers{kOdd, 2, 3}));
  x[1] = kLargest;
  EXPECT_EQ(Of(x), (Integers{kOdd, kLargest, 3}));
  x.Fill(kOdd + 2);
  EXPECT_EQ(Of(x), (Integers(3, kOdd + 2)));
  EXPECT_EQ(Of(Pad(FromVector<int64_t>({1}), {1, 1}, {.value = kOdd})), (Integers{kOdd, 1, kOdd}));
}

TEST(NumberTest, OrderIsExact) {
  EXPECT_TRUE(Number(kOdd) <= Number(kOdd));
  EXPECT_TRUE(Number(kOdd - 1) <= Number(kOdd));
  EXPECT_FALSE(Number(kOdd) <= Number(kOdd - 1));
  EXPECT_FALSE(Number(0x1p63) <= Number(kLargest));
  EXPECT_FALSE(Number(std::numeric_limits<uint64_t>::max()) <= Number(0x1p63));
  EXPECT_FALSE(Number(NAN) <= Number(1));
  EXPECT_FALSE(Number(1) <= Number(NAN));
}

// PyTorch lets -1 for u8 pass, too, and 255.7.
TEST(NumberTest, IntegersRefuseWhatTheyDoNotHold) {
  const auto of = [](const inner::Element& v, DType d) {
    return testing::ErrorOf([&] { Full({1}, v, d); });
  };
  EXPECT_EQ(of(300, DType::kU8), "full: value is 300 (want 0 to 255, the range of u8)");
  EXPECT_EQ(of(-1, DType::kU8), "full: value is -1 (want 0 to 255, the range of u8)");
  EXPECT_EQ(of(255.7, DType::kU8), "full: value is 255.7 (want 0 to 255, the range of u8)");
  EXPECT_EQ(of(-128.5, DType::kI8), "full: value is -128.5 (want -128 to 127, the range of i8)");
  EXPECT_EQ(of(NAN, DType::kI32),
            "full: value is nan (want -2147483648 to 2147483647, the range of i32)");
  EXPECT_EQ(of(-INFINITY, DType::kU8), "full: value is -inf (want 0 to 255, the range of u8)");
  EXPECT_EQ(of(kOdd, DType::kU8),
            "full: value is 9007199254740993 (want 0 to 255, the range of u8)");
  const std::string of_i64 =
      " (want -9223372036854775808 to 9223372036854775807, the range of i64)";
  EXPECT_EQ(of(0x1p63, DType::kI64), "full: value is 9223372036854775808" + of_i64);
  EXPECT_EQ(of(uint64_t{1} << 63, DType::kI64), "full: value is 9223372036854775808" + of_i64);
  for (const double v : {0.0, -0.0, 2.7, 255.0}) {
    EXPECT_EQ(Of(Full({1}, v, DType::kU8)), (Integers{static_cast<int64_t>(v)}));
  }
  for (const double v : {300.0, -1.0, double{NAN}, double{INFINITY}}) {
    EXPECT_TRUE(Full({1}, v, DType::kBool).Item<bool>());
    EXPECT_EQ(of(v, DType::kF16), "");
  }
}

// Every function that writes a number unchanged, tested by its error for one that is too large.
TEST(NumberTest, WhatIsWrittenAsItIsMustFit) {
  const Tensor x = FromVector<uint8_t>({1, 2, 44}), where = FromVector<int64_t>({0});
  const Tensor mask = FromVector<bool>({true, false, true});
  using Write = std::function<Tensor(Tensor, const Tensor&)>;
  using Give = std::function<Tensor(double)>;
  const std::pair<const char*, Write> writes[] = {
      {"copy_from: source", [](Tensor y, const Tensor& v) { return y.CopyFrom(v); }},
      {"index: value", [](Tensor y, const Tensor& v) { return y[0] = v, y; }},
      {"index: value", [](Tensor y, const Tensor& v) { return y[Range(-1, kEnd, -1)] = v, y; }},
      {"index: value", [&](Tensor y, const Tensor& v) { return y[mask] = v, y; }},
      {"index: value", [&](Tensor y, const Tensor& v) { return y[where] = v, y; }},
      {"index_put: value", [&](Tensor y, const Tensor& v) { return IndexPut(y, {where}, v); }},
      {"masked_fill: value", [&](Tensor y, const Tensor& v) { return MaskedFill(y, mask, v); }},
      {"scatter: source", [&](Tensor y, const Tensor& v) { return Scatter(y, 0, where, v); }},
      {"scatter_reduce: source", [&](Tensor y, const Tensor& v) {
         return ScatterReduce(y, 0, where, v, ScatterReduction::kAmax);
       }}};
  for (const auto& [who, write] : writes) {
    const std::string error = std::string(who) + " is 300 (want 0 to 255, the range of u8)";
    for (const Tensor& v : {Tensor(300), Tensor(300.0)}) {
      const Tensor y = x.Clone();
      EXPECT_EQ(testing::ErrorOf([&] { write(y, v); }), error);
      EXPECT_TRUE(y.Equals(x)) << who;
    }
    EXPECT_EQ(Of(write(x.Clone(), 2.7))[0], 2) << who;
    EXPECT_THROW(write(x.Clone(), -1), Error) << who;
    EXPECT_THROW(write(x.Clone(), NAN), Error) << who;
  }
  const std::pair<const char*, Give> gives[] = {
      {"full_like: value", [&](double v) { return FullLike(x, v); }},
      {"fill: value", [&](double v) { return x.Clone().Fill(v); }},
      {"index: value", [&](double v) { return x.Clone()[0].Fill(v), x; }},
      {"pad: value",
       [&](double v) {
         return Pad(x, {1, 1}, {.value = v});
       }},
      {"where: x", [&](double v) { return Where(mask, static_cast<int64_t>(v), x); }},
      {"where: y", [&](double v) { return Where(mask, x, static_cast<int64_t>(v)); }},
      {"pad_sequence: padding_value",
       [&](double v) {
         return PadSequence({x, x}, {.padding_value = v});
       }},
      {"pad_packed_sequence: padding_value",
       [&](double v) { return PadPackedSequence(PackSequence({x}), {.padding_value = v}).x; }},
      {"linspace: end", [](double v) { return Linspace(0, v, 3, DType::kU8); }},
      {"linspace: start", [](double v) { return Linspace(v, 0, 3, DType::kU8); }},
      {"arange: the first element",
       [](double v) {
         const auto from = static_cast<int64_t>(v);
         return Arange(from, from + 2, 1, {.dtype = DType::kU8});
       }},
      {"arange: the last element",
       [](double v) { return Arange(0, static_cast<int64_t>(v) + 1, 1, {.dtype = DType::kU8}); }},
      {"random_shift: value", [&](double v) {
         return RandomShift(Reshape(x, {1, 3}), {1},
                            {.border = ShiftBorder::kConstant, .value = v});
       }}};
  for (const auto& [who, give] : gives) {
    EXPECT_EQ(testing::ErrorOf([&] { give(300); }),
              std::string(who) + " is 300 (want 0 to 255, the range of u8)");
    EXPECT_NO_THROW(give(2)) << who;
  }
  EXPECT_NO_THROW(Arange(0, 256, 1, {.dtype = DType::kU8}));  // of which 256 is none
  EXPECT_NO_THROW(Arange(3, -1, -1, {.dtype = DType::kU8}));
  EXPECT_NO_THROW(Linspace(0, kLargest, 3, DType::kI64));
  EXPECT_NO_THROW(Linspace(7, 300, 1, DType::kU8));
  EXPECT_NO_THROW(Pad(x, {1, 1}, {.mode = PadMode::kReplicate, .value = 300}));  // takes none
  // Numbers in arithmetic and comparisons stay as they are.
  EXPECT_EQ(Of(x + 300), (Integers{45, 46, 88}));
  EXPECT_EQ(Of(IndexPut(x, {where}, -1, true)), (Integers{0, 2, 44}));
  EXPECT_EQ(Of(ScatterReduce(x, 0, where, 300, ScatterReduction::kSum)), (Integers{45, 2, 44}));
}

// A number that is no double keeps what it lost as an f32.
TEST(NumberTest, WritesAllDigits) {
  const Tensor where = FromVector<int64_t>({0}), mask = FromVector<bool>({true});
  Tensor x = Zeros({1}, DType::kF64), i = Zeros({1}, DType::kI64);
  x[0] = 0.1;
  EXPECT_EQ(x.Item<double>(), 0.1);
  x.CopyFrom(0.2);
  EXPECT_EQ(x.Item<double>(), 0.2);
  x[mask] = 0.3;
  EXPECT_EQ(x.Item<double>(), 0.3);
  EXPECT_EQ(IndexPut(x, {where}, 0.7).Item<double>(), 0.7);
  EXPECT_EQ(IndexPut(Zeros({1}, DType::kF64), {where}, 0.7, true).Item<double>(), 0.7);
  i[0] = 16777217.0;
  EXPECT_EQ(i.Item<int64_t>(), 16777217);
  EXPECT_EQ(Of(MaskedFill(i, mask, 33554433.0)), (Integers{33554433}));
  EXPECT_EQ(Of(Scatter(i, 0, where, 33554433.0)), (Integers{33554433}));
  // A tensor that wants a gradient does not count as a number.
  Tensor v = 0.5;
  v.SetRequiresGrad();
  Sum(IndexPut(x, {where}, v)).Backward();
  EXPECT_EQ(v.grad().Item<double>(), 1);
  Sum(x * v).Backward();
  EXPECT_NEAR(v.grad().Item<double>(), 1.3, 1e-6);
}

// 300 cut to the size of a u8 is 44.
TEST(NumberTest, ComparisonsAreExactWhateverTheyAreCalled) {
  const Tensor x = FromVector<uint8_t>({1, 44, 200});
  EXPECT_EQ(Of(Isin(x, 300)), (Integers{0, 0, 0}));
  EXPECT_EQ(Of(Isin(x, 44)), (Integers{0, 1, 0}));
  EXPECT_EQ(Of(Isclose(x, 300)), (Integers{0, 0, 0}));
  EXPECT_EQ(Searchsorted(x, 300).Item<int64_t>(), 3);
  EXPECT_EQ(Searchsorted(x, -1).Item<int64_t>(), 0);
}

TEST(NumberTest, OtherDtypesTakeTheNearest) {
  EXPECT_EQ(Full({1}, kOdd, DType::kF64).Item(), 9007199254740992.0);
  EXPECT_TRUE(Full({1}, kOdd, DType::kBool).Item<bool>());
  EXPECT_EQ(Full({1}, std::numeric_limits<uint64_t>::max(), DType::kF32).Item<float>(), 0x1p64f);
  // A double would make 2^60 of it.
  const int64_t above = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ(Full({1}, above, DType::kF32).Item<float>(), static_cast<float>(above));
}

TEST(NumberTest, ArithmeticAndComparisonsWithANumberAreExact) {
  const Tensor x = FromVector<int64_t>({kOdd, kOdd - 1, 0});
  EXPECT_EQ(Of(x + kOdd), (Integers{2 * kOdd, 2 * kOdd - 1, kOdd}));
  EXPECT_EQ(Of(kOdd - x), (Integers{0, 1, kOdd}));
  EXPECT_EQ(Of(Add(x, FromVector<int64_t>({0, 1, 2}), kOdd)),
            (Integers{kOdd, 2 * kOdd - 1, 2 * kOdd}));
  EXPECT_EQ(Of(Sub(x, FromVector<int64_t>({0, 1, 1}), kOdd)), (Integers{kOdd, -1, -kOdd}));
  const uint64_t beyond = std::numeric_limits<uint64_t>::max();  // of a float as of a double
  EXPECT_EQ(Add(Full({1}, 0.5), Full({1}, 2), beyond).Item(), 0x1p65);
  EXPECT_EQ(Sub(Full({1}, 0.5), Full({1}, 2), beyond).Item(), -0x1p65);
  EXPECT_EQ(Of(IndexAdd(x, 0, FromVector<int64_t>({2}), FromVector<int64_t>({1}), kOdd)),
            (Integers{kOdd, kOdd - 1, kOdd}));
  EXPECT_EQ(Of(Eq(x, kOdd)), (Integers{1, 0, 0}));
  EXPECT_EQ(Of(Ge(x, kOdd)), (Integers{1, 0, 0}));
  EXPECT_EQ(Of(Clamp(x, kOdd, kLargest)), (Integers{kOdd, kOdd, kOdd}));
  EXPECT_EQ(Of(Where(Eq(x, 0), kOdd, x)), (Integers{kOdd, kOdd - 1, kOdd}));
  EXPECT_EQ(Of(MaskedFill(x, Eq(x, 0), kOdd)), (Integers{kOdd, kOdd - 1, kOdd}));
  EXPECT_EQ(Of(Maximum(x, kOdd)), (Integers{kOdd, kOdd, kOdd}));
  EXPECT_EQ(Of(Remainder(x, kOdd)), (Integers{0, kOdd - 1, 0}));
}

TEST(NumberTest, RangesEndWhereTheyShould) {
  EXPECT_EQ(Of(Arange(kOdd, kOdd + 3)), (Integers{kOdd, kOdd + 1, kOdd + 2}));
  EXPECT_EQ(Of(Linspace(kOdd, kOdd + 4, 3, DType::kI64)), (Integers{kOdd, kOdd + 2, kOdd + 4}));
  EXPECT_EQ(Of(Linspace(-kOdd, -kOdd - 2, 3, DType::kI64)),
            (Integers{-kOdd, -kOdd - 1, -kOdd - 2}));
  // Both ways cut off towards zero.
  const Integers up = {kOdd, kOdd + 1, kOdd + 2, kOdd + 4};
  EXPECT_EQ(Of(Linspace(kOdd, kOdd + 4, 4, DType::kI64)), up);
  EXPECT_EQ(Of(Linspace(kOdd + 4, kOdd, 4, DType::kI64)), Integers(up.rbegin(), up.rend()));
  EXPECT_EQ(Of(Linspace(-kOdd, -kOdd - 4, 4, DType::kI64)), Of(Neg(FromVector(up))));
  EXPECT_EQ(Of(Linspace(-kOdd - 4, -kOdd, 4, DType::kI64)),
            Of(Neg(FromVector(Integers(up.rbegin(), up.rend())))));
}

// The stored number counts, not the one that it was made of.
TEST(NumberTest, ANumberThatIsWrittenToIsATensor) {
  const auto written = [](const std::function<void(Tensor&)>& write) {
    Tensor v = 0.5, x = Zeros({2}, DType::kF64);
    write(v);
    x[0] = v;
    return (x + v).ToVector<double>();
  };
  const std::vector<double> wanted = {5, 2.5};
  EXPECT_EQ(written([](Tensor& v) { v.Fill(2.5); }), wanted);
  EXPECT_EQ(written([](Tensor& v) { v.CopyFrom(2.5); }), wanted);
  EXPECT_EQ(written([](Tensor& v) { v[kEllipsis] = 2.5; }), wanted);
  EXPECT_EQ(written([](Tensor& v) { v.mutable_host_view<float>()[0] = 2.5f; }), wanted);

  Tensor v = 0.5;
  const auto step = [&](const Tensor& to) {
    v.CopyFrom(to);
    return Ones({1}, DType::kF64) * v;
  };
  StaticGraph graph = Freeze(step, Full({}, 2.5));
  EXPECT_EQ(graph(Full({}, 3.5)).Item<double>(), 3.5);
}

TEST(NumberTest, NoTensorIsMadeOfAnIntegerThatNoDtypeHolds) {
  EXPECT_EQ(testing::ErrorOf([] { Tensor t(std::numeric_limits<uint64_t>::max()); }),
            "number: no dtype holds the integer 18446744073709551615; the largest is "
            "9223372036854775807");
  EXPECT_EQ(Tensor(uint64_t{kLargest}).Item<int64_t>(), kLargest);
}

}  // namespace
}  // namespace firn
