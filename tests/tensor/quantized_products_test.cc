// Compares products and convolutions of quantized tensors with those of the numbers that they stand
// for. The sums are whole numbers below 2^53, so that f64 has them exactly.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/products.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

template <class F>
void ExpectError(F f, const char* part) {
  const std::string error = ErrorOf(f);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

// Random bytes over the whole range of a dtype.
Tensor Bytes(const Shape& shape, DType dtype, uint64_t seed) {
  RandomGenerator generator(seed);
  const int64_t low = dtype == DType::kU8 ? 0 : -128;
  return Cast(Randint(low, low + 256, shape, DType::kI64, {.generator = &generator}), dtype);
}
Tensor Real(const Tensor& q, double zero) { return Sub(Cast(q, DType::kF64), zero); }

constexpr DType kBytes[] = {DType::kI8, DType::kU8};

TEST(QuantizedMatmulTest, SumsOfAllDTypes) {
  for (const DType a_type : kBytes) {
    for (const DType b_type : kBytes) {
      const int64_t a_zero = a_type == DType::kU8 ? 128 : -3,
                    b_zero = b_type == DType::kU8 ? 7 : 127;
      for (const Shape& shape : {Shape({3, 65}), Shape({2, 17, 65})}) {
        const Tensor a = Bytes(shape, a_type, 1), b = Bytes({65, 33}, b_type, 2);
        const Tensor y = QuantizedMatmul(a, {}, a_zero, b, {}, b_zero);
        EXPECT_EQ(y.dtype(), DType::kI32);
        const Tensor want =
            Matmul(Real(a, static_cast<double>(a_zero)), Real(b, static_cast<double>(b_zero)));
        EXPECT_TRUE(Cast(y, DType::kF64).Equals(want));
      }
    }
  }
}

TEST(QuantizedMatmulTest, BatchesAndColumns) {
  const Tensor a = Bytes({2, 4, 5}, DType::kU8, 1), b = Bytes({2, 5, 3}, DType::kI8, 2);
  const Tensor zeros = FromVector(std::vector<int64_t>{1, -2, 3});
  const Tensor y = QuantizedMatmul(a, {}, 9, b, {}, Cast(zeros, DType::kI8));
  const Tensor want = Matmul(Real(a, 9), Sub(Cast(b, DType::kF64), Cast(zeros, DType::kF64)));
  EXPECT_TRUE(Cast(y, DType::kF64).Equals(want));
}

TEST(QuantizedMatmulTest, ResultsAreQuantized) {
  const Tensor a = Bytes({4, 16}, DType::kU8, 1), b = Bytes({16, 3}, DType::kI8, 2);
  const Tensor b_scale = FromVector(std::vector<float>{0.5F, 0.25F, 0.125F});
  const Tensor y = QuantizedMatmul(a, 0.5, 128, b, b_scale, 0, 4.0, 100);
  EXPECT_EQ(y.dtype(), DType::kU8);
  const Tensor real = Mul(Matmul(Real(a, 128), Real(b, 0)), Mul(Cast(b_scale, DType::kF64), 0.5));
  EXPECT_TRUE(y.Equals(QuantizeLinear(real, 4.0, 100, {.dtype = DType::kU8})));
  // One element of any rank.
  const Tensor one = Full({1, 1}, 0.5, DType::kF32);
  EXPECT_TRUE(QuantizedMatmul(a, one, 128, b, b_scale, 0, 4.0, 100).Equals(y));
}

// A k of 70000 with products of 255 * 128 leaves i32.
TEST(QuantizedMatmulTest, SumsWrapAround) {
  const Tensor a = Full({1, 70000}, 255, DType::kU8), b = Full({70000, 1}, -128, DType::kI8);
  const int64_t sum = int64_t{70000} * 255 * -128;
  EXPECT_EQ(QuantizedMatmul(a, {}, {}, b, {}, {}).Item<int64_t>(), sum + (int64_t{1} << 32));
}

// Two products of bytes that have the largest sizes there are leave 16 bits, in which processors
// without VNNI would sum them.
TEST(QuantizedMatmulTest, PairsDoNotSaturate) {
  for (const int64_t b : {127, -128}) {
    const Tensor y = QuantizedMatmul(Full({33, 64}, 255, DType::kU8), {}, {},
                                     Full({64, 33}, b, DType::kI8), {}, {});
    EXPECT_TRUE(y.Equals(Full({33, 33}, 64 * 255 * b, DType::kI32)));
  }
}

TEST(QuantizedMatmulTest, Nothing) {
  const Tensor none = Zeros({0, 4}, DType::kI8), b = Zeros({4, 3}, DType::kI8);
  EXPECT_EQ(QuantizedMatmul(none, {}, 0, b, {}, 0).shape(), Shape({0, 3}));
  const Tensor thin =
      QuantizedMatmul(Zeros({2, 0}, DType::kU8), 1.0, 5, Zeros({0, 3}, DType::kI8), 1.0, 0, 1.0, 7);
  EXPECT_TRUE(thin.Equals(Full({2, 3}, 7, DType::kU8)));
}

TEST(QuantizedMatmulTest, Errors) {
  const Tensor a = Bytes({2, 3}, DType::kI8, 1), b = Bytes({3, 4}, DType::kI8, 2);
  ExpectError([&] { QuantizedMatmul(a, {}, 0, a, {}, 0); }, "cannot multiply a [2, 3] by b [2, 3]");
  ExpectError([&] { QuantizedMatmul(Cast(a, DType::kF32), {}, 0, b, {}, 0); },
              "a must be i8 or u8");
  ExpectError([&] { QuantizedMatmul(a, {}, 128, b, {}, 0); }, "zero point 128 is no number of i8");
  ExpectError([&] { QuantizedMatmul(a, {}, Zeros({}), b, {}, 0); },
              "the zero point of i8 must be i8");
  ExpectError([&] { QuantizedMatmul(a, {}, 0, b, {}, 0, 1.0); }, "the scale of an input");
  ExpectError([&] { QuantizedMatmul(a, 1.0, 0, b, 1.0, 0, 1.0, 128); },
              "zero point 128 is no number of i8");
  ExpectError([&] { QuantizedMatmul(a, {}, NAN, b, {}, 0); }, "zero point nan is no number of i8");
}

TEST(QuantizedConv2dTest, SumsOfAllDTypes) {
  for (const DType x_type : kBytes) {
    for (const DType w_type : kBytes) {
      const int64_t x_zero = x_type == DType::kU8 ? 200 : -5,
                    w_zero = w_type == DType::kU8 ? 90 : 0;
      const Tensor x = Bytes({2, 4, 9, 8}, x_type, 1), w = Bytes({6, 2, 3, 3}, w_type, 2);
      const Conv2dOptions options{.stride = {2, 1}, .padding = 1, .groups = 2};
      const Tensor bias = Cast(Arange(6), DType::kI32);
      const Tensor y = QuantizedConv2d(x, {}, x_zero, w, {}, w_zero, bias, {}, {}, options);
      const Tensor want =
          Conv2d(Real(x, static_cast<double>(x_zero)), Real(w, static_cast<double>(w_zero)),
                 Cast(bias, DType::kF64), options);
      EXPECT_TRUE(Cast(y, DType::kF64).Equals(want));
    }
  }
}

TEST(QuantizedConv2dTest, ResultsAreQuantized) {
  const Tensor x = Bytes({2, 3, 5, 5}, DType::kU8, 1), w = Bytes({2, 3, 3, 3}, DType::kI8, 2);
  const Tensor w_scale = FromVector(std::vector<float>{0.5F, 0.125F});
  const Tensor y = QuantizedConv2d(x, 0.25, 128, w, w_scale, 0, {}, 16.0, 128, {.padding = kSame});
  const Tensor sums = Conv2d(Real(x, 128), Real(w, 0), {}, {.padding = 1});
  const Tensor scale = Reshape(Mul(Cast(w_scale, DType::kF64), 0.25), {2, 1, 1});
  EXPECT_TRUE(y.Equals(QuantizeLinear(Mul(sums, scale), 16.0, 128, {.dtype = DType::kU8})));
}

TEST(QuantizedConv2dTest, Errors) {
  const Tensor x = Bytes({1, 3, 5, 5}, DType::kU8, 1), w = Bytes({2, 3, 2, 2}, DType::kI8, 2);
  ExpectError([&] { QuantizedConv2d(x, {}, 0, w, {}, 0, Zeros({2})); }, "bias must be i32 [2]");
  ExpectError([&] { QuantizedConv2d(x, {}, 0, w, {}, 0, {}, {}, {}, {.padding = kSame}); },
              "kernels of odd extent");
  ExpectError([&] { QuantizedConv2d(x, {}, -1, w, {}, 0); }, "zero point -1 is no number of u8");
}

}  // namespace
}  // namespace firn
