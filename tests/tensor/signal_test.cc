// What the conformance suite cannot test of Fourier transforms: several dimensions, long lines,
// plans that are used again, round trips.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/device/parallel.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/signal/fft.h"
#include "firn/tensor/ops/signal/stft.h"
#include "firn/tensor/ops/signal/windows.h"
#include "firn/tensor/testing/samples.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::Normal;

double Largest(const Tensor& x) { return Max(Abs(x)).Item<double>(); }

TEST(FftTest, TransformsSeveralDimensionsOneAfterTheOther) {
  const Tensor x = Normal({3, 4, 5, 2});
  const Tensor y = Fft(Fft(Fft(x, 0), 1), 2);
  EXPECT_LT(Largest(Fft(x, {0, 1, 2}) - y), 1e-12);
  EXPECT_LT(Largest(Fft(x, {}) - y), 1e-12);
  EXPECT_LT(Largest(Ifft(y, {-1, -2, -3}) - x), 1e-14);
  const Tensor real = Normal({3, 4, 6});
  const Tensor half = Rfft(real, {0, 1, 2});
  EXPECT_EQ(half.shape(), Shape({3, 4, 4, 2}));
  EXPECT_LT(Largest(half - Fft(Fft(Rfft(real, 2), 1), 0)), 1e-12);
  EXPECT_LT(Largest(Irfft(half, {}, {0, 1, 2}) - real), 1e-14);
  EXPECT_LT(Largest(Irfft(Rfft(Normal({2, 5}), {}), 5, {}) - Normal({2, 5})), 1e-14);
}

TEST(FftTest, HasGradientsInSeveralDimensions) {
  const auto f = [](const std::vector<Tensor>& x) {
    const Tensor y = Rfft(x[0], {0, 1}, FftNorm::kOrtho);
    return std::vector<Tensor>{y, Irfft(y, 4, {0, 1}, FftNorm::kOrtho)};
  };
  const absl::Status first = GradCheck(f, {Normal({3, 5})}),
                     second = GradGradCheck(f, {Normal({3, 5})});
  EXPECT_TRUE(first.ok()) << first;
  EXPECT_TRUE(second.ok()) << second;
}

// Long lines are transformed one by one, and lengths of large primes by convolutions.
TEST(FftTest, GivesBackLinesOfAnyLength) {
  for (const int64_t n : {1, 2, 97, 1009, 4096, 16384, 20000, 30011, 65536}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const Tensor x = Normal({2, n, 2}).To(dtype), real = Normal({2, n}).To(dtype);
      const double within = dtype == DType::kF32 ? 1e-5 : 1e-13;
      EXPECT_LT(Largest((Ifft(Fft(x)) - x).To(DType::kF64)), within) << n;
      EXPECT_LT(Largest((Irfft(Rfft(real), n) - real).To(DType::kF64)), within) << n;
      // Parseval: an orthogonal transform keeps lengths.
      const Tensor y = Fft(x, -1, FftNorm::kOrtho);
      EXPECT_NEAR(Sum(y * y).Item<double>() / Sum(x * x).Item<double>(), 1, within) << n;
    }
  }
}

// Number k of each transform of x, [..., n, 2], by its definition.
Tensor Defined(const Tensor& x) {
  const int64_t n = x.size(-2);
  const Tensor k = Unsqueeze(Arange(int64_t{0}, n), 1), t = Arange(int64_t{0}, n);
  const Tensor angle = Remainder(k * t, n).To(DType::kF64) * (-2 * M_PI / static_cast<double>(n));
  const Tensor c = Cos(angle), s = Sin(angle);
  const Tensor re = Select(x, -1, 0), im = Select(x, -1, 1);
  return Stack({Matmul(re, c) - Matmul(im, s), Matmul(re, s) + Matmul(im, c)}, -1);
}

// Lengths with first passes of 16, 8, 4 and 2 numbers, each later factor in each place, blocks and
// pieces that overlap, primes whose length less one has small factors, and others.
TEST(FftTest, TransformsLinesAloneOfManyLengths) {
  for (const int64_t n : {64,  100, 126, 128, 160, 192, 200,  224,  248,  250,  256,  257, 272,
                          288, 296, 336, 337, 400, 448, 480,  500,  509,  512,  528,  640, 720,
                          768, 784, 900, 960, 997, 998, 1000, 1009, 1024, 1120, 1200, 1296}) {
    const Tensor x = Normal({2, n, 2}), want = Defined(x);
    const double most = Largest(want);
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const double within = (dtype == DType::kF32 ? 1e-6 : 2e-15) * most;
      const Tensor own = x.To(dtype);
      EXPECT_LT(Largest(Fft(own).To(DType::kF64) - want), within) << n;
      EXPECT_LT(Largest(Ifft(Fft(own)).To(DType::kF64) - x), within) << n;
      const Tensor real = Select(own, -1, 0).Contiguous();
      const Tensor both = Stack({real, ZerosLike(real)}, -1);
      const Tensor half = Rfft(real);
      EXPECT_LT(Largest((half - Slice(Fft(both), 1, 0, n / 2 + 1)).To(DType::kF64)), within) << n;
      EXPECT_LT(Largest((Irfft(half, n) - real).To(DType::kF64)), within) << n;
    }
  }
}

