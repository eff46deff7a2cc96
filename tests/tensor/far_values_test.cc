// Norms, variances and normalisation of numbers whose squares or powers leave the range of their
// type although the result does not, and angles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/op.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/norm/group_norm.h"
#include "firn/tensor/ops/norm/unit_rows.h"

namespace firn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor F32(std::vector<double> values, const Shape& shape) {
  return FromVector(std::move(values), shape).To(DType::kF32);
}
Tensor F32(std::vector<double> values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return F32(std::move(values), shape);
}

void ExpectNear(const Tensor& got, const std::vector<double>& want, double rtol = 1e-6) {
  const std::vector<double> is = got.ToVector<double>();
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < is.size(); ++i) {
    if (std::isinf(want[i])) {
      EXPECT_EQ(is[i], want[i]) << i;
    } else {
      EXPECT_LE(std::abs(is[i] - want[i]), rtol * std::abs(want[i])) << i << ": " << is[i];
    }
  }
}

TEST(FarValuesTest, NormsAreThoseOfScaledElements) {
  Tensor x = F32({1e20, 1, 1}).SetRequiresGrad();
  const Tensor norm = Norm(x);
  EXPECT_EQ(norm.Item<float>(), 1e20f);
  ExpectNear(Grad(norm, x), {1, 1e-20, 1e-20});
  for (const double p : {1.5, 2.0, 3.0, 10.0, 100.0}) {
    SCOPED_TRACE(p);
    const double two = std::pow(2, 1 / p);
    ExpectNear(Norm(F32({1e30, -1e30}), p), {1e30 * two}, 2e-6);
    ExpectNear(Norm(F32({1e-30, 1e-30, 0}), p), {1e-30 * two}, 2e-6);
    ExpectNear(Norm(F32({0x1p-149, 0x1p-149, 0x1p-149, 0x1p-149}), p),
               {std::round(std::pow(4, 1 / p)) * 0x1p-149}, 1e-6);
    ExpectNear(Norm(FromValues({1e200, 1e200}), p), {1e200 * two}, 1e-13);
    ExpectNear(Norm(FromValues({1e-200, 1e-200}), p), {1e-200 * two}, 1e-13);
    ExpectNear(Norm(F32({0, 0}), p), {0});
    ExpectNear(Norm(F32({kInf, 1e30}), p), {kInf});
    ExpectNear(Norm(F32({3e38, 3e38, 3e38, 3e38}), p), {p > 20 ? 3e38 * std::pow(4, 1 / p) : kInf},
               2e-6);
    EXPECT_TRUE(std::isnan(Norm(F32({std::nan(""), 1e30}), p).Item()));
  }
  // Such powers of numbers near 1 leave the range, too.
  ExpectNear(Norm(F32({1.9, -1.9}), 3000), {1.9 * std::pow(2, 1 / 3000.0)});
  ExpectNear(Norm(FromValues({1.9e200, 1e200}), 3000), {1.9e200}, 1e-13);
}

TEST(FarValuesTest, OnlySomeNormsOfManyAreFar) {
  // Rows and columns of ordinary and of far numbers, also transposed.
  const Tensor x = F32({3e20, 1, 3e-25, 0,  //
                        4e20, 1, 4e-25, 0},
                       {2, 4});
  const std::vector<double> columns = {5e20, std::sqrt(2.0), 5e-25, 0};
  ExpectNear(Norm(x, 2, {0}), columns);
  ExpectNear(Norm(x.T().Contiguous(), 2, {1}), columns);
  ExpectNear(Norm(x.T(), 2, {1}), columns);
  ExpectNear(Norm(x, 2, {1}), {3e20, 4e20});
  ExpectNear(Norm(x.To(DType::kBF16), 2, {0}), columns, 8e-3);
  const Tensor wide = Expand(Reshape(x, {2, 1, 4}), Shape{2, 3, 4});
  ExpectNear(Norm(wide, 2, {0, 1}),
             {5e20 * std::sqrt(3.0), std::sqrt(6.0), 5e-25 * std::sqrt(3.0), 0});
}

