#include "firn/nn/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "firn/device/parallel.h"
#include "firn/device/philox.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/rng.h"

namespace firn::nn {
namespace {

struct Moments {
  double mean = 0, stddev = 0, low = 1e300, high = -1e300;
};

Moments MomentsOf(const init::Initializer& initializer, const Shape& shape,
                  DType dtype = DType::kF32) {
  Tensor t = Zeros(shape, dtype);
  initializer(t);
  Moments m;
  const std::vector<double> values = t.ToVector<double>();
  for (double v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.low = std::min(m.low, v);
    m.high = std::max(m.high, v);
  }
  for (double v : values) {
    m.stddev += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  }
  m.stddev = std::sqrt(m.stddev);
  return m;
}

TEST(InitTest, UniformFillsItsRangeEvenly) {
  const Moments m = MomentsOf(init::Uniform(-1, 3), {200, 200});
  EXPECT_GE(m.low, -1);
  EXPECT_LE(m.high, 3);
  EXPECT_NEAR(m.mean, 1, 0.03);
  EXPECT_NEAR(m.stddev, 4 / std::sqrt(12.0), 0.02);
}

TEST(InitTest, NormalHasItsMoments) {
  const Moments m = MomentsOf(init::Normal(2, 0.5), {200, 200}, DType::kF64);
  EXPECT_NEAR(m.mean, 2, 0.015);
  EXPECT_NEAR(m.stddev, 0.5, 0.01);
  EXPECT_GT(m.high, 3.5);
}

TEST(InitTest, TruncatedNormalStaysWithinItsBounds) {
  const Moments m = MomentsOf(init::TruncatedNormal(0, 1, -1, 1.5), {200, 200});
  EXPECT_GE(m.low, -1);
  EXPECT_LE(m.high, 1.5);
  EXPECT_NEAR(m.mean, 0.1452, 0.01);  // (phi(-1) - phi(1.5)) / (Phi(1.5) - Phi(-1))
}

TEST(InitTest, XavierBalancesBothFans) {
  const double want = 3 * std::sqrt(2.0 / (100 * 9 + 200 * 9));
  EXPECT_NEAR(MomentsOf(init::XavierNormal(3), {200, 100, 3, 3}).stddev, want, 0.01 * want);
  const Moments uniform = MomentsOf(init::XavierUniform(3), {200, 100, 3, 3});
  EXPECT_NEAR(uniform.stddev, want, 0.01 * want);
  EXPECT_LE(uniform.high, std::sqrt(3.0) * want);
}

TEST(InitTest, KaimingUsesTheChosenFan) {
  const double in = init::kReluGain / std::sqrt(100.0 * 9);
  EXPECT_NEAR(MomentsOf(init::KaimingNormal(), {200, 100, 3, 3}).stddev, in, 0.01 * in);
  const double out = 1 / std::sqrt(200.0 * 9);
  const init::KaimingOptions o = {.gain = 1, .fan = init::Fan::kOut};
  EXPECT_NEAR(MomentsOf(init::KaimingUniform(o), {200, 100, 3, 3}).stddev, out, 0.01 * out);
}

TEST(InitTest, OrthogonalGivesOrthonormalRowsOrColumns) {
  for (const Shape& shape : {Shape{4, 3, 2}, Shape{7, 4}, Shape{5, 5}, Shape{96, 96}}) {
    Tensor t = Zeros(shape, DType::kF64);
    init::Orthogonal(2)(t);
    const std::vector<double> v = t.ToVector<double>();
    const int64_t rows = shape[0], columns = t.num_elements() / rows;
    const bool wide = rows <= columns;
    const int64_t count = wide ? rows : columns, length = wide ? columns : rows;
    for (int64_t a = 0; a < count; ++a) {
      for (int64_t b = 0; b < count; ++b) {
        double dot = 0;
        for (int64_t i = 0; i < length; ++i) {
          const auto at = [&](int64_t r) {
            return v[static_cast<size_t>(wide ? r * columns + i : i * columns + r)];
          };
          dot += at(a) * at(b);
        }
        EXPECT_NEAR(dot, a == b ? 4 : 0, 2e-14) << shape << " " << a << " " << b;
      }
    }
  }
}

TEST(InitTest, NumbersDoNotDependOnThreads) {
  Tensor one = Zeros({300, 300}), many = Zeros({300, 300});
  const int threads = NumThreads();
  ManualSeed(5);
  SetNumThreads(1);
  init::Normal(0, 1)(one);
  ManualSeed(5);
  SetNumThreads(4);
  init::Normal(0, 1)(many);
  SetNumThreads(threads);
  EXPECT_TRUE(one.Equals(many));
  init::Normal(0, 1)(many);
  EXPECT_FALSE(one.Equals(many));
}

TEST(InitTest, RefusesWhatItCannotFill) {
  Tensor integers = Zeros({3}, DType::kI64), vector = Zeros({3}), undefined;
  EXPECT_THROW(init::Constant(1)(integers), Error);
  EXPECT_THROW(init::Constant(1)(undefined), Error);
  EXPECT_THROW(init::KaimingUniform()(vector), Error);
  EXPECT_THROW(init::Orthogonal()(vector), Error);
}

TEST(InitTest, FillsEveryFloatingDtype) {
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    Tensor t = Zeros({3}, d);
    init::Constant(1.5)(t);
    EXPECT_EQ(t.ToVector<double>(), std::vector<double>(3, 1.5));
  }
}

TEST(InitTest, FansAreOfInputsAndOutputs) {
  EXPECT_EQ(init::FansOf({8, 3}).in, 3);
  EXPECT_EQ(init::FansOf({8, 3, 5, 5}).in, 75);
  EXPECT_EQ(init::FansOf({8, 3, 5, 5}).out, 200);
  EXPECT_THROW(init::FansOf({8}), Error);
}

TEST(InitTest, TheGainOfLeakyReluLiesBetweenReluAndLinear) {
  EXPECT_DOUBLE_EQ(init::LeakyReluGain(0), init::kReluGain);
  EXPECT_DOUBLE_EQ(init::LeakyReluGain(1), init::kLinearGain);
  EXPECT_DOUBLE_EQ(init::LeakyReluGain(0.5), std::sqrt(2 / 1.25));
}

}  // namespace
}  // namespace firn::nn