// The convolution of a prime length has a part for the sum of a line, which here is the whole
// result: errors of other parts must not reach it. Sums and quotients are exact.
TEST(FftTest, TransformsConstantsOfPrimeLengths) {
  for (const int64_t n : {257, 65537}) {
    const Tensor y = Fft(Ones({n, 2}, DType::kF64));
    EXPECT_EQ(Largest(Slice(y, 0, 0, 1) - static_cast<double>(n)), 0) << n;
    EXPECT_EQ(Largest(Slice(y, 0, 1, n)), 0) << n;
  }
}

// Each line is transformed alone: a large neighbour, or one that is not finite, changes nothing.
TEST(FftTest, KeepsLinesApart) {
  const Tensor x = Normal({1, 30}).To(DType::kF32);
  const Tensor alone = Rfft(x);
  for (const float other : {1e30f, std::nanf("")}) {
    const Tensor both = Concat({x, Full({1, 30}, other, DType::kF32), x});
    const Tensor y = Rfft(both);
    EXPECT_TRUE(Slice(y, 0, 0, 1).Equals(Slice(y, 0, 2, 3)));
    EXPECT_LT(Largest((Slice(y, 0, 0, 1) - alone).To(DType::kF64)), 1e-5);
  }
}

TEST(FftTest, GivesTheSameWithAnyNumberOfThreads) {
  const Tensor x = Normal({300, 64, 2});
  const int before = NumThreads();
  SetNumThreads(1);
  const Tensor one = Fft(x);
  SetNumThreads(4);
  const Tensor four = Fft(x);
  SetNumThreads(before);
  EXPECT_TRUE(one.Equals(four));
}

TEST(FftTest, RefusesDimensionsThatDoNotFit) {
  const Tensor x = Normal({3, 4, 2});
  EXPECT_NE(ErrorOf([&] { Fft(x, {0, 0}); }).find("dim 0 is named twice"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Fft(x, {0, 2}); }).find("dim 2 is outside"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Fft(Normal({2}), {}); }).find("x must have 2"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Rfft(Tensor(), {0, 1}); }).find("undefined"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Irfft(Normal({1, 2})); }).find("size is 0"), std::string::npos);
}

TEST(StftTest, IsUndoneByIstft) {
  const Tensor x = Normal({2, 100});
  for (const bool onesided : {true, false}) {
    for (const int64_t win_length : {16, 11}) {
      const Tensor window = HannWindow(win_length, {.dtype = DType::kF64});
      const Tensor y =
          Stft(x, 16, {.win_length = win_length, .window = window, .onesided = onesided});
      EXPECT_EQ(y.shape(), Shape({2, onesided ? 9 : 16, 26, 2}));
      const IstftOptions back{
          .win_length = win_length, .window = window, .onesided = onesided, .length = 100};
      EXPECT_LT(Largest(Istft(y, 16, back) - x), 1e-13);
    }
  }
}

TEST(StftTest, PadsAsItIsTold) {
  const Tensor x = Normal({10});
  const Tensor zeros = Stft(x, 4, {.hop = 2, .pad_mode = PadMode::kConstant});
  const Tensor by_hand = Stft(Pad(x, {2, 2}), 4, {.hop = 2, .center = false});
  EXPECT_TRUE(zeros.Equals(by_hand));
  // The error gives the caller's size, and not the padded one.
  EXPECT_NE(ErrorOf([&] { Stft(x, 512); }).find("stft: n_fft is 512, and x [10] has no more than"),
            std::string::npos);
  EXPECT_EQ(Stft(x, 18).shape(), Shape({10, 3, 2}));
}

TEST(IstftTest, FillsWhatNoWindowCoversWithZeros) {
  const Tensor y = Stft(Normal({20}), 4, {.hop = 4, .center = false});
  const Tensor window = testing::Values({1, 1, 0, 0});
  const Tensor x = Istft(y, 4, {.hop = 4, .window = window, .center = false, .length = 22});
  const std::vector<double> values = x.ToVector<double>();
  ASSERT_EQ(values.size(), 22u);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i] == 0, i % 4 >= 2 || i >= 20) << i;
}

TEST(WindowsTest, AreTheirMirrorImages) {
  for (const int64_t n : {2, 3, 64, 1001}) {
    const auto periodic = BlackmanWindow(n, {.dtype = DType::kF64}).ToVector<double>();
    const auto symmetric =
        HannWindow(n, {.periodic = false, .dtype = DType::kF64}).ToVector<double>();
    ASSERT_EQ(periodic.size(), static_cast<size_t>(n));
    ASSERT_EQ(symmetric.size(), static_cast<size_t>(n));
    for (size_t i = 1; i < periodic.size(); ++i) {
      EXPECT_EQ(periodic[i], periodic[periodic.size() - i]) << n << " " << i;
      EXPECT_EQ(symmetric[i - 1], symmetric[symmetric.size() - i]) << n << " " << i;
    }
  }
}

TEST(WindowsTest, AddUpToOneWhereTheyOverlap) {
  const Tensor hann = HannWindow(64, {.dtype = DType::kF64});
  EXPECT_LT(Largest(Slice(hann, 0, 0, 32) + Slice(hann, 0, 32) - 1.0), 1e-15);
  EXPECT_EQ(HannWindow(5).dtype(), DType::kF32);
  EXPECT_NE(ErrorOf([] { HannWindow(5, {.dtype = DType::kI64}); }).find("dtype must be floating"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] { CosineWindow({}, 5); }).find("no coefficients"), std::string::npos);
}

}  // namespace
}  // namespace firn
