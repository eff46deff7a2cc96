// First and second gradients of functions whose intermediate results leave the range of their type
// or lose digits, although the gradients do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/loss/similarity.h"
#include "firn/tensor/ops/norm/channel_norms.h"
#include "firn/tensor/ops/norm/normalize.h"

namespace firn {
namespace {

using Values = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;

Tensor Of(DType dtype, Values values, const Shape& shape) {
  return FromVector(std::move(values), shape).To(dtype);
}

// 1, 1 + step, 1 + 2 step, ...
Tensor Counted(const Tensor& like, double step) {
  const Tensor places = Arange(int64_t{0}, like.num_elements()).To(like.dtype());
  return Reshape(Add(Mul(places, step), 1), like.shape());
}

// The gradient of f's weighted sum, plain and recorded, and the gradient of this one's weighted
// sum.
struct Slopes {
  Values plain, recorded, second;
};
Slopes SlopesOf(const Function& f, Tensor x) {
  x = x.Detach().SetRequiresGrad();
  const Tensor y = f(x), total = Sum(Mul(y, Counted(y, 0.5)));
  Slopes s;
  s.plain = Grad(total, x, {.retain_graph = true}).ToVector<double>();
  const Tensor d = Grad(total, x, {.create_graph = true});
  s.recorded = d.ToVector<double>();
  s.second = Grad(Sum(Mul(d, Counted(d, 0.25))), x).ToVector<double>();
  return s;
}

void ExpectNear(const Values& got, const Values& want, double rtol, const char* what,
                double atol = 1e-7) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(want[i])) {
      EXPECT_EQ(got[i], want[i]) << what << " " << i;
    } else {
      EXPECT_LE(std::abs(got[i] - want[i]), rtol * std::abs(want[i]) + atol)
          << what << " " << i << ": " << got[i] << ", want " << want[i];
    }
  }
}
void ExpectNear(const Slopes& got, const Slopes& want, double rtol, double atol = 1e-7) {
  ExpectNear(got.plain, want.plain, rtol, "gradient", atol);
  ExpectNear(got.recorded, want.recorded, rtol, "recorded gradient", atol);
  ExpectNear(got.second, want.second, rtol, "second gradient", atol);
}

// A number added to all inputs does not change the gradients of a logarithm of sums of
// exponentials.
TEST(FarGradientsTest, LogarithmsOfSumsOfWhatShareALargeNumber) {
  const std::pair<const char*, Function> functions[] = {
      {"logcumsumexp", [](const Tensor& x) { return Logcumsumexp(x, 1); }},
      {"logcumsumexp of columns", [](const Tensor& x) { return Logcumsumexp(x, 0); }},
      {"logsumexp", [](const Tensor& x) { return Logsumexp(x, {1}); }},
      {"log_softmax", [](const Tensor& x) { return LogSoftmax(x, 1); }},
      {"logaddexp", [](const Tensor& x) { return Logaddexp(x, Flip(x, {1})); }},
  };
  for (const auto& [name, f] : functions) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const Slopes want = SlopesOf(f, Zeros({3, 4}, dtype));
      for (const double size : {300.0, 1e12, -1e12, 1e30}) {
        SCOPED_TRACE(testing::Message() << name << " at " << size);
        ExpectNear(SlopesOf(f, Full({3, 4}, size, dtype)), want, 2e-6);
      }
    }
  }
}

TEST(FarGradientsTest, RunningLogarithmsOfFarAndOfNoNumbers) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Function f = [](const Tensor& x) { return Logcumsumexp(x, 0); };
  // The shares of the larger ones, which are equal: 1, then 1/2 each.
  const Slopes far = SlopesOf(f, Of(DType::kF32, {1e12, -1e12, 1e12, 3}, {4}));
  ExpectNear(far.plain, {4.75, 0, 2.25, 0}, 1e-6, "gradient");
  ExpectNear(far.second, {-0.5625, 0, 0.5625, 0}, 1e-6, "second gradient");
  const Tensor x = Of(DType::kF32, {-kInf, -kInf, -1000, -1000}, {4}).SetRequiresGrad();
  const Tensor y = Slice(Logcumsumexp(x, 0), 0, 2, 4);
  ExpectNear(Grad(Sum(y), x).ToVector<double>(), {0, 0, 1.5, 0.5}, 1e-6, "after -infinity");
}

