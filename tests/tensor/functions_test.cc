// Functions as a user calls them, with numbers worked out by hand. The conformance suite compares
// them with the registered operations, on inputs of one dtype and with every option given: a
// swapped default or a missing promotion shows here.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Doubles = std::vector<double>;
using Ints = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor Numbers(const Doubles& values) { return FromVector(values); }
Tensor Integers(const Ints& values) { return FromVector(values); }

Tensor Flags(std::initializer_list<double> values) {
  return Numbers(Doubles(values)).To(DType::kBool);
}

// Checks the dtype, too: integers stay as they are.
void ExpectIntegersStay(Tensor (*f)(const Tensor&)) {
  const Tensor y = f(Integers({-3, 0, 7}));
  EXPECT_EQ(y.dtype(), DType::kI64);
  EXPECT_EQ(y.ToVector<int64_t>(), (Ints{-3, 0, 7}));
}

TEST(FunctionsTest, CeilGoesUp) {
  EXPECT_EQ(Ceil(Numbers({-1.5, -0.25, 0.25, 1.5, 2})).ToVector<double>(),
            (Doubles{-1, 0, 1, 2, 2}));
  ExpectIntegersStay(Ceil);
}

TEST(FunctionsTest, FloorGoesDown) {
  EXPECT_EQ(Floor(Numbers({-1.5, -0.25, 0.25, 1.5, 2})).ToVector<double>(),
            (Doubles{-2, -1, 0, 1, 2}));
  ExpectIntegersStay(Floor);
}

TEST(FunctionsTest, TruncGoesTowardsZero) {
  EXPECT_EQ(Trunc(Numbers({-1.5, -0.25, 0.25, 1.5, 2})).ToVector<double>(),
            (Doubles{-1, 0, 0, 1, 2}));
  ExpectIntegersStay(Trunc);
}

TEST(FunctionsTest, RoundTakesTheNearestAndTiesGoToEven) {
  EXPECT_EQ(Round(Numbers({-1.5, -0.25, 0.5, 0.75, 2.5})).ToVector<double>(),
            (Doubles{-2, 0, 0, 1, 2}));
  EXPECT_EQ(Round(Integers({-3, 0, 7})).ToVector<int64_t>(), (Ints{-3, 0, 7}));
}

TEST(FunctionsTest, RoundTakesPlacesAndTies) {
  EXPECT_EQ(Round(Numbers({0.375, 12.0625}), {.decimals = 1}).ToVector<double>(),
            (Doubles{0.4, 12.1}));
  EXPECT_EQ(Round(Numbers({149, 151}), {.decimals = -2}).ToVector<double>(), (Doubles{100, 200}));
  EXPECT_EQ(Round(Numbers({-2.5, 0.5, 2.5}), {.ties = RoundTies::kAway}).ToVector<double>(),
            (Doubles{-3, 1, 3}));
}

