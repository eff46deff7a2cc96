// Counts the instructions that an element takes, for rows that must be vectors. A compiler that
// does not vectorise a loop says nothing, and results are the same.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "firn/device/cpu.h"
#include "firn/device/parallel.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/tensor.h"
#include "tests/count_instructions.h"

namespace firn {
namespace {

constexpr int64_t kFew = 512, kMany = 2048;
using Call = std::function<void()>;

// The instructions of the call that prepare(n) returns, for each of n elements.
std::optional<double> PerElement(const std::function<Call(int64_t n)>& prepare) {
  SetNumThreads(1);
  const Call few = prepare(kFew), many = prepare(kMany);
  few();
  many();
  const auto less = testing::InstructionsIn(few), more = testing::InstructionsIn(many);
  if (!less.has_value() || !more.has_value()) return std::nullopt;
  return static_cast<double>(*more - *less) / static_cast<double>(kMany - kFew);
}

class RowInstructionsTest : public ::testing::TestWithParam<DType> {};

// One by one it takes 11; the narrowest registers take 5.
TEST_P(RowInstructionsTest, WhereChoosesByVectors) {
  const auto count = PerElement([](int64_t n) -> Call {
    const Tensor x = Ones({n}, GetParam()), y = Zeros({n}, GetParam()), mask = Gt(x, y);
    return [=] { Where(mask, x, y); };
  });
  if (!count.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*count, 8);
}

TEST_P(RowInstructionsTest, BoolsAreConvertedAsBytesAre) {
  const auto from = [](DType dtype) {
    return PerElement([dtype](int64_t n) -> Call {
      const Tensor x = Ones({n}, dtype);
      return [=] { Cast(x, GetParam()); };
    });
  };
  const auto bools = from(DType::kBool), bytes = from(DType::kU8);
  if (!bools.has_value() || !bytes.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*bools, *bytes + 0.5);
}

// Four rows, of which each is multiplied by a number of its own. Repeating that one by one takes 3
// to 5 more.
TEST_P(RowInstructionsTest, ANumberIsRepeatedByVectors) {
  const auto with = [](bool repeated) {
    return PerElement([repeated](int64_t n) -> Call {
      const Tensor x = Ones({4, n / 4}, GetParam()),
                   y = Ones({4, repeated ? 1 : n / 4}, GetParam());
      return [=] { Mul(x, y); };
    });
  };
  const auto one = with(true), all = with(false);
  if (!one.has_value() || !all.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*one, *all + 1.5);
}

// Sums that are held in memory are loaded and stored again for each product: with AVX-512 that
// takes 1.1 instructions for each tap and element instead of 0.25.
TEST(SumInstructionsTest, SumsOfShiftedRowsStayInRegisters) {
  const auto of_taps = [](int64_t k) {
    return PerElement([k](int64_t n) -> Call {
      const Tensor x = Ones({1, 2, 8, n / 16}), w = Ones({2, 1, k, k});
      return [=] { Conv2d(x, w, {}, {.padding = k / 2, .groups = 2}); };
    });
  };
  const auto few = of_taps(3), many = of_taps(5);
  if (!few.has_value() || !many.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT((*many - *few) / 16, inner::ChannelBlock() == 16 ? 0.5 : 2);
}

INSTANTIATE_TEST_SUITE_P(DTypes, RowInstructionsTest,
                         ::testing::Values(DType::kF32, DType::kBF16, DType::kI64),
                         [](const auto& i) { return std::string(DTypeName(i.param)); });

// The instructions of `call` on tensors with n elements, for each element.
template <class F>
std::optional<double> PerElementOf(DType dtype, int64_t rows, const F& call) {
  return PerElement([=](int64_t n) -> Call {
    const Tensor x = Cast(Mul(Ones({rows, n / rows}), 0.75), dtype);
    return [=] { call(x); };
  });
}

// One by one it takes 43.
TEST(ColumnInstructionsTest, ExponentialsOfColumnsAreVectors) {
  const auto count = PerElementOf(DType::kF32, 16, [](const Tensor& x) { Logsumexp(x, {0}); });
  if (!count.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*count, 30);
}

// One by one it takes 33.
TEST(FloatInstructionsTest, RatiosAreChosenByVectors) {
  const auto count =
      PerElementOf(DType::kF32, 1, [](const Tensor& x) { inner::MulRatio(x, x, x); });
  if (!count.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*count, 12);
}

// The last dimension of what is compared is long: pairs of corners would be rows of two, and take
// 390.
TEST(FloatInstructionsTest, BoxesAreComparedByVectors) {
  const auto count = PerElement([](int64_t n) -> Call {
    const Tensor few = Rand({4, 4}), many = Rand({n / 4, 4});
    return [=] { BoxIou(few, many); };
  });
  if (!count.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*count, 150);
}

// A logarithm needs only its own digits, and a power needs more digits of its logarithm.
TEST(DoubleInstructionsTest, LogarithmsToABaseAreShorterThanThoseOfPowers) {
  const auto pow = PerElementOf(DType::kF64, 1, [](const Tensor& x) { Pow(x, x); });
  const auto log2 = PerElementOf(DType::kF64, 1, [](const Tensor& x) { Log2(x); });
  if (!pow.has_value() || !log2.has_value()) GTEST_SKIP() << "this machine forbids tracing";
  EXPECT_LT(*log2, 0.45 * *pow);
}

}  // namespace
}  // namespace firn
