// Compares merged metrics of ranks (threads here) with one that has seen all samples.
#include "firn/io/metrics/merge_ranks.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/metrics/accuracy.h"
#include "firn/io/metrics/auc.h"
#include "firn/io/metrics/confusion.h"
#include "firn/io/metrics/error_rates.h"
#include "firn/io/metrics/metric.h"
#include "firn/io/metrics/regression.h"
#include "firn/io/metrics/running_mean.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::OnRanks;

constexpr int64_t kSamples = 10;

// Samples are numbered; the last of four ranks has none, the others different amounts.
struct Samples {
  Tensor predictions, targets;
};
using Make = std::function<Samples(int64_t begin, int64_t end)>;

Samples Scores(int64_t begin, int64_t end) {
  RandomGenerator random(3);
  return {Slice(Rand({kSamples, 4}, DType::kF32, {.generator = &random}), 0, begin, end),
          Remainder(Arange(begin, end), 4)};
}
Samples Numbers(int64_t begin, int64_t end) {
  RandomGenerator random(4);
  return {Slice(Rand({kSamples, 3}, DType::kF64, {.generator = &random}), 0, begin, end),
          Slice(Rand({kSamples, 3}, DType::kF64, {.generator = &random}), 0, begin, end)};
}
Samples Sides(int64_t begin, int64_t end) {
  RandomGenerator random(5);
  return {Slice(Rand({kSamples}, DType::kF32, {.generator = &random}), 0, begin, end),
          Remainder(Arange(begin, end), 2)};
}

double Plain(const Tensor& p, const Tensor& t) { return Mean(Abs(p - t)).Item(); }

void ExpectAsOne(const Metric& metric, const Make& make, const char* what) {
  Metric one = metric;
  const Samples all = make(0, kSamples);
  one.Update(all.predictions, all.targets, kSamples);
  OnRanks(4, [&](comm::Communicator& comm) {
    const int64_t begins[] = {0, 1, 6, kSamples, kSamples};
    const int64_t begin = begins[comm.rank()], end = begins[comm.rank() + 1];
    Metric own = metric;
    if (begin < end) {
      const Samples part = make(begin, end);
      own.Update(part.predictions, part.targets, static_cast<double>(end - begin));
    }
    const double before = own.Value();
    Metric merged = own.MergeRanks(comm);
    // Sums of ten numbers between 0 and 1 in another order.
    EXPECT_NEAR(merged.Value(), one.Value(), 64 * std::numeric_limits<double>::epsilon()) << what;
    double of_zero = merged.Value();
    ASSERT_TRUE(comm.Broadcast(&of_zero, 1, comm::Element::kF64, 0).ok());
    EXPECT_EQ(merged.Value(), of_zero) << what << ": on all the same";
    EXPECT_TRUE(own.Value() == before || std::isnan(before)) << what << ": stays as it is";
  });
}

TEST(MergeRanksTest, AllMetricsAreThatOfAllSamples) {
  ExpectAsOne(Accuracy(), Scores, "accuracy");
  ExpectAsOne(TopKAccuracy({.k = 2}), Scores, "top 2");
  ExpectAsOne(TopNError({.n = 2}), Scores, "top 2 error");
  ExpectAsOne(BinaryError(), Sides, "binary error");
  ExpectAsOne(MeanIou({.classes = 4}), Scores, "iou");
  ExpectAsOne({PrecisionRecall({.classes = 4}), [](const auto& m) { return m.Value().f1; }}, Scores,
              "f1");
  ExpectAsOne(Auc(), Sides, "auc");
  ExpectAsOne(R2(), Numbers, "r2");
  ExpectAsOne(MeanSquaredError({.root = true}), Numbers, "rmse");
  ExpectAsOne(MeanAbsoluteError(), Numbers, "mae");
  ExpectAsOne(&Plain, Numbers, "a function");
}

