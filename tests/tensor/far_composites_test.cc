// Functions that are made of operations, of numbers at the edges of f32 and f16: compares values
// and gradients with the same functions in f64, which holds all intermediate results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/linalg/pinv.h"
#include "firn/tensor/ops/linalg/svd.h"
#include "firn/tensor/ops/linear/distance.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/likelihood.h"
#include "firn/tensor/ops/loss/regression.h"
#include "firn/tensor/ops/loss/similarity.h"
#include "firn/tensor/ops/norm/channel_norms.h"
#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/ops/pool/lp_pool.h"

namespace firn {
namespace {

using Inputs = std::vector<Tensor>;
struct Case {
  std::string name;
  Shape shape;  // of each input
  int inputs;
  std::function<Tensor(const Inputs&)> f;
};
constexpr Reduction kEach = Reduction::kNone;

// The value and the gradients of a function, in f64.
std::vector<std::vector<double>> Results(const Case& c, const std::vector<std::vector<double>>& x,
                                         DType dtype) {
  Inputs in;
  for (const std::vector<double>& v : x) {
    in.push_back(FromVector(v).To(dtype).Reshape(c.shape));
    in.back().SetRequiresGrad();
  }
  const Tensor y = c.f(in);
  std::vector<std::vector<double>> all = {y.To(DType::kF64).ToVector<double>()};
  for (const Tensor& d : Grad({y}, in, {.seeds = {OnesLike(y)}, .allow_unused = true})) {
    all.push_back(d.defined() ? d.To(DType::kF64).ToVector<double>()
                              : std::vector<double>(x[0].size()));
  }
  return all;
}

struct Range {
  DType dtype;
  double largest, least, error;  // `least`: the smallest number that has all its digits
};
constexpr Range kF32Range{DType::kF32, 3e38, 1.2e-38, 1e-4};
constexpr Range kF16Range{DType::kF16, 65504, 6.2e-5, 1e-2};

void ExpectAsInF64(const Case& c, std::vector<std::vector<double>> x, const Range& range) {
  for (std::vector<double>& v : x) {
    v = FromVector(v).To(range.dtype).To(DType::kF64).ToVector<double>();
  }
  const auto got = Results(c, x, range.dtype), want = Results(c, x, DType::kF64);
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) {
    double top = 0;
    for (const double w : want[k])
      top = std::max(top, std::abs(w) < range.largest ? std::abs(w) : 0);
    for (size_t i = 0; i < got[k].size(); ++i) {
      const double w = want[k][i], g = got[k][i];
      ASSERT_TRUE(std::isfinite(w)) << c.name << ": " << k << " " << i;
      if (std::abs(w) > range.largest / 2) continue;
      EXPECT_LE(std::abs(g - w), range.error * std::max(std::abs(w), top) + 4 * range.least)
          << DTypeName(range.dtype) << " " << c.name << (k == 0 ? ", value " : ", gradient ") << i
          << " at " << x[0][i % x[0].size()] << ": " << g << ", want " << w;
    }
  }
}

// Rows of ordinary numbers, with a zero, times `scale`.
std::vector<std::vector<double>> Rows(const Case& c, double scale) {
  static const std::vector<double> kRow = {.5, -1.25, 2, .75, 1.5,   .25,  -.5,  1,   -2,
                                           0,  .375,  1, .87, -.375, 1.12, 2.25, -1.5};
  std::vector<std::vector<double>> x(static_cast<size_t>(c.inputs));
  for (size_t k = 0; k < x.size(); ++k) {
    for (int64_t i = 0; i < c.shape.num_elements(); ++i) {
      x[k].push_back(scale * kRow[(static_cast<size_t>(i) + 5 * k) % kRow.size()]);
    }
  }
  return x;
}

const Shape kMatrix = {3, 4}, kChannels = {2, 3, 4}, kRows = {2, 140};

TEST(FarCompositesTest, LengthsWhoseSquaresLeaveTheRange) {
  const std::vector<Case> cases = {
      {"cdist", kMatrix, 2, [](const Inputs& x) { return Cdist(x[0], x[1]); }},
      {"cdist of order 3", kMatrix, 2, [](const Inputs& x) { return Cdist(x[0], x[1], 3); }},
      {"cdist of one tensor", kMatrix, 1, [](const Inputs& x) { return Cdist(x[0], x[0]); }},
      {"norm of order 3", kMatrix, 1, [](const Inputs& x) { return Norm(x[0], 3, 1); }},
      {"weight_norm", kMatrix, 2, [](const Inputs& x) { return WeightNorm(x[0], Sum(x[1], 1)); }},
      {"weight_norm with eps", kMatrix, 2,
       [](const Inputs& x) { return WeightNorm(x[0], Sum(x[1], 1), {.eps = 1e-12}); }},
      {"weight_norm of rows", kRows, 2,
       [](const Inputs& x) { return WeightNorm(x[0], Mean(x[1], 1)); }},
      {"weight_norm of rows with eps", kRows, 2,
       [](const Inputs& x) { return WeightNorm(x[0], Mean(x[1], 1), {.eps = 1e-12}); }},
      {"normalize of rows", kRows, 1, [](const Inputs& x) { return Normalize(x[0]); }},
      {"local_response_norm", kChannels, 1,
       [](const Inputs& x) { return LocalResponseNorm(x[0], 3); }},
  };
  for (const Case& c : cases) {
    for (const double scale : {1e-30, 1e-20, 1.0, 1e20, 1e30}) {
      ExpectAsInF64(c, Rows(c, scale), kF32Range);
    }
    for (const double scale : {1e-4, 1.0, 300.0, 1e4}) {
      if (c.name != "cdist of order 3" || scale < 1e4) ExpectAsInF64(c, Rows(c, scale), kF16Range);
    }
  }
}

// Their elements are in range.
TEST(FarCompositesTest, NormsAndSumsThatLeaveTheRange) {
  const std::vector<Case> cases = {
      {"normalize", kMatrix, 1, [](const Inputs& x) { return Normalize(x[0]); }},
      {"normalize, 1", kMatrix, 1, [](const Inputs& x) { return Normalize(x[0], 1); }},
      {"normalize, 3", kMatrix, 1, [](const Inputs& x) { return Normalize(x[0], 3, 0); }},
      {"normalize, all", kMatrix, 1, [](const Inputs& x) { return Normalize(x[0], 2, {}); }},
      {"cosine_similarity", kMatrix, 2,
       [](const Inputs& x) { return CosineSimilarity(x[0], x[1]); }},
      {"mean", kMatrix, 1, [](const Inputs& x) { return Mean(x[0]); }},
      {"mean of rows", kMatrix, 1, [](const Inputs& x) { return Mean(Abs(x[0]), 1); }},
      {"mean of columns", kMatrix, 1, [](const Inputs& x) { return Mean(Abs(x[0]), 0); }},
      {"l1_loss", kMatrix, 1, [](const Inputs& x) { return L1Loss(x[0], Mul(x[0], 0.25)); }},
      {"mse_loss", kMatrix, 1,
       [](const Inputs& x) {
         const Tensor y = Mul(x[0], 1e-19);
         return MseLoss(y, Mul(y, 0.5));
       }},
      {"smooth_l1_loss", kMatrix, 1,
       [](const Inputs& x) { return SmoothL1Loss(x[0], Mul(x[0], 0.25), {.beta = 1e30}); }},
      {"huber_loss", kMatrix, 1,
       [](const Inputs& x) { return HuberLoss(Mul(x[0], 1e-8), Mul(x[0], 1e-9), {.delta = 1e7}); }},
  };
  for (const Case& c : cases) {
    for (const double scale : {1e-12, 1.0, 1e20, 1e30, 1.5e38}) {
      ExpectAsInF64(c, Rows(c, scale), kF32Range);
    }
  }
  const Tensor opposite = FromValues<float>({3e38f, -3e38f, 0, 1}).Reshape({1, 4});
  EXPECT_NEAR(Normalize(opposite).ToVector<float>()[1], -std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(CosineSimilarity(opposite, opposite).Item(), 1, 1e-6);
  EXPECT_NEAR(WeightNorm(opposite, Full({1}, 2, DType::kF32)).ToVector<float>()[0], std::sqrt(2.0),
              1e-6);
  const Tensor largest = Full({5}, 1.7e308, DType::kF64);
  EXPECT_EQ(Mean(largest).Item(), 1.7e308);
  EXPECT_EQ(L1Loss(largest, ZerosLike(largest)).Item(), 1.7e308);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Mean(FromValues<float>({kInf, -3e38f, -3e38f})).Item(), kInf);
  EXPECT_TRUE(std::isnan(Mean(FromValues<float>({kInf, -kInf})).Item()));
}

TEST(FarCompositesTest, NormalizesZerosAndTheSmallestToAnyLength) {
  for (const int64_t size : {3, 200}) {
    const Shape row({1, size});
    Tensor zeros = Zeros(row).SetRequiresGrad();
    const Tensor unit = Normalize(zeros, 2, 1, 0);
    EXPECT_EQ(unit.Detach().ToVector<float>(), Zeros(row).ToVector<float>()) << size;
    EXPECT_EQ(Grad(Sum(unit), zeros).ToVector<float>(), Zeros(row).ToVector<float>()) << size;
    const Tensor least = Full(row, std::numeric_limits<double>::denorm_min(), DType::kF64);
    EXPECT_EQ(Amax(Normalize(least, 2, 1, 0)).Item(), Amin(Normalize(least, 2, 1, 0)).Item());
    EXPECT_NEAR(Sum(Square(Normalize(least, 2, 1, 0))).Item(), 1, 0.5) << size;
  }
}

TEST(FarCompositesTest, MatricesWhoseSquaresLeaveTheRange) {
  const std::vector<Case> cases = {
      {"svd, u", kMatrix, 1, [](const Inputs& x) { return Svd(x[0]).u; }},
      {"svd, vh", kMatrix, 1, [](const Inputs& x) { return Svd(x[0]).vh; }},
      {"lstsq", {4, 2}, 2, [](const Inputs& x) { return Lstsq(x[0], x[1]).solution; }},
  };
  for (const Case& c : cases) {
    for (const double scale : {1e-30, 1e-20, 1.0, 1e15, 1e30}) {
      ExpectAsInF64(c, Rows(c, scale), kF32Range);
    }
  }
}

TEST(FarCompositesTest, WindowsOfZerosHaveNoSlope) {
  Tensor x = FromVector(std::vector<double>{0, 0, 0, 3, 4, 0}, Shape{1, 1, 6}).SetRequiresGrad();
  for (const double p : {1.0, 2.0, 3.0}) {
    const Tensor dx = Grad(Sum(LpPool1d(x, p, {.kernel = 2})), x);
    for (const double d : dx.ToVector<double>()) EXPECT_TRUE(std::isfinite(d)) << p;
    EXPECT_EQ(dx.ToVector<double>()[0], 0) << p;
  }
}

// All pairs of these.
std::vector<std::vector<double>> Pairs(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::vector<double>> x(2);
  for (const double u : a) {
    for (const double v : b) x[0].push_back(u), x[1].push_back(v);
  }
  return x;
}

TEST(FarCompositesTest, LossesOfSureAnswers) {
  const std::vector<double> logits = {-300, -100, -60, -20, -1, 0, 1, 20, 60, 100, 300};
  const auto x = Pairs(logits, {0, 1});
  const Shape shape = {static_cast<int64_t>(x[0].size())};
  for (const double gamma : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    const Case focal{"sigmoid_focal_loss", shape, 2, [&](const Inputs& in) {
                       return SigmoidFocalLoss(in[0], in[1], {.gamma = gamma});
                     }};
    ExpectAsInF64(focal, x, kF32Range);
    ExpectAsInF64(focal, x, kF16Range);
  }
  // The second derivative, too.
  Tensor sure = FromValues<float>({-80, -30, 30, 80}).SetRequiresGrad();
  const Tensor loss = SigmoidFocalLoss(sure, FromValues<float>({0, 0, 1, 1}), {.gamma = 0.5});
  const Tensor first = Grad(loss, sure, {.seeds = {OnesLike(loss)}, .create_graph = true});
  for (const float d : Grad(Sum(first), sure).ToVector<float>()) EXPECT_NEAR(d, 0, 1e-6);
}

TEST(FarCompositesTest, LikelihoodsInHalfPrecision) {
  const auto x = Pairs({0, 1e-3, 1, 30, 250}, {0, 1, 30, 250});
  const Shape shape = {static_cast<int64_t>(x[0].size())};
  const Case rates{"poisson_nll_loss of rates", shape, 2, [](const Inputs& in) {
                     return PoissonNllLoss(in[0], in[1].Detach(),
                                           {.log_input = false, .full = true, .reduction = kEach});
                   }};
  ExpectAsInF64(rates, x, kF16Range);
  const Case errors{"gaussian_nll_loss", shape, 2, [](const Inputs& in) {
                      return GaussianNllLoss(in[0], in[1], FullLike(in[0], 2),
                                             {.reduction = kEach});
                    }};
  ExpectAsInF64(errors, x, kF16Range);
  ExpectAsInF64({errors.name,
                 {4},
                 2,
                 [](const Inputs& in) {
                   return GaussianNllLoss(in[0], in[1], FullLike(in[0], 1e10),
                                          {.reduction = kEach});
                 }},
                {{1e20, 2e20, -1e20, 1}, {0, 1e20, 1e20, 3e20}}, kF32Range);
  const Case variances{"gaussian_nll_loss of variances", shape, 2, [](const Inputs& in) {
                         return GaussianNllLoss(in[0], ZerosLike(in[0]), in[1],
                                                {.reduction = kEach});
                       }};
  ExpectAsInF64({variances.name, {9}, 2, variances.f}, Pairs({0, 1e-3, 0.01}, {0, 1e-4, 1}),
                kF16Range);
}

}  // namespace
}  // namespace firn