// The row stands beside an ordinary one. Expected results are those of f64, rounded to f32.
TEST(FarGradientsTest, ProductsThatLeaveTheRangeOfAllButOne) {
  const std::pair<const char*, Function> functions[] = {
      {"rows", [](const Tensor& x) { return Prod(x, {1}); }},
      {"columns",
       [](const Tensor& x) {
         return Prod(Permute(x, {1, 0}), {0});
       }},
      {"the ends",
       [](const Tensor& x) {
         return Prod(Reshape(x, {2, -1, 2}), {0, 2});
       }},
  };
  const Values far = {1e20, 1e20, 2, 1e-3}, near = {1e-30, 1e-30, 2, 1e3},
               zero = {1e25, 1e25, 0, 3}, ordinary = {2, 3, 0.5, -1};
  for (const auto& [name, f] : functions) {
    for (const Values& some : {far, near, zero, ordinary}) {
      SCOPED_TRACE(testing::Message() << name << " of " << some[0]);
      Values both = some;
      both.insert(both.end(), ordinary.begin(), ordinary.end());
      const Slopes got = SlopesOf(f, Of(DType::kF32, both, {2, 4}));
      Slopes want = SlopesOf(f, Of(DType::kF32, both, {2, 4}).To(DType::kF64));
      for (Values* v : {&want.plain, &want.recorded, &want.second}) {
        for (double& d : *v) d = static_cast<float>(d);
      }
      ExpectNear(got, want, 1e-5, 0);
    }
  }
  // The same in f64, and incoming gradients that keep the result in range.
  Tensor x = FromValues<double>({1e200, 1e200, 3}).SetRequiresGrad();
  ExpectNear(Grad(Prod(x), x).ToVector<double>(), {3e200, 3e200, INFINITY}, 1e-14, "f64");
  // A line of several pieces, whose product is 2^139; without one of the large numbers it is 2^14.
  Values values(1000, 0.5);
  std::fill_n(values.begin() + 400, 132, 1);
  for (size_t i = 0; i < 8; ++i) values[i * 140 + (i > 2 ? 19 : 0)] = 0x1p125;
  Tensor line = Of(DType::kF32, values, {1, 1000}).SetRequiresGrad();
  const Values of_line = Grad(Prod(line, {1}), line).To(DType::kF64).ToVector<double>();
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(of_line[i], values[i] > 1 ? 0x1p14 : INFINITY) << i;
  // The ends of the range: a quotient by the smallest number, one by the largest.
  Tensor ends = FromValues<double>({1e-200, 1e-200, 0x1p-1074, 0x1p1020, -0x1p1020});
  ends.SetRequiresGrad();
  const double large = 1e-200 * 0x1p1020;
  ExpectNear(Grad(Prod(ends), ends).ToVector<double>(),
             {-large * 0x1p-54, -large * 0x1p-54, -large * large, 0, 0}, 1e-14, "f64's ends");
  Tensor h = Of(DType::kF16, {300, 300, 2}, {3}).SetRequiresGrad();
  const GradOptions small{.seeds = {Full({}, 0.0078125, DType::kF16)}};
  ExpectNear(Grad(Prod(h), h, small).ToVector<double>(), {4.6875, 4.6875, 703.125}, 1e-3, "f16");
}

// The sum over j and k of products of all but these two elements: for n ones it is n (n - 1), and n
// - 1 for each element.
TEST(FarGradientsTest, SecondGradientsOfLongProducts) {
  constexpr int64_t kLength = 100'000;  // squared, this would be 40 GB
  Tensor x = Ones({kLength}, DType::kF32).SetRequiresGrad();
  const Tensor d = Grad(Prod(x), x, {.create_graph = true});
  const Tensor second = Grad(Sum(d), x, {.create_graph = true});
  EXPECT_EQ(second.Detach()[0].Item(), kLength - 1);
  EXPECT_EQ(second.Detach()[kLength - 1].Item(), kLength - 1);
  const Tensor third = Grad(Sum(second), x);
  EXPECT_NEAR(third[7].Item() / (1e5 * 1e5), 1, 1e-4);
}

