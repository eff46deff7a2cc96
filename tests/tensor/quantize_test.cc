// What the conformance suite cannot test of quantization: straight-through gradients, which are not
// the derivatives of steps, i8 and u8 beside each other, and functions with one scale for all or
// one for each channel.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/binary.h"
#include "firn/tensor/ops/quantize/levels.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using Numbers = std::vector<double>;

Tensor Vector(Numbers v) { return FromVector(std::move(v)); }

template <class F>
void ExpectError(F f, const char* part) {
  const std::string error = ErrorOf(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

// dx for dy = 1, 2, 3, ...
template <class F>
Numbers Back(const Numbers& v, F f) {
  Tensor x = Vector(v);
  x.SetRequiresGrad();
  const Tensor dy = Arange(1.0, static_cast<double>(v.size()) + 1, 1, {.dtype = DType::kF64});
  const Tensor loss = Sum(Mul(f(x), dy));
  return Grad(loss, x).ToVector<double>();
}

TEST(BinaryTest, GradientsAreThoseOfALine) {
  const Numbers x = {0.5, -0.5, 1, -1, 2, 0};
  EXPECT_EQ(Back(x, BinaryTanh), (Numbers{1, 2, 0, 0, 0, 6}));
  EXPECT_EQ(Back(x, BinarySigmoid), (Numbers{0.5, 1, 0, 0, 0, 3}));
}

TEST(BinarizeTest, PassesTheGradientOn) {
  const Numbers w = {3, -0.5, 0};
  EXPECT_EQ(Back(w, [](const Tensor& x) { return Binarize(x); }), (Numbers{1, 2, 3}));
  EXPECT_EQ(Back(w, [](const Tensor& x) { return Binarize(x, {.scale_dim = 0}); }),
            (Numbers{1, 2, 3}));
}

TEST(FixedPointTest, GradientEndsWithTheRange) {
  const Numbers x = {1.5, 1.625, -1.5, -1.625, 0.3, -9};
  const auto quantize = [](bool sign, bool fine) {
    return [=](const Tensor& t) {
      return FixedPointQuantize(
          t, {.sign = sign, .n = sign ? 3 : 2, .delta = 0.5, .ste_fine_grained = fine});
    };
  };
  EXPECT_EQ(Back(x, quantize(true, true)), (Numbers{1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(Back(x, quantize(false, true)), (Numbers{1, 0, 0, 0, 5, 0}));
  EXPECT_EQ(Back(x, quantize(true, false)), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(Pow2Test, GradientEndsWithTheRange) {
  const Numbers x = {2.8, 2.9, -2.8, -2.9, 1e-9, 0};
  const auto quantize = [](bool sign, bool fine) {
    return [=](const Tensor& t) {
      return Pow2Quantize(t, {.sign = sign, .n = 4, .m = 1, .ste_fine_grained = fine});
    };
  };
  EXPECT_EQ(Back(x, quantize(true, true)), (Numbers{1, 0, 3, 0, 5, 6}));
  EXPECT_EQ(Back(x, quantize(false, true)), (Numbers{1, 0, 0, 0, 5, 6}));
  EXPECT_EQ(Back(x, quantize(true, false)), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST(FakeQuantizeTest, GradientEndsWithTheRange) {
  // 7.4 is rounded to 7, which is inside; 7.6 is not.
  const Numbers x = {7.4, 7.6, -8.4, -8.6, 0.5, NAN};
  const auto back = [&](DType dtype) {
    return Back(x, [&](const Tensor& t) {
      return FakeQuantize(t.To(dtype), 1.0, 0, -8, 7).To(DType::kF64);
    });
  };
  EXPECT_EQ(back(DType::kF64), (Numbers{1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(back(DType::kF16), (Numbers{1, 0, 3, 0, 5, 0}));
}

TEST(FakeQuantizeTest, ScaleGetsNoGradient) {
  Tensor x = Vector({1, 2}), scale = Vector({0.5});
  x.SetRequiresGrad();
  scale.SetRequiresGrad();
  const std::vector<Tensor> g = Grad({Sum(FakeQuantize(x, scale, 0, -8, 7))}, {x, scale});
  EXPECT_EQ(g[0].ToVector<double>(), (Numbers{1, 1}));
  EXPECT_EQ(g[1].ToVector<double>(), (Numbers{0}));
}

TEST(QuantizeTest, ThereAndBackAgain) {
  const Tensor x = FromVector(Numbers{-1, 0, 0.5, 3}, Shape({2, 2}));
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI32}) {
    const Tensor q = QuantizeLinear(x, 0.25, 10, {.dtype = dtype});
    EXPECT_EQ(q.dtype(), dtype);
    EXPECT_EQ(q.ToVector<int64_t>(), (std::vector<int64_t>{6, 10, 12, 22}));
    const Tensor back = DequantizeLinear(q, Vector({0.25}), 10);
    EXPECT_TRUE(back.Equals(x)) << back;
  }
}

TEST(QuantizeTest, ChannelsOfHalfTypes) {
  const Tensor x = FromVector(Numbers{-1, 0, 0.5, 3}, Shape({2, 2})).To(DType::kF16);
  const Tensor scale = Vector({0.5, 0.25}), zero = FromVector(std::vector<int64_t>{1, 0});
  const Tensor rows = QuantizeLinear(x, scale, zero, {.dim = 0});
  EXPECT_EQ(rows.ToVector<int64_t>(), (std::vector<int64_t>{-1, 1, 2, 12}));
  const Tensor columns = QuantizeLinear(x, scale, zero, {.dim = -1});
  EXPECT_EQ(columns.ToVector<int64_t>(), (std::vector<int64_t>{-1, 0, 2, 12}));
  const Tensor back = DequantizeLinear(rows, scale.To(DType::kF16), zero, {.dim = 0});
  EXPECT_TRUE(back.Equals(x)) << back;
  // One zero point for all.
  EXPECT_EQ(QuantizeLinear(x, scale, 1, {.dim = 0}).ToVector<int64_t>(),
            (std::vector<int64_t>{-1, 1, 3, 13}));
}

TEST(QuantizeTest, DequantizeGivesTheScaleItsGradient) {
  Tensor scale = Vector({0.5, 2});
  scale.SetRequiresGrad();
  const Tensor q = Cast(FromVector(std::vector<int64_t>{1, 2, 3, 4}, Shape({2, 2})), DType::kI8);
  const Tensor y = DequantizeLinear(q, scale, 1, {.dim = 0});
  EXPECT_EQ(Grad(Sum(y), scale).ToVector<double>(), (Numbers{1, 5}));
}

// f32 has no 2^24 + 1, but the numbers between it and the zero point.
TEST(QuantizeTest, DequantizeSubtractsWholeNumbersInItsGradientToo) {
  const int64_t far = int64_t{1} << 24;
  Tensor scale = FromVector(std::vector<float>{0.5F});
  scale.SetRequiresGrad();
  const Tensor q = Cast(FromVector(std::vector<int64_t>{far + 1, far - 2}), DType::kI32);
  const Tensor y = DequantizeLinear(q, scale, far);
  EXPECT_EQ(y.ToVector<double>(), (Numbers{0.5, -1}));
  const Tensor dy = FromVector(std::vector<float>{3, 1});
  EXPECT_EQ(Grad(Sum(Mul(y, dy)), scale).ToVector<double>(), (Numbers{1}));
}

TEST(FixedPointTest, ADeltaThatItsTypeLacks) {
  const Tensor zero = Zeros({1});
  for (const double delta : {1e-50, 1e50}) {
    ExpectError([&] { FixedPointQuantize(zero, {.delta = delta}); },
                "delta must be a number above 0, got 1e");
    EXPECT_EQ(FixedPointQuantize(zero.To(DType::kF64), {.delta = delta}).Item<double>(), 0);
  }
}

TEST(QuantizeTest, Errors) {
  const Tensor x = Ones({2, 3}), two = Vector({1, 2});
  ExpectError([&] { QuantizeLinear(x, two); }, "scale [2] needs a dim");
  ExpectError([&] { QuantizeLinear(x, two, {}, {.dim = 1}); },
              "scale [2] does not fit the dimension of x [2, 3]");
  ExpectError([&] { QuantizeLinear(x, 1, {}, {.dim = 2}); }, "quantize_linear");
  ExpectError([&] { QuantizeLinear(x, Cast(two, DType::kI32), {}, {.dim = 0}); },
              "scale must be floating");
  ExpectError([&] { FakeQuantize(Cast(x, DType::kI32), 1, 0, 0, 1); },
              "x must be f32, f64, f16 or bf16");
  ExpectError([&] { QuantizeLinear(x, 1, 0.5); }, "must be a whole number of i32, got 0.5");
  ExpectError([&] { QuantizeLinear(x, 1, 0x1p31); }, "must be a whole number of i32");
  ExpectError([&] { QuantizeLinear(x, 1, NAN); }, "must be a whole number of i32, got nan");
  ExpectError([&] { QuantizeLinear(x, 1, Zeros({})); }, "zero_point must be of integers, got f32");
  ExpectError([&] { DequantizeLinear(Zeros({2}, DType::kI8), 1, Zeros({}, DType::kBool)); },
              "zero_point must be of integers, got bool");
  ExpectError([&] { QuantizeLinear(Ones({}), Ones({1}), {}, {.dim = 0}); },
              "a number x has no dim 0");
}

TEST(QuantizeTest, HalvesGoToEvenOrAway) {
  const Tensor x = Vector({0.5, 1.5, 2.5, -0.5, -1.5, -2.5});
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
    const Tensor t = x.To(dtype);
    EXPECT_EQ(QuantizeLinear(t, 1.0).ToVector<int64_t>(),
              (std::vector<int64_t>{0, 2, 2, 0, -2, -2}));
    EXPECT_EQ(QuantizeLinear(t, 1.0, {}, {.round = RoundTies::kAway}).ToVector<int64_t>(),
              (std::vector<int64_t>{1, 2, 3, -1, -2, -3}));
    EXPECT_EQ(FakeQuantize(t, 1.0, 0, -8, 7).ToVector<double>(), (Numbers{0, 2, 2, 0, -2, -2}));
  }
}

TEST(QuantizeTest, AZeroPointBeyondTheDTypeIsAddedAsItIs) {
  const Tensor x = Vector({-100, -50, 0});
  const Tensor far = Cast(FromVector<int64_t>({300}, {}), DType::kI32);
  EXPECT_EQ(QuantizeLinear(x, 1.0, far, {.dtype = DType::kU8}).ToVector<int64_t>(),
            (std::vector<int64_t>{200, 250, 255}));
}

// Plain numbers are checked; tensors are not, and give the documented results, as in PyTorch.
TEST(QuantizeTest, NumbersThatAreNoScalesAreRefused) {
  const Tensor x = Vector({1, -2, 0}), q = QuantizeLinear(x, 1.0);
  for (const double scale : {0.0, -0.0, -0.5, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    ExpectError([&] { QuantizeLinear(x, scale); },
                "quantize_linear: scale must be above 0 and finite in f64, got ");
    ExpectError([&] { DequantizeLinear(q, scale); },
                "dequantize_linear: scale must be above 0 and finite in f32, got ");
    ExpectError([&] { FakeQuantize(x, scale, 0, -8, 7); },
                "fake_quantize: scale must be above 0 and finite in f64, got ");
  }
  for (const double scale : {1e-60, 1e60}) {  // of f64 alone
    ExpectError([&] { QuantizeLinear(Ones({2}), scale); }, "finite in f32, got 1e");
    EXPECT_EQ(ErrorOf([&] { QuantizeLinear(x, scale); }), "");
  }
}

TEST(QuantizeTest, NumbersThatAreNoLevelsAreRefusedAsZeroPoints) {
  const Tensor x = Vector({1, -2, 0}), i8 = QuantizeLinear(x, 1.0);
  const Tensor u8 = QuantizeLinear(x, 1.0, 255, {.dtype = DType::kU8});
  for (const int64_t zero : {-129, 128}) {
    ExpectError([&] { QuantizeLinear(x, 1.0, zero); },
                "quantize_linear: zero_point must be one of the levels from -128 to 127, got ");
    ExpectError([&] { DequantizeLinear(i8, 1.0, zero); }, "levels from -128 to 127, got ");
  }
  for (const int64_t zero : {-1, 256}) {
    ExpectError([&] { QuantizeLinear(x, 1.0, zero, {.dtype = DType::kU8}); },
                "levels from 0 to 255, got ");
    ExpectError([&] { DequantizeLinear(u8, 1.0, zero); }, "levels from 0 to 255, got ");
  }
  ExpectError([&] { FakeQuantize(x, 1.0, 8, -8, 7); }, "levels from -8 to 7, got 8");
  ExpectError([&] { FakeQuantize(x, 1.0, -9, -8, 7); }, "levels from -8 to 7, got -9");
  ExpectError([&] { FakeQuantize(x, 1.0, 8, 7, -8); }, "expected -2^24 <= qmin <= qmax");
}

TEST(QuantizeTest, TensorsThatAreNoScalesGiveWhatIsDocumented) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const Tensor x = Vector({1, -2, 0, nan, inf});
  const auto levels = [&](double scale) {
    return QuantizeLinear(x, FromVector<double>({scale}), 3).ToVector<int64_t>();
  };
  using Levels = std::vector<int64_t>;
  EXPECT_EQ(levels(0), (Levels{127, -128, 3, 3, 127}));
  EXPECT_EQ(levels(-0.5), (Levels{1, 7, 3, 3, -128}));
  EXPECT_EQ(levels(nan), (Levels{3, 3, 3, 3, 3}));
  EXPECT_EQ(levels(inf), (Levels{3, 3, 3, 3, 3}));
  // torch.fake_quantize_per_tensor_affine gives the same for numbers.
  const auto fake = [&](double scale) {
    return FakeQuantize(Vector({1, -2}), FromVector<double>({scale}), 0, -128, 127)
        .ToVector<double>();
  };
  EXPECT_EQ(fake(-0.5), (Numbers{1, -2}));
  EXPECT_EQ(fake(0), (Numbers{0, 0}));
  for (const double scale : {nan, inf}) EXPECT_TRUE(std::isnan(fake(scale)[0]));
}

}  // namespace
}  // namespace firn
