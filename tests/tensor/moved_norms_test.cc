// Normalisations that change buffers in place, for which the conformance suite has no samples: mean
// subtraction and spectral norm.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/norm/channel_norms.h"
#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/ops/norm/spectral_norm.h"
#include "firn/tensor/testing/samples.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::Normal;

TEST(MeanSubtractionTest, MovesTheMeanByTheCount) {
  const Tensor x = FromVector(std::vector<double>{1, 2, 3, 6}, Shape({2, 2}));
  const Tensor mean = Zeros({2}, DType::kF64), count = Zeros({1}, DType::kI64);
  const Tensor first = MeanSubtraction(x, mean, count);
  EXPECT_EQ(mean.ToVector<double>(), (std::vector<double>{2, 4}));
  EXPECT_EQ(first.ToVector<double>(), (std::vector<double>{-1, -2, 1, 2}));
  EXPECT_EQ(count.ToVector<int64_t>(), std::vector<int64_t>{1});
  MeanSubtraction(Add(x, 2), mean, count);  // half of the way to 4 and 6
  EXPECT_EQ(mean.ToVector<double>(), (std::vector<double>{3, 5}));
  const Tensor at_rest = MeanSubtraction(x, mean, count, {.training = false});
  EXPECT_EQ(at_rest.ToVector<double>(), (std::vector<double>{-2, -3, 0, 1}));
  EXPECT_EQ(count.ToVector<int64_t>(), std::vector<int64_t>{2});
}

TEST(MeanSubtractionTest, MovesNothingForABatchOfNothing) {
  const Tensor mean = Full({2}, 3, DType::kF64), count = Ones({1}, DType::kI64);
  EXPECT_EQ(MeanSubtraction(Zeros({0, 2}, DType::kF64), mean, count).shape(), Shape({0, 2}));
  EXPECT_EQ(mean.ToVector<double>(), (std::vector<double>{3, 3}));
  EXPECT_EQ(count.ToVector<int64_t>(), std::vector<int64_t>{1});
}

TEST(MeanSubtractionTest, MovesTheMeanAtEachRunOfAFrozenStep) {
  const Tensor mean = Zeros({2}, DType::kF64), count = Zeros({1}, DType::kI64);
  const Tensor plain_mean = Zeros({2}, DType::kF64), plain_count = Zeros({1}, DType::kI64);
  StaticGraph step =
      Freeze([&](const Tensor& x) { return MeanSubtraction(x, mean, count); }, Normal({3, 2}));
  MeanSubtraction(Normal({3, 2}), plain_mean, plain_count);
  for (uint64_t seed = 2; seed < 5; ++seed) {
    const Tensor x = Normal({3, 2}, seed);
    EXPECT_EQ(step(x).ToVector<double>(),
              MeanSubtraction(x, plain_mean, plain_count).ToVector<double>());
    EXPECT_EQ(mean.ToVector<double>(), plain_mean.ToVector<double>());
    EXPECT_EQ(count.ToVector<int64_t>(), plain_count.ToVector<int64_t>());
  }
}

TEST(MeanSubtractionTest, HasTheGradientThroughThePresentBatch) {
  Tensor x = Normal({3, 2});
  x.SetRequiresGrad();
  const Tensor mean = Zeros({2}, DType::kF64), count = FromVector(std::vector<int64_t>{3});
  const Tensor weight = Normal({3, 2}, 2);
  const Tensor dx = Grad(Sum(Mul(MeanSubtraction(x, mean, count), weight)), x);
  // A quarter of the batch's mean is subtracted from each y: dy - sum(dy) / (3 * 4).
  const Tensor want = Sub(weight, Mul(Sum(weight, 0, true), 1.0 / 12));
  const std::vector<double> a = dx.ToVector<double>(), b = want.ToVector<double>();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14);
}

TEST(MeanSubtractionTest, SaysWhatDoesNotFit) {
  const Tensor x = Normal({2, 3}), count = Zeros({1}, DType::kI64);
  const std::string mean = ErrorOf([&] { MeanSubtraction(x, Normal({2}), count); });
  EXPECT_NE(mean.find("running_mean [2] does not fit x [2, 3] from dimension 1 on"), mean.npos)
      << mean;
  const std::string type = ErrorOf([&] { MeanSubtraction(x, Normal({3}), Normal({1})); });
  EXPECT_NE(type.find("count be i64 of one element"), type.npos) << type;
  const std::string whole = ErrorOf([&] {
    MeanSubtraction(Ones({2, 3}, DType::kI64), Ones({3}, DType::kI64), count, {.training = false});
  });
  EXPECT_NE(whole.find("x must be floating"), whole.npos) << whole;
}

