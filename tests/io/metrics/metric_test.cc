#include "firn/io/metrics/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "firn/io/metrics/accuracy.h"
#include "firn/io/metrics/auc.h"
#include "firn/io/metrics/confusion.h"
#include "firn/io/metrics/error_rates.h"
#include "firn/io/metrics/regression.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

TEST(MetricTest, TakesEveryMetricOfTheFolder) {
  const Metric all[] = {Accuracy(),
                        TopKAccuracy({.k = 1}),
                        Auc(),
                        MeanIou({.classes = 2}),
                        R2(),
                        MeanSquaredError(),
                        MeanAbsoluteError(),
                        TopNError({.n = 2}),
                        BinaryError()};
  for (const Metric& m : all) {
    EXPECT_TRUE(m);
    EXPECT_TRUE(std::isnan(m.Value()));
  }
  EXPECT_FALSE(Metric());
  EXPECT_FALSE(Metric(std::function<double(const Tensor&, const Tensor&)>()));
}

TEST(MetricTest, AMetricSeesAllSamplesAndAFunctionEachBatch) {
  Metric r2 = R2();
  Metric mean = [](const Tensor& y, const Tensor&) { return Mean(y).Item(); };
  Metric f1 = {PrecisionRecall({.classes = 2}), [](const auto& m) { return m.Value().f1; }};
  for (const double v : {1.0, 2.0, 4.0}) {
    r2.Update(Full({1}, v), Full({1}, v), 1);
    mean.Update(Full({1}, v), Full({1}, 0), v == 4 ? 2 : 1);
    f1.Update(FromVector(std::vector<int64_t>{v > 1}), FromVector(std::vector<int64_t>{v > 1}), 1);
  }
  EXPECT_EQ(r2.Value(), 1);  // a single sample has no value
  EXPECT_EQ(mean.Value(), (1 + 2 + 2 * 4) / 4.0);
  EXPECT_EQ(f1.Value(), 1);
  mean.Reset();
  EXPECT_TRUE(std::isnan(mean.Value()));
}

TEST(MetricTest, CopiesShareNothing) {
  Metric one = MeanSquaredError();
  one.Update(Zeros({2}), Ones({2}), 2);
  Metric two = one;
  two.Update(Zeros({2}), Full({2}, 3), 2);
  EXPECT_EQ(one.Value(), 1);
  EXPECT_EQ(two.Value(), 5);
  one = two;
  two.Reset();
  EXPECT_EQ(one.Value(), 5);
}

}  // namespace
}  // namespace firn::io