TEST(FarValuesTest, VariancesAreThoseOfScaledElements) {
  ExpectNear(Std(F32({1e30, -1e30})), {std::sqrt(2.0) * 1e30});
  ExpectNear(Std(F32({1e-30, -1e-30})), {std::sqrt(2.0) * 1e-30});
  ExpectNear(Std(FromValues({1e200, -1e200})), {std::sqrt(2.0) * 1e200}, 1e-14);
  ExpectNear(Std(F32({3e38, 3e38, 3e38})), {0});
  ExpectNear(Std(F32({1, 1, 1})), {0});
  ExpectNear(Std(FromVector(std::vector<double>(1001, 0.1))), {0});
  ExpectNear(Var(F32({1e30, -1e30})), {kInf});
  ExpectNear(Var(F32({1e-17, -1e-17})), {2e-34});
  const VarMeanResult far = VarMean(F32({3e38, 3e38, 2e38, 2e38}));
  ExpectNear(far.mean, {2.5e38});
  ExpectNear(far.var, {kInf});
  Tensor x = F32({1e30, -1e30, 0, 1, -1, 0}, {2, 3}).SetRequiresGrad();
  const Tensor std = Std(x, {1});
  ExpectNear(std, {1e30, 1});
  ExpectNear(Grad(Sum(std), x), {0.5, -0.5, 0, 0.5, -0.5, 0});
  EXPECT_TRUE(std::isnan(Std(F32({kInf, 1})).Item()));
}

TEST(FarValuesTest, WindowsArePooled) {
  const Tensor x = F32({3e30, 4e30, 3e-30, 4e-30, 3, 4}, {1, 1, 6});
  ExpectNear(LpPool1d(x, 2, {.kernel = {2}}), {5e30, 5e-30, 5}, 1e-6);
  ExpectNear(LpPool1d(x, 9, {.kernel = {2}}), {4.0326e30, 4.0326e-30, 4.0326}, 1e-4);
  const Tensor half = FromVector<double>({300, 400}, {1, 1, 2}).To(DType::kF16);
  ExpectNear(LpPool1d(half, 2, {.kernel = {2}}), {500}, 1e-3);
}

TEST(FarValuesTest, RowsAreNormalised) {
  const double eps[] = {1e-5, 0};
  for (const double e : eps) {
    for (const double size : {1e-30, 1e-15, 1.0, 1e15, 1e25, 1e38}) {
      if (size < 1 && e != 0) continue;
      SCOPED_TRACE(size);
      const Tensor x = F32({size, -size, size, -size}, {1, 4});
      ExpectNear(LayerNorm(x, {4}, {}, {}, e), {1, -1, 1, -1}, 1e-5);
      ExpectNear(RmsNorm(x, {4}, {}, e), {1, -1, 1, -1}, 1e-5);
      ExpectNear(GroupNorm(x, 2, {}, {}, e), {1, -1, 1, -1}, 1e-5);
    }
    const Tensor x = FromVector<double>({1e200, -1e200}, {1, 2});
    ExpectNear(LayerNorm(x, {2}, {}, {}, e), {1, -1}, 1e-14);
    ExpectNear(RmsNorm(x, {2}, {}, e), {1, -1}, 1e-14);
  }
  // The smallest numbers with a larger epsilon, which would leave the range if it were scaled as
  // they are.
  const Tensor x = FromVector<double>({1e-307, -1e-307}, {1, 2});
  const std::vector<double> want = {1e-307 * 0x1p485, -1e-307 * 0x1p485};
  ExpectNear(LayerNorm(x, {2}, {}, {}, 0x1p-970), want, 1e-14);
  ExpectNear(BatchNorm(x.T().Contiguous(), {}, {}, {}, {}, {.training = true, .eps = 0x1p-970}),
             want, 1e-14);
}

TEST(FarValuesTest, GradientsOfRowsAreThoseOfOrdinaryOnes) {
  const Tensor weights = F32({1, -2, 3, 0.5}, {1, 4});
  const auto derivatives = [&](double size, bool centred) {
    Tensor x = F32({3 * size, -size, 2 * size, 0.5 * size}, {1, 4}).SetRequiresGrad();
    const Tensor y = centred ? LayerNorm(x, {4}) : RmsNorm(x, {4});
    std::vector<Tensor> all = {Grad(Sum(Mul(y, weights)), x, {.retain_graph = true})};
    const Tensor first = Grad(Sum(Mul(y, weights)), x, {.create_graph = true});
    all.push_back(first);
    all.push_back(Grad(Sum(Mul(Mul(first, size), weights)), x));  // of numbers near 1
    for (Tensor& t : all) t = Mul(t.Detach().To(DType::kF64), size);
    return all;
  };
  for (const bool centred : {true, false}) {
    const std::vector<Tensor> want = derivatives(1e3, centred);
    for (const double size : {1e10, 1e20, 1e30}) {
      SCOPED_TRACE(size);
      const std::vector<Tensor> got = derivatives(size, centred);
      for (size_t i = 0; i < got.size(); ++i) {
        ExpectNear(got[i], want[i].ToVector<double>(), 1e-4);
      }
    }
  }
}