// In f16 a fourth power of 64, twice the largest number, or a square of 1 / 1e-5 is infinite.
TEST(FarGradientsTest, SecondDerivativesOfHalfTypes) {
  const Values inputs = {-6e4, -300, -64, -8, -3, -1e-4, 1e-4, 0.5, 6, 30, 300, 6e4};
  const std::pair<const char*, Function> curves[] = {
      {"gelu", [](const Tensor& x) { return Gelu(x); }},
      {"gelu, tanh", [](const Tensor& x) { return Gelu(x, GeluApproximate::kTanh); }},
      {"mish", Mish},
      {"silu", Silu},
      {"softsign", Softsign},
      {"softplus", [](const Tensor& x) { return Softplus(x); }},
  };
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Tensor x = Of(dtype, inputs, {12});
    const double rtol = dtype == DType::kF16 ? 4e-3 : 3e-2;
    for (const auto& [name, f] : curves) {
      SCOPED_TRACE(name);
      const Slopes got = SlopesOf(f, x), want = SlopesOf(f, x.To(DType::kF32));
      for (size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_NEAR(got.plain[i], want.plain[i], rtol * std::abs(want.plain[i]) + 1e-6)
            << inputs[i];
        EXPECT_NEAR(got.second[i], want.second[i], rtol * std::abs(want.second[i]) + 2e-4)
            << inputs[i];
      }
    }
  }
  const std::pair<const char*, Function> lengths[] = {
      {"norm", [](const Tensor& x) { return Norm(x, 2, {1}); }},
      {"norm of order 3", [](const Tensor& x) { return Norm(x, 3, {1}); }},
      {"pairwise_distance",
       [](const Tensor& x) { return PairwiseDistance(x, ZerosLike(x), {.eps = 0}); }},
      {"hypot", [](const Tensor& x) { return Hypot(Select(x, 1, 0), Select(x, 1, 1)); }},
  };
  for (const auto& [name, f] : lengths) {
    SCOPED_TRACE(name);
    // The square of the inverse length is infinite in one row, and 0 in the other.
    const Tensor x = Of(DType::kF16, {3e-5, 4e-5, 0, 300, 400, 0}, {2, 3});
    const Slopes got = SlopesOf(f, x), want = SlopesOf(f, x.To(DType::kF64));
    for (size_t i = 0; i < got.second.size(); ++i) {
      EXPECT_LE(std::abs(got.second[i] - want.second[i]), 2e-2 * std::abs(want.second[i]) + 40)
          << i << ": " << got.second[i] << ", want " << want.second[i];
    }
  }
}

// The product of the elements before one leaves the range of f16, the gradient that flows into it
// does not.
TEST(FarGradientsTest, RunningProductsOfHalfTypes) {
  Tensor x = Of(DType::kF16, {300, 300, 2}, {3}).SetRequiresGrad();
  const Tensor last = Slice(Cumprod(x, 0), 0, 2, 3);
  const GradOptions small{.seeds = {Full({1}, 0.0078125, DType::kF16)}};
  ExpectNear(Grad(last, x, small).ToVector<double>(), {4.6875, 4.6875, 703.125}, 1e-3, "gradient");
}