TEST(FunctionsTest, SignIsMinusOneZeroOrOne) {
  EXPECT_EQ(Sign(Numbers({-2.5, -0.0, 0, 1e-30, NAN, kInfinity})).ToVector<double>(),
            (Doubles{-1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(Sign(Integers({-7, 0, 9})).ToVector<int64_t>(), (Ints{-1, 0, 1}));
}

TEST(FunctionsTest, ReciprocalDividesOne) {
  EXPECT_EQ(Reciprocal(Numbers({-4, 0.5, 0})).ToVector<double>(), (Doubles{-0.25, 2, kInfinity}));
  const Tensor of_integers = Reciprocal(Integers({2, -4}));
  EXPECT_EQ(of_integers.dtype(), DType::kF32);
  EXPECT_EQ(of_integers.ToVector<double>(), (Doubles{0.5, -0.25}));
  Tensor x = Numbers({2}).SetRequiresGrad();
  EXPECT_EQ(Grad(Sum(Reciprocal(x)), x).ToVector<double>(), (Doubles{-0.25}));
}

TEST(FunctionsTest, RsqrtDividesOneByTheRoot) {
  const Doubles y = Rsqrt(Numbers({4, 0.25, 0, -1})).ToVector<double>();
  EXPECT_EQ(Doubles(y.begin(), y.begin() + 3), (Doubles{0.5, 2, kInfinity}));
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_EQ(Rsqrt(Integers({16})).dtype(), DType::kF32);
  Tensor x = Numbers({4}).SetRequiresGrad();
  EXPECT_EQ(Grad(Sum(Rsqrt(x)), x).ToVector<double>(), (Doubles{-0.0625}));  // -1/2 4^(-3/2)
}

TEST(FunctionsTest, LogicalXorIsTrueForJustOne) {
  const Tensor y = LogicalXor(Flags({0, 0, 1, 1}), Flags({0, 1, 0, 1}));
  EXPECT_EQ(y.dtype(), DType::kBool);
  EXPECT_EQ(y.ToVector<double>(), (Doubles{0, 1, 1, 0}));
  // Numbers of any dtype, broadcast; NaN is not 0.
  EXPECT_EQ(LogicalXor(Numbers({0, -2, NAN}), Integers({5})).ToVector<double>(),
            (Doubles{1, 0, 0}));
}

TEST(FunctionsTest, AnyLooksForOneThatIsNotZero) {
  const Tensor x = FromVector<double>({0, 0, 0, NAN}, {2, 2});
  EXPECT_EQ(Any(x).dtype(), DType::kBool);
  EXPECT_TRUE(Any(x).Item<bool>());
  EXPECT_EQ(Any(x).rank(), 0);
  EXPECT_EQ(Any(x, 1).ToVector<double>(), (Doubles{0, 1}));
  EXPECT_EQ(Any(x, 0).ToVector<double>(), (Doubles{0, 1}));
  EXPECT_EQ(Any(x, -1, true).shape(), Shape({2, 1}));
  EXPECT_FALSE(Any(Zeros({3})).Item<bool>());
  EXPECT_FALSE(Any(Zeros({0})).Item<bool>());
}

TEST(FunctionsTest, ProdMultiplies) {
  const Tensor x = FromVector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(Prod(x).Item(), 720);
  EXPECT_EQ(Prod(x).rank(), 0);
  EXPECT_EQ(Prod(x, 0).ToVector<double>(), (Doubles{4, 10, 18}));
  EXPECT_EQ(Prod(x, {1}, true).ToVector<double>(), (Doubles{6, 120}));
  EXPECT_EQ(Prod(x, 1, true).shape(), Shape({2, 1}));
  EXPECT_EQ(Prod(Zeros({0})).Item(), 1);
  EXPECT_EQ(Prod(Integers({3, -4})).dtype(), DType::kI64);
  EXPECT_EQ(Prod(Flags({1, 1})).dtype(), DType::kI64);
  Tensor with_zero = Numbers({2, 0, 3}).SetRequiresGrad();
  EXPECT_EQ(Grad(Prod(with_zero), with_zero).ToVector<double>(), (Doubles{0, 6, 0}));
}

TEST(FunctionsTest, HardtanhTakesBoundsThatAreEqual) {
  EXPECT_EQ(Hardtanh(Numbers({-3, 2, 5}), 2, 2).ToVector<double>(), (Doubles{2, 2, 2}));
}

TEST(FunctionsTest, ScatterAddAddsWhereIndicesSay) {
  const Tensor x = FromVector<double>({10, 20, 30, 40, 50, 60}, {2, 3});
  const Tensor source = FromVector<double>({1, 2, 3, 4}, {2, 2});
  const Tensor columns = FromVector<int64_t>({2, 2, 0, -1}, {2, 2});
  EXPECT_EQ(ScatterAdd(x, 1, columns, source).ToVector<double>(),
            (Doubles{10, 20, 33, 43, 50, 64}));
  const Tensor rows = FromVector<int64_t>({1, 0, 1, 1}, {2, 2});
  EXPECT_EQ(ScatterAdd(x, 0, rows, source).ToVector<double>(), (Doubles{10, 22, 30, 44, 54, 60}));
  EXPECT_EQ(x.ToVector<double>(), (Doubles{10, 20, 30, 40, 50, 60}));  // a copy
  EXPECT_NE(testing::ErrorOf([&] {
              ScatterAdd(x, 1, columns + 1, source);
            }).find("indices 3 at index 0 is outside [-3, 3)"),
            std::string::npos);
}

TEST(FunctionsTest, EluBendsBelowZero) {
  const Doubles y = Elu(Numbers({-1, 0, 2})).ToVector<double>();
  EXPECT_DOUBLE_EQ(y[0], std::expm1(-1.0));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 2);
  EXPECT_DOUBLE_EQ(Elu(Numbers({-1}), 3).Item(), 3 * std::expm1(-1.0));
}

TEST(FunctionsTest, SlopesOfMishAreFiniteEverywhere) {
  const std::vector<float> at = {std::numeric_limits<float>::lowest() / 2, -1e30f, 22, 1e30f};
  const std::vector<float> slopes = {0, 0, 1, 1};
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    Tensor x = FromVector(at).To(dtype).SetRequiresGrad();
    EXPECT_EQ(Grad(Sum(Mish(x)), x).To(DType::kF32).ToVector<float>(), slopes);
  }
}

TEST(FunctionsTest, SoftplusIsLinearBeyondItsThreshold) {
  EXPECT_DOUBLE_EQ(Softplus(Numbers({0})).Item(), std::log(2.0));
  EXPECT_DOUBLE_EQ(Softplus(Numbers({1}), 2).Item(), std::log1p(std::exp(2.0)) / 2);
  EXPECT_EQ(Softplus(Numbers({21})).Item(), 21);
  EXPECT_EQ(Softplus(Numbers({3}), 1, 2).Item(), 3);
}

TEST(FunctionsTest, LogicalNotAndOrTakeAnyNumbers) {
  EXPECT_EQ(LogicalNot(Numbers({0, 1, -2})).ToVector<bool>(),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ(LogicalOr(Numbers({0, 0, 3}), Flags({0, 1, 1})).ToVector<bool>(),
            (std::vector<bool>{false, true, true}));
}

TEST(FunctionsTest, GatherTakesAlongADimension) {
  const Tensor x = Numbers({1, 2, 3, 4}).Reshape({2, 2});
  const Tensor index = Integers({1, 0, 0, 1}).Reshape({2, 2});
  EXPECT_EQ(Gather(x, 1, index).ToVector<double>(), (Doubles{2, 1, 3, 4}));
  EXPECT_EQ(Gather(x, 0, index).ToVector<double>(), (Doubles{3, 2, 1, 4}));
}

TEST(FunctionsTest, SliceScatterReplacesASlice) {
  const Tensor x = Zeros({4}, DType::kF64), y = Numbers({7, 8});
  EXPECT_EQ(SliceScatter(x, y, 0, 2).ToVector<double>(), (Doubles{0, 0, 7, 8}));
  EXPECT_EQ(SliceScatter(x, y, 0, 0, 3, 2).ToVector<double>(), (Doubles{7, 0, 8, 0}));
  EXPECT_EQ(x.ToVector<double>(), (Doubles{0, 0, 0, 0}));
}

TEST(FunctionsTest, ViewSharesElementsOrThrows) {
  const Tensor x = Numbers({1, 2, 3, 4, 5, 6});
  const Tensor view = View(x, {2, 3});
  EXPECT_EQ(view.impl()->data, x.impl()->data);
  EXPECT_THROW(View(view.T(), {6}), Error);
  EXPECT_EQ(Reshape(view.T(), {6}).ToVector<double>(), (Doubles{1, 4, 2, 5, 3, 6}));
}

TEST(FunctionsTest, IdentityAndToDeviceKeepTheElements) {
  const Tensor x = Numbers({1, 2});
  EXPECT_EQ(Identity(x).ToVector<double>(), (Doubles{1, 2}));
  EXPECT_FALSE(Identity(x).Is(x));
  EXPECT_TRUE(ToDevice(x, Device::Cpu()).Is(x));
}

TEST(FunctionsTest, OnesLikeHasShapeAndDtype) {
  const Tensor ones = OnesLike(Integers({4, 5}));
  EXPECT_EQ(ones.dtype(), DType::kI64);
  EXPECT_EQ(ones.ToVector<int64_t>(), (Ints{1, 1}));
}

TEST(FunctionsTest, LossesOfTwoTensors) {
  const Tensor x = Numbers({0, 3}), y = Numbers({0.5, 1});
  EXPECT_DOUBLE_EQ(L1Loss(x, y).Item(), 1.25);
  EXPECT_DOUBLE_EQ(L1Loss(x, y, Reduction::kSum).Item(), 2.5);
  EXPECT_DOUBLE_EQ(SmoothL1Loss(x, y).Item(), (0.125 + 1.5) / 2);
  EXPECT_DOUBLE_EQ(SmoothL1Loss(x, y, {.reduction = Reduction::kSum, .beta = 0.25}).Item(),
                   0.375 + 1.875);
  const Tensor p = Numbers({0.25, 0.75}), log_q = Numbers({std::log(0.5), std::log(0.5)});
  const double sum = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  EXPECT_DOUBLE_EQ(KlDiv(log_q, p).Item(), sum / 2);
  EXPECT_DOUBLE_EQ(KlDiv(log_q, Log(p), {.reduction = Reduction::kSum, .log_target = true}).Item(),
                   sum);
}

TEST(FunctionsTest, FloatFunctionsTakeIntegersAsF32) {
  for (Tensor (*f)(const Tensor&) :
       {Tan, Asin, Acos,   Atan,    Sinh,       Cosh,     Asinh, Acosh,     Atanh, Log2,      Log10,
        Erf, Sinc, Lgamma, Digamma, LogSigmoid, Softsign, Mish,  Hardswish, Relu6, Tanhshrink}) {
    EXPECT_EQ(f(Integers({1})).dtype(), DType::kF32);
  }
  EXPECT_EQ(Atan2(Integers({1}), Integers({1})).dtype(), DType::kF32);
  EXPECT_EQ(Logaddexp(Integers({1}), 1).dtype(), DType::kF32);
  EXPECT_EQ(Lerp(Integers({1}), Integers({3}), 0.5).ToVector<double>(), (Doubles{2}));
  EXPECT_EQ(Lerp(Numbers({1}).To(DType::kF64), Numbers({3}), 0.5).dtype(), DType::kF64);
}

TEST(FunctionsTest, NanToNumTakesTheEndsOfTheDType) {
  const Tensor x = Numbers({kInfinity, -kInfinity});
  EXPECT_EQ(NanToNum(x.To(DType::kF16)).ToVector<double>(), (Doubles{65504, -65504}));
  EXPECT_EQ(NanToNum(x.To(DType::kBF16)).ToVector<double>(), (Doubles{0x1.fep127, -0x1.fep127}));
  EXPECT_EQ(NanToNum(x.To(DType::kF64)).ToVector<double>()[0], std::numeric_limits<double>::max());
  EXPECT_EQ(NanToNum(x, {.posinf = 1}).ToVector<double>()[0], 1);
}

TEST(FunctionsTest, AddNPromotesAllItsTensors) {
  const Tensor y = AddN({Integers({1, 2}), Numbers({0.5, 0.25}), 1});
  EXPECT_EQ(y.dtype(), DType::kF64);
  EXPECT_EQ(y.ToVector<double>(), (Doubles{2.5, 3.25}));
  EXPECT_EQ(testing::ErrorOf([] { AddN({}); }), "add_n: takes at least 1 tensor, got 0");
}

TEST(FunctionsTest, PreluWantsASlopeForEachChannel) {
  const Tensor x = Numbers({-1, -1, -1, -1}).Reshape({2, 2});
  EXPECT_EQ(Prelu(x, Numbers({2, 3})).ToVector<double>(), (Doubles{-2, -3, -2, -3}));
  EXPECT_EQ(testing::ErrorOf([&] {
              Prelu(x, Numbers({1, 2, 3}));
            }),
            "prelu: weight must have 1 element or 2, as dim 1 of x [2, 2], got [3]");
  EXPECT_EQ(testing::ErrorOf([&] { Prelu(x, x); }),
            "prelu: weight must have 1 element or 2, as dim 1 of x [2, 2], got [2, 2]");
}

TEST(FunctionsTest, ActivationsRefuseWhatTheyCannotDivide) {
  const Tensor x = Numbers({1, 2, 3});
  EXPECT_EQ(testing::ErrorOf([&] { Celu(x, 0); }), "celu: alpha must not be 0");
  EXPECT_EQ(testing::ErrorOf([&] { Glu(x); }), "glu: x [3] must have an even size in dim -1");
  EXPECT_EQ(testing::ErrorOf([&] { Glu(x, 1); }), "glu: dim 1 is outside [3] (want -1 to 0)");
}

TEST(FunctionsTest, RmsNormAddsTheMachineEpsilonByDefault) {
  const Tensor wide = Numbers({0, 1e-4}), narrow = wide.To(DType::kF32);
  const double want = 1e-4 / std::sqrt(5e-9 + 0x1p-23);
  EXPECT_NEAR(RmsNorm(narrow, {2}).ToVector<double>()[1], want, 1e-6);
  EXPECT_NEAR(RmsNorm(wide, {2}).ToVector<double>()[1], std::sqrt(2.0), 1e-6);
}

TEST(FunctionsTest, LgammaHasAsManyDerivativesAsAreAskedFor) {
  // The derivatives at 1.5 and -0.5; they are the polygammas of order 0 to 3.
  const double want[][2] = {{0.036489973978576521, 0.036489973978576521},
                            {0.93480220054467931, 8.9348022005446793},
                            {-0.82879664423432000, -0.82879664423432000},
                            {1.4090910340024372, 193.40909103400244}};
  const Tensor x = FromVector<double>({1.5, -0.5}).SetRequiresGrad();
  Tensor y = Lgamma(x);
  for (int64_t n = 0; n < 4; ++n) {
    y = Grad(y, x, {.seeds = {OnesLike(y)}, .create_graph = true});
    const std::vector<double> got = y.ToVector<double>(),
                              polygamma = Polygamma(n, x).ToVector<double>();
    for (size_t i : {0, 1}) {
      EXPECT_NEAR(got[i], want[n][i], 1e-12 * std::abs(want[n][i])) << n;
      EXPECT_NEAR(polygamma[i], got[i], 1e-14 * std::abs(got[i])) << n;
    }
  }
}

}  // namespace
}  // namespace firn