double LargestSingularValue(const Tensor& w) {
  Tensor v = Ones({w.size(1)}, w.dtype());
  for (int i = 0; i < 2000; ++i) v = Normalize(Matmul(Matmul(w, v), w), 2, 0);
  return Norm(Matmul(w, v)).Item<double>();
}

TEST(SpectralNormTest, FindsTheLargestSingularValue) {
  const Tensor w = Normal({3, 2, 2});
  const Tensor u = Normal({2}, 2), v = Normal({6}, 3);
  Tensor y;
  for (int i = 0; i < 200; ++i) y = SpectralNorm(w, u, v, {.dim = 1});
  const Tensor matrix = Reshape(Permute(w, {1, 0, 2}), {2, 6});
  const double sigma = LargestSingularValue(matrix);
  const std::vector<double> got = y.ToVector<double>(), plain = w.ToVector<double>();
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], plain[i] / sigma, 1e-12);
  EXPECT_NEAR(Norm(u).Item<double>(), 1, 1e-14);
  EXPECT_NEAR(Norm(v).Item<double>(), 1, 1e-14);
}

TEST(SpectralNormTest, MovesNothingInEvaluation) {
  const Tensor w = Normal({3, 4}), u = Normal({3}, 2), v = Normal({4}, 3);
  const std::vector<double> before = u.ToVector<double>();
  const Tensor y = SpectralNorm(w, u, v, {.training = false});
  EXPECT_EQ(u.ToVector<double>(), before);
  const double sigma = Matmul(u, Matmul(w, v)).Item<double>();
  EXPECT_NEAR(y.ToVector<double>()[5], w.ToVector<double>()[5] / sigma, 1e-14);
}

TEST(SpectralNormTest, MovesTheVectorsAtEachRunOfAFrozenStep) {
  const Tensor u = Normal({3}, 2), v = Normal({4}, 3), plain_u = u.Clone(), plain_v = v.Clone();
  Tensor w = Normal({3, 4});
  w.SetRequiresGrad();
  const auto step_with = [&](const Tensor& left, const Tensor& right) {
    return [&w, &left, &right](const Tensor& x) {
      return Grad(Sum(Matmul(SpectralNorm(w, left, right, {.iterations = 2}), x)), w);
    };
  };
  const auto plain = step_with(plain_u, plain_v);
  StaticGraph step = Freeze(step_with(u, v), Normal({4, 2}));
  plain(Normal({4, 2}));
  for (uint64_t seed = 4; seed < 7; ++seed) {
    const Tensor x = Normal({4, 2}, seed);
    EXPECT_EQ(step(x).ToVector<double>(), plain(x).ToVector<double>());
    EXPECT_EQ(u.ToVector<double>(), plain_u.ToVector<double>());
    EXPECT_EQ(v.ToVector<double>(), plain_v.ToVector<double>());
  }
}

TEST(SpectralNormTest, HoldsTheVectorsConstantInTheGradient) {
  const Tensor u = Normal({3}, 2), v = Normal({4}, 3);
  const auto f = [&](const Tensor& w) { return SpectralNorm(w, u, v, {.training = false}); };
  const absl::Status status = GradCheck(f, Normal({3, 4}));
  EXPECT_TRUE(status.ok()) << status;
  // A call in training between forward and backward does not change the gradient.
  Tensor w = Normal({3, 4});
  w.SetRequiresGrad();
  const Tensor y = Sum(SpectralNorm(w, u, v, {.training = false}));
  const Tensor want = Grad(Sum(SpectralNorm(w, u, v, {.training = false})), w);
  SpectralNorm(w, u, v);
  EXPECT_EQ(Grad(y, w).ToVector<double>(), want.ToVector<double>());
}

TEST(SpectralNormTest, SaysWhatDoesNotFit) {
  const Tensor w = Normal({3, 4});
  const std::string u = ErrorOf([&] { SpectralNorm(w, Normal({4}), Normal({4})); });
  EXPECT_NE(u.find("u must be f64 [3] for w f64 [3, 4] on cpu, got f64 [4] on cpu"), u.npos) << u;
  const std::string rank = ErrorOf([&] { SpectralNorm(Normal({4}), Normal({4}), Normal({1})); });
  EXPECT_NE(rank.find("w must be floating, of at least 2 dimensions"), rank.npos) << rank;
  const std::string whole = ErrorOf([] {
    const auto ones = [](int64_t n) { return Ones({n}, DType::kI64); };
    SpectralNorm(Ones({3, 4}, DType::kI64), ones(3), ones(4), {.training = false});
  });
  EXPECT_NE(whole.find("w must be floating"), whole.npos) << whole;
}

}  // namespace
}  // namespace firn