TEST(FarValuesTest, BatchesAreNormalised) {
  // Two channels, one of them ordinary: as a matrix, an image, and an image that is channels-last.
  for (const double size : {1e-30, 1e15, 1e25, 1e38}) {
    SCOPED_TRACE(size);
    const BatchNormOptions options{.training = true, .eps = size < 1 ? 0 : 1e-5};
    const Tensor x = F32({size, 1, -size, 3, size, 1, -size, 3}, {4, 2});
    const std::vector<double> want = {1, -1, -1, 1, 1, -1, -1, 1};
    ExpectNear(BatchNorm(x, {}, {}, {}, {}, options), want, 1e-5);
    const Tensor image = Permute(Reshape(x, {1, 2, 2, 2}), {0, 3, 1, 2});
    for (const Tensor& t : {image, Contiguous(image)}) {
      ExpectNear(Permute(BatchNorm(t, {}, {}, {}, {}, options), {0, 2, 3, 1}), want, 1e-5);
    }
    // The gradient of the first two results: 1 / size for each, minus the parts of scale and mean.
    if (size > 1e36) continue;
    const Tensor weights = F32({1, 1, 0, 0, 0, 0, 0, 0}, {4, 2});
    const std::vector<double> slope = {0.5, 0.5, 0, 0, -0.5, -0.5, 0, 0};
    const auto check = [&](Tensor t, const Tensor& w) {
      t.SetRequiresGrad();
      const Tensor dx = Grad(Sum(Mul(BatchNorm(t, {}, {}, {}, {}, options), w)), t);
      const Tensor rows = dx.rank() == 2 ? dx : Reshape(Permute(dx, {0, 2, 3, 1}), {4, 2});
      const std::vector<double> got = rows.ToVector<double>();
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(i % 2 == 0 ? got[i] * size : got[i], slope[i], 1e-5) << i;
      }
    };
    check(x.Clone(), weights);
    const Tensor wide = Permute(Reshape(weights, {1, 2, 2, 2}), {0, 3, 1, 2});
    check(Contiguous(image).Clone(), wide);
  }
}

// The value of f and its first three derivatives at `x`.
using Derivatives = std::vector<std::vector<double>>;
Derivatives DerivativesOf(const std::function<Tensor(const Tensor&)>& f, Tensor x) {
  const Tensor weights = FromVector<double>({1, 0.5, -0.25, 2}).To(x.dtype());
  x.SetRequiresGrad();
  Tensor y = f(x);
  Derivatives all = {y.ToVector<double>()};
  for (int order = 1; order <= 3; ++order) {
    const Tensor dx = Grad(y, x, {.create_graph = true});
    all.push_back(dx.ToVector<double>());
    y = Sum(Mul(dx, weights));
  }
  return all;
}