TEST(MergeRanksTest, NothingWasSeenByAny) {
  OnRanks(2, [](comm::Communicator& comm) {
    EXPECT_TRUE(std::isnan(MergeRanks(Auc(), comm).Value()));
    EXPECT_TRUE(std::isnan(MergeRanks(R2(), comm).Value()));
  });
}

// More numbers than travel at once, and not equally many.
TEST(MergeRanksTest, TakesManyNumbers) {
  constexpr int64_t kMany = 70'000;
  const Tensor scores = Rand({2 * kMany}, DType::kF32), labels = Remainder(Arange(2 * kMany), 2);
  Auc one;
  one.Update(scores, labels);
  OnRanks(2, [&](comm::Communicator& comm) {
    const int64_t begin = comm.rank() == 0 ? 0 : 10, end = comm.rank() == 0 ? 10 : 2 * kMany;
    Auc own;
    own.Update(Slice(scores, 0, begin, end), Slice(labels, 0, begin, end));
    EXPECT_EQ(MergeRanks(own, comm).Value(), one.Value());
  });
}

// Rank 0 sends numbers that no metric of rank 1 would send.
TEST(MergeRanksTest, RefusesNumbersThatNoRankHas) {
  const auto error_of = [](int64_t count, const std::vector<double>& numbers) {
    std::string error;
    OnRanks(2, [&](comm::Communicator& comm) {
      if (comm.rank() == 1) {
        error = ErrorOf([&] { MergeRanks(Auc(), comm); });
        return;
      }
      std::vector<int64_t> counts(2);
      ASSERT_TRUE(comm.AllGather(&count, counts.data(), 1, comm::Element::kI64).ok());
      std::vector<double> all(2 * numbers.size());
      if (numbers.empty()) return;
      ASSERT_TRUE(
          comm.AllGather(numbers.data(), all.data(), std::ssize(numbers), comm::Element::kF64)
              .ok());
    });
    return error;
  };
  EXPECT_THAT(error_of(-1, {}), HasSubstr("rank 0 has -1 numbers (want 0 to 2^30)"));
  EXPECT_THAT(error_of(int64_t{1} << 40, {}), HasSubstr("rank 0 has 1099511627776 numbers"));
  EXPECT_THAT(error_of(3, {1, std::numeric_limits<double>::quiet_NaN(), 0}),
              HasSubstr("a score of another rank is NaN"));
}

struct OneOfMyOwn {
  void Update(const Tensor&, const Tensor&) {}
  double Value() const { return 1; }
  void Reset() {}
};

TEST(MergeRanksTest, RefusesWhatDoesNotFit) {
  OnRanks(2, [](comm::Communicator& comm) {
    const ConfusionMatrix matrix({.classes = 2 + comm.rank()});
    EXPECT_THAT(ErrorOf([&] { MergeRanks(matrix, comm); }),
                HasSubstr("want metrics of the same kind and options on all ranks"));
    RunningMean mean;  // of two numbers, the first of which would be a size
    mean.Update(1e300);
    const auto mixed = [&] {
      if (comm.rank() == 0) {
        MergeRanks(mean, comm);
      } else {
        MergeRanks(Auc(), comm);
      }
    };
    if (comm.rank() == 0) {
      mixed();
    } else {
      EXPECT_THAT(ErrorOf(mixed), HasSubstr("another rank's has 2 numbers"));
    }
    // Rank 0 sends as many numbers as Accuracy has, one of which is no count.
    const auto counts = [&] {
      if (comm.rank() == 0) {
        MergeRanks(mean, comm);
      } else {
        MergeRanks(Accuracy(), comm);
      }
    };
    if (comm.rank() == 0) {
      counts();
    } else {
      EXPECT_THAT(ErrorOf(counts), HasSubstr("want metrics of the same kind"));
    }
    EXPECT_THAT(ErrorOf([&] { Metric(OneOfMyOwn()).MergeRanks(comm); }),
                HasSubstr("want Merge and VisitNumbers"));
  });
}

}  // namespace
}  // namespace firn::io