// The ratios of f's first and second slopes at x times a power of 2 to those at x: for a length
// they do not depend on the power, and for a length times that power both are proportional to it.
TEST(FarGradientsTest, LengthsOfAnySize) {
  const Values values = {.5, -1.25, 2, .75, 1.5, .25, -.5, 1, -2, 0, .375, 1};
  const std::pair<const char*, Function> functions[] = {
      {"norm", [](const Tensor& x) { return Norm(x, 2, {1}); }},
      {"norm of columns", [](const Tensor& x) { return Norm(x, 2, {0}); }},
      {"norm of all", [](const Tensor& x) { return Norm(x); }},
      {"pairwise_distance",
       [](const Tensor& x) { return PairwiseDistance(x, Flip(x, {0}), {.eps = 0}); }},
      {"cdist",
       [](const Tensor& x) {
         return Cdist(x, Neg(Flip(x, {0, 1})));
       }},
      {"std", [](const Tensor& x) { return Std(x, {1}); }},
      {"std of columns", [](const Tensor& x) { return Std(x, {0}); }},
      {"std of the outer two",
       [](const Tensor& x) {
         return Std(Reshape(x, {3, 2, 2}), {0, 2});
       }},
      {"hypot", [](const Tensor& x) { return Hypot(Select(x, 1, 0), Select(x, 1, 3)); }},
  };
  for (const auto& [name, f] : functions) {
    const Slopes want = SlopesOf(f, Of(DType::kF64, values, {3, 4}));
    for (const auto& [dtype, power] : {std::pair{DType::kF32, -133},
                                       {DType::kF32, -126},
                                       {DType::kF32, -66},
                                       {DType::kF32, 66},
                                       {DType::kF32, 123},
                                       {DType::kF64, -1058},
                                       {DType::kF64, -1022},
                                       {DType::kF64, -600},
                                       {DType::kF64, 600},
                                       {DType::kF64, 1019}}) {
      SCOPED_TRACE(testing::Message() << name << " times 2^" << power);
      const double unit = std::ldexp(1.0, power);
      Values far = values;
      for (double& v : far) v *= unit;
      const Tensor x = Of(dtype, far, {3, 4});
      // Numbers below the range have 16 bits here.
      const double rtol = dtype == DType::kF32 || power < -1022 ? 2e-3 : 1e-12;
      const Slopes alone = SlopesOf(f, x);
      ExpectNear(alone.plain, want.plain, rtol, "gradient", rtol);
      ExpectNear(alone.recorded, want.recorded, rtol, "recorded gradient", rtol);
      const Slopes scaled = SlopesOf([&](const Tensor& t) { return Mul(f(t), unit); }, x);
      ExpectNear(scaled.second, want.second, rtol, "second gradient", 8 * rtol);
    }
  }
}

// Functions that do not change with the size of x: if gradients of f(x) and of dx are as large as
// x, dx and its gradient are those of ordinary numbers.
TEST(FarGradientsTest, NormalisationOfAnySizeWithFlowsAsLarge) {
  const Values values = {.5, -1.25, 2, .75, 1.5, .25, -.5, 1, -2, .625, .375, 1};
  const BatchNormOptions training{.training = true, .eps = 0};
  const std::pair<const char*, Function> functions[] = {
      {"layer_norm", [](const Tensor& x) { return LayerNorm(x, {4}, {}, {}, 0); }},
      {"rms_norm", [](const Tensor& x) { return RmsNorm(x, {4}, {}, 0); }},
      {"group_norm", [](const Tensor& x) { return GroupNorm(x, 2, {}, {}, 0); }},
      {"instance_norm",
       [](const Tensor& x) {
         return InstanceNorm(Reshape(x, {1, 3, 4}), {}, {}, 0);
       }},
      {"standardize", [](const Tensor& x) { return Standardize(x, 0, 0); }},
      {"batch_norm", [&](const Tensor& x) { return BatchNorm(x, {}, {}, {}, {}, training); }},
      {"batch_norm of an image",
       [&](const Tensor& x) {
         return BatchNorm(Reshape(x, {1, 3, 2, 2}), {}, {}, {}, {}, training);
       }},
      {"normalize", [](const Tensor& x) { return Normalize(x, 2, 1, 0); }},
      {"cosine_similarity",
       [](const Tensor& x) { return CosineSimilarity(x, Flip(x, {0}), 1, 0); }},
  };
  const auto slopes = [](const Function& f, Tensor x, double unit) {
    x.SetRequiresGrad();
    const Tensor y = f(x), dy = Mul(Counted(y, 0.5), unit);
    Slopes s;
    s.plain = Grad(y, x, {.seeds = {dy}, .retain_graph = true}).ToVector<double>();
    const Tensor d = Grad(y, x, {.seeds = {dy}, .create_graph = true});
    s.recorded = d.ToVector<double>();
    s.second = Grad(d, x, {.seeds = {Mul(Counted(d, 0.25), unit)}}).ToVector<double>();
    return s;
  };
  for (const auto& [name, f] : functions) {
    const Slopes want = slopes(f, Of(DType::kF64, values, {3, 4}), 1);
    for (const int power : {-110, -80, -66, 0, 66, 80, 110, 116}) {
      SCOPED_TRACE(testing::Message() << name << " times 2^" << power);
      const double unit = std::ldexp(1.0, power);
      const Tensor x = Mul(Of(DType::kF32, values, {3, 4}), unit);
      ExpectNear(slopes(f, x, unit), want, 1e-4, 1e-4);
    }
  }
}