// If f(2^k x) = 2^(k degree) f(x), the derivatives at 2^k x are those at x times powers of two.
TEST(FarValuesTest, DerivativesAreThoseOfOrdinaryNumbers) {
  struct Homogeneous {
    const char* name;
    int degree;
    std::function<Tensor(const Tensor&)> f;
  };
  const auto weighted = [](const Tensor& y) {
    const Tensor weights = FromVector<double>({0.3, -0.7, 1.1, 0.2}).To(y.dtype());
    return Sum(Mul(Reshape(y, {y.num_elements()}), weights[Range(0, y.num_elements())]));
  };
  const BatchNormOptions training{.training = true, .eps = 0};
  const Tensor none;
  const Homogeneous functions[] = {
      {"norm 2", 1, [](const Tensor& x) { return Norm(x); }},
      {"norm 3", 1, [](const Tensor& x) { return Norm(x, 3); }},
      {"std", 1, [](const Tensor& x) { return Std(x); }},
      {"std of columns", 1,
       [&](const Tensor& x) {
         return weighted(Std(Reshape(x, {2, 2}), {0}));
       }},
      {"layer norm", 0, [&](const Tensor& x) { return weighted(LayerNorm(x, {4}, {}, {}, 0)); }},
      {"RMS norm", 0, [&](const Tensor& x) { return weighted(RmsNorm(x, {4}, {}, 0)); }},
      {"rows of a length", 0,
       [&](const Tensor& x) {
         return weighted(UnitRows(Reshape(x, {1, 4}), {}, {}));
       }},
      {"group norm", 0,
       [&](const Tensor& x) {
         return weighted(Apply(TheOp<"affine_group_norm">(), {Reshape(x, {1, 2, 2}), none, none},
                               GroupNormAttrs{.num_groups = 1, .eps = 0})[0]);
       }},
      {"batch norm", 0,
       [&](const Tensor& x) {
         return weighted(BatchNorm(Reshape(x, {4, 1}), {}, {}, {}, {}, training));
       }},
      {"batch norm of an image", 0,
       [&](const Tensor& x) {
         return weighted(BatchNorm(Reshape(x, {1, 1, 2, 2}), {}, {}, {}, {}, training));
       }},
      {"angles", 0,
       [&](const Tensor& x) { return weighted(Atan2(x[Range(0, 2)], x[Range(2, 4)])); }},
  };
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor x = FromVector<double>({0.8, 1.3, -0.6, 1.7}).To(dtype);
    const int most = dtype == DType::kF32 ? 120 : 1000, step = most / 40;
    for (const Homogeneous& h : functions) {
      const Derivatives want = DerivativesOf(h.f, x.Clone());
      for (int k = -most; k <= most; k += step) {
        const Derivatives got =
            DerivativesOf(h.f, FromVector<double>({std::ldexp(0.8, k), std::ldexp(1.3, k),
                                                   std::ldexp(-0.6, k), std::ldexp(1.7, k)})
                                   .To(dtype));
        for (int order = 0; order <= 3; ++order) {
          const int power = k * (h.degree - order);
          if (std::abs(power) > most) continue;
          double top = 0;
          for (const double v : want[order]) top = std::max(top, std::abs(v));
          for (size_t i = 0; i < want[order].size(); ++i) {
            EXPECT_NEAR(std::ldexp(got[order][i], -power), want[order][i], 1e-4 * top + 1e-6)
                << h.name << " of " << DTypeName(dtype) << ", order " << order << ", 2^" << k;
          }
        }
      }
    }
  }
}

TEST(FarValuesTest, SumsOfExponentialsOfNothingHaveNoGradient) {
  Tensor a = F32({-kInf, 0, -kInf}), b = F32({-kInf, -kInf, 1});
  a.SetRequiresGrad();
  b.SetRequiresGrad();
  const Tensor y = Logaddexp(a, b);
  ExpectNear(y, {-kInf, 0, 1});
  const std::vector<Tensor> first = Grad({Sum(Exp(y))}, {a, b}, {.create_graph = true});
  ExpectNear(first[0], {0, 1, 0});
  ExpectNear(first[1], {0, 0, std::exp(1)});
  const std::vector<Tensor> second = Grad({Sum(first[0]) + Sum(first[1])}, {a, b});
  ExpectNear(second[0], {0, 1, 0});
  ExpectNear(second[1], {0, 0, std::exp(1)});
  Tensor rows = F32({-kInf, -kInf, 0, 0}, {2, 2}).SetRequiresGrad();
  ExpectNear(Grad(Sum(Exp(Logsumexp(rows, {1}))), rows), {0, 0, 1, 1});
}

TEST(HypotTest, OfSidesWhoseSquaresLeaveTheRange) {
  Tensor x = FromVector(std::vector<float>{3e30f, 3e-30f, 0}), y = Mul(x, 4.0 / 3);
  x.SetRequiresGrad();
  const Tensor z = Hypot(x, y);
  const std::vector<float> got = z.Detach().ToVector<float>();
  const std::vector<float> slope = Grad(Sum(z), x).ToVector<float>();
  EXPECT_NEAR(got[0] / 5e30f, 1, 1e-6);
  EXPECT_NEAR(got[1] / 5e-30f, 1, 1e-6);
  EXPECT_EQ(got[2], 0);
  EXPECT_NEAR(slope[0], 0.6, 1e-6);
  EXPECT_NEAR(slope[1], 0.6, 1e-6);
}

}  // namespace
}  // namespace firn