TEST(FarGradientsTest, RunningProductsThatLeaveTheRange) {
  const Function f = [](const Tensor& x) { return Cumprod(x, 0); };
  const Values far = {1e20, 1e20, 2, 1e-3, 0, 3};
  const Slopes got = SlopesOf(f, Of(DType::kF32, far, {6}));
  Slopes want = SlopesOf(f, Of(DType::kF32, far, {6}).To(DType::kF64));
  for (double& d : want.second) d = static_cast<float>(d);
  ExpectNear(got.second, want.second, 1e-5, "second gradient", 0);
}

// In f64 a logarithm may be larger until exp(x - it) has lost as many digits.
TEST(FarGradientsTest, FarLogarithmsOfBothTypes) {
  EXPECT_FALSE(IsFarLogarithm(256.0f));
  EXPECT_TRUE(IsFarLogarithm(-257.0f));
  EXPECT_FALSE(IsFarLogarithm(131072.0));
  EXPECT_TRUE(IsFarLogarithm(131073.0));
  EXPECT_FALSE(IsFarLogarithm(std::numeric_limits<double>::infinity()));
  for (const double size : {1e5, 1e6}) {
    Tensor x = FromValues<double>({size, size, size, size - 1}).SetRequiresGrad();
    Tensor near = FromValues<double>({0, 0, 0, -1}).SetRequiresGrad();
    const Tensor label = FromValues<int64_t>({1}).Reshape({});
    ExpectNear(Grad(CrossEntropy(x, label), x).ToVector<double>(),
               Grad(CrossEntropy(near, label), near).ToVector<double>(), 2e-11, "gradient", 0);
  }
}

// Exponents whose neighbours the type does not hold.
TEST(FarGradientsTest, SignsOfPowersOfNegativeNumbers) {
  const auto slope = [](DType dtype, double p, bool number) {
    Tensor x = Full({3}, -1, dtype).SetRequiresGrad();
    const Tensor y = number ? Pow(x, p) : Pow(x, Full({3}, p, dtype));
    return std::pair(y.Detach()[1].Item(), Grad(Sum(y), x)[1].Item());
  };
  for (const bool number : {false, true}) {
    for (const double p : {2.0, 3.0, 4.0, 255.0, 256.0, 258.0, 512.0, -2.0, -3.0, -258.0}) {
      for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
        SCOPED_TRACE(testing::Message() << p << " " << DTypeName(dtype));
        const double odd = std::fmod(p, 2) == 0 ? 1 : -1;
        EXPECT_EQ(slope(dtype, p, number), std::pair(odd, -odd * p));
      }
    }
    EXPECT_EQ(slope(DType::kF16, 4096, number), std::pair(1.0, -4096.0));
    EXPECT_TRUE(std::isnan(slope(DType::kBF16, 0.5, number).first));
    EXPECT_TRUE(std::isnan(slope(DType::kBF16, 2.5, number).second));
  }
  EXPECT_EQ(slope(DType::kF32, 16777217, true), std::pair(-1.0, 16777216.0));
  EXPECT_EQ(slope(DType::kF32, 1e10, true), std::pair(1.0, -1e10));
  EXPECT_EQ(Pow(FromValues<float>({-0.0f}), 16777217).ToVector<float>()[0], 0);
  // A factor that f16 does not hold.
  Tensor zero = Zeros({1}, DType::kF16).SetRequiresGrad();
  EXPECT_EQ(Grad(Sum(Pow(zero, 1e10)), zero).Item(), 0);
}

// The origin has no angle: its gradient is 0, as in PyTorch, and the others are right.
TEST(FarGradientsTest, AnglesOfTheOrigin) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16}) {
    const Tensor y = Of(dtype, {0, -0.0, 0, 1}, {4}).SetRequiresGrad();
    const Tensor x = Of(dtype, {0, 0, -0.0, 0}, {4}).SetRequiresGrad();
    const std::vector<Tensor> slopes = Grad({Sum(Atan2(y, x))}, {y, x});
    EXPECT_EQ(slopes[0].ToVector<double>(), (std::vector<double>{0, 0, 0, 0}));
    EXPECT_EQ(slopes[1].ToVector<double>(), (std::vector<double>{0, 0, 0, -1}));
  }
}

}  // namespace
}  // namespace firn
