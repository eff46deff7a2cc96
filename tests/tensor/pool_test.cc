// Sizes and gradients of pooling, with numbers worked out by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/problems/pool_problem.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Doubles = std::vector<double>;

template <class F>
::testing::AssertionResult Says(F f, const std::string& part) {
  const std::string error = testing::ErrorOf(f);
  if (error.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << error << "\" does not say \"" << part << "\"";
}

// 3 pixels, windows of 2 every 2: the second one hangs over the end.
TEST(PoolTest, CeilModeKeepsAWindowThatHangsOverTheEnd) {
  const Tensor x = FromVector<double>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3});
  const Tensor y = MaxPool2d(x, {.kernel = 2, .ceil_mode = true});
  EXPECT_EQ(y.shape(), Shape({1, 1, 2, 2}));
  EXPECT_EQ(y.ToVector<double>(), (Doubles{5, 6, 8, 9}));
}

// 6 pixels with one of padding on both sides, windows of 2 every 4: they would start at -1, 3 and
// 7, but 7 is behind the image and its padding.
TEST(PoolTest, CeilModeDropsAWindowThatStartsBehindTheImage) {
  const Tensor y =
      MaxPool2d(Ones({1, 1, 6, 6}), {.kernel = 2, .stride = 4, .padding = 1, .ceil_mode = true});
  EXPECT_EQ(y.shape(), Shape({1, 1, 2, 2}));
}

// The pixel in the middle wins all nine windows. Added up in bf16, whose numbers lie 2 apart from
// 256 on, 256 + 1 is 256 again.
TEST(PoolTest, GradientsOfHalfTypesAddUpInFloat) {
  for (DType dtype : {DType::kBF16, DType::kF32}) {
    Tensor x = Zeros({1, 1, 5, 5}, dtype);
    x[{0, 0, 2, 2}] = 1;
    x.SetRequiresGrad();
    const Tensor seed = FromVector<float>({256, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 3, 3}).To(dtype);
    MaxPool2d(x, {.kernel = 3, .stride = 1}).Backward(seed);
    EXPECT_EQ(x.grad().ToVector<double>()[12], 264) << DTypeName(dtype);
    EXPECT_EQ(Sum(x.grad().To(DType::kF64)).Item(), 264) << DTypeName(dtype);
  }
}

// A kernel once refused this with "the windows are not known".
TEST(PoolTest, WindowsOfOnePixelHaveGradients) {
  Tensor x = FromVector<double>({1, 2, 3, 4, 5, 6}, {1, 1, 2, 3}).SetRequiresGrad();
  const Tensor y = MaxPool2d(x, {.kernel = 1, .stride = 2});
  EXPECT_EQ(y.ToVector<double>(), (Doubles{1, 3}));
  y.Backward(FromVector<double>({10, 20}, {1, 1, 1, 2}));
  EXPECT_EQ(x.grad().ToVector<double>(), (Doubles{10, 0, 20, 0, 0, 0}));
}

// Rows and planes of one pixel distinguish sequences, images and volumes.
TEST(PoolTest, SequencesAndVolumesArePooledAsImages) {
  const Tensor x = Randn({2, 3, 9});
  const Tensor y = MaxPool1d(x, {.kernel = 3, .stride = 2, .padding = 1, .dilation = 2});
  const Tensor image = MaxPool2d(
      x.Unsqueeze(2), {.kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}, .dilation = {1, 2}});
  EXPECT_TRUE(y.Equals(image.Squeeze(2)));
  EXPECT_TRUE(MaxPool1d(x, 3).Equals(MaxPool1d(x, {.kernel = 3})));

  const Tensor volume = Randn({2, 3, 4, 6, 6});
  const Tensor planes = MaxPool2d(volume.Reshape({6, 4, 6, 6}), 2).Reshape({2, 3, 4, 3, 3});
  const Tensor pairs = planes.Reshape({2, 3, 2, 2, 3, 3}).Amax({3});
  EXPECT_TRUE(MaxPool3d(volume, 2).Equals(pairs));
  EXPECT_TRUE(MaxPool3d(volume, {.kernel = {1, 2, 2}}).Equals(planes));
}

TEST(PoolTest, StridesAreOneNumberOrOneADimensionAndElseTheKernel) {
  const Tensor x = Randn({1, 2, 7, 9});
  EXPECT_EQ(AvgPool2d(x, {.kernel = 3, .stride = {1, 2}}).shape(), Shape({1, 2, 5, 4}));
  EXPECT_EQ(LpPool2d(x, 2, {.kernel = 3, .stride = {1, 2}}).shape(), Shape({1, 2, 5, 4}));
  EXPECT_EQ(MaxPool2d(x, {.kernel = 3, .stride = {1, 2}}).shape(), Shape({1, 2, 5, 4}));
  EXPECT_EQ(MaxPool2d(x, {.kernel = 3, .stride = 2}).shape(), Shape({1, 2, 3, 4}));
  EXPECT_EQ(MaxPool2d(x, {.kernel = 3, .stride = {}}).shape(), Shape({1, 2, 2, 3}));
  EXPECT_EQ(MaxPool2d(x, {.kernel = 3}).shape(), Shape({1, 2, 2, 3}));

  const ValuesAndIndices maxima = MaxPool2dWithIndices(x, {.kernel = 3, .stride = {1, 2}});
  EXPECT_EQ(MaxUnpool2d(maxima.values, maxima.indices, {.kernel = 3, .stride = {1, 2}}).shape(),
            x.shape());
}

TEST(PoolTest, IndicesSayWhereTheMaximaWere) {
  const Tensor x = Randn({2, 3, 4, 6, 8});
  const auto taken = [](const Tensor& from, const Tensor& indices) {
    return from.Reshape({2, 3, -1}).Gather(2, indices.Reshape({2, 3, -1}));
  };
  const ValuesAndIndices volume = MaxPool3dWithIndices(x, {.kernel = 2});
  EXPECT_TRUE(taken(x, volume.indices).Equals(volume.values.Reshape({2, 3, -1})));
  const Tensor rows = x.Reshape({2, 3, -1});
  const ValuesAndIndices row = MaxPool1dWithIndices(rows, {.kernel = 5});
  EXPECT_TRUE(taken(rows, row.indices).Equals(row.values));
  const ValuesAndIndices adaptive = AdaptiveMaxPool3dWithIndices(x, {3, 2, 5});
  EXPECT_TRUE(taken(x, adaptive.indices).Equals(adaptive.values.Reshape({2, 3, -1})));
  const Tensor images = x.Reshape({2, 3, 24, 8});
  const ValuesAndIndices image = AdaptiveMaxPool2dWithIndices(images, {5, 3});
  EXPECT_TRUE(taken(images, image.indices).Equals(image.values.Reshape({2, 3, -1})));
  const ValuesAndIndices line = AdaptiveMaxPool1dWithIndices(rows, 7);
  EXPECT_TRUE(taken(rows, line.indices).Equals(line.values));
}

TEST(PoolTest, AdaptiveMaximaOfSizeOneAreGlobalAndOfTheInputsSizeNone) {
  const Tensor x = Randn({2, 3, 4, 5, 6});
  EXPECT_TRUE(AdaptiveMaxPool3d(x, 1).Equals(x.Amax({2, 3, 4}, true)));
  EXPECT_TRUE(AdaptiveMaxPool3d(x, {4, 5, 6}).Equals(x));
  const Tensor images = x.Reshape({2, 3, 20, 6});
  EXPECT_TRUE(AdaptiveMaxPool2d(images, 1).Equals(images.Amax({2, 3}, true)));
  EXPECT_TRUE(AdaptiveMaxPool2d(images, {20, 6}).Equals(images));
  const Tensor rows = x.Reshape({2, 3, 120});
  EXPECT_TRUE(AdaptiveMaxPool1d(rows, 1).Equals(rows.Amax({2}, true)));
  // Windows of 120 / 7: the first covers [0, 18), the second [17, 35).
  const Tensor second = AdaptiveMaxPool1d(rows, 7)[{0, 0, 1}];
  EXPECT_EQ(second.Item(), Tensor(rows[{0, 0, Range(17, 35)}]).Amax().Item());
  EXPECT_EQ(AdaptiveMaxPool1d(rows[0], 7).shape(), Shape({3, 7}));  // without a batch
}

// A row of a pooled image by the definition; `f(elements, divisor)` makes a window's result.
template <class F>
Doubles PooledRow(const Doubles& x, int64_t height, int64_t width, const MaxPoolOptions& o,
                  const F& f) {
  Doubles y;
  for (int64_t start = -o.padding[1]; start + o.kernel[1] <= width + o.padding[1];
       start += o.stride[1]) {
    Doubles window;
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = std::max<int64_t>(start, 0); j < std::min(start + o.kernel[1], width); ++j) {
        window.push_back(x[static_cast<size_t>(i * width + j)]);
      }
    }
    y.push_back(f(window, height * o.kernel[1]));
  }
  return y;
}

// Rows that are worked on as vectors, with and without borders, in pieces, and longer than what is
// worked on at once; small integers, whose sums are exact.
TEST(PoolTest, RowsOfAnyLengthFollowTheDefinition) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const int64_t width : {5, 8, 64, 513, 1030, 2100, 6101}) {
      const Tensor whole = Randint(-9, 9, {3, width});
      const Doubles x = whole.To(DType::kF64).ToVector<double>();
      const Tensor image = whole.To(dtype).Reshape({1, 1, 3, width});
      for (const MaxPoolOptions& o :
           {MaxPoolOptions{.kernel = {3, 2}, .stride = {3, 2}},
            MaxPoolOptions{.kernel = {3, 4}, .stride = {3, 4}},
            MaxPoolOptions{.kernel = {3, 4}, .stride = {3, 1}},
            MaxPoolOptions{.kernel = {3, 4}, .stride = {3, 2}, .padding = {0, 2}},
            MaxPoolOptions{.kernel = {3, 2}, .stride = {3, 3}, .padding = {0, 1}}}) {
        SCOPED_TRACE(::testing::Message() << DTypeName(dtype) << " " << width << " "
                                          << o.kernel.ToString() << o.stride.ToString());
        const Tensor largest = MaxPool2d(image, o);
        EXPECT_EQ(largest.To(DType::kF64).ToVector<double>(),
                  PooledRow(x, 3, width, o, [](const Doubles& window, int64_t) {
                    return *std::max_element(window.begin(), window.end());
                  }));
        const Tensor mean =
            AvgPool2d(image, {.kernel = o.kernel, .stride = o.stride, .padding = o.padding});
        const Doubles want = PooledRow(x, 3, width, o, [&](const Doubles& window, int64_t divisor) {
          const double sum = std::accumulate(window.begin(), window.end(), 0.0);
          // Divides as the kernel does: in float, except for f64.
          return dtype == DType::kF64
                     ? sum / static_cast<double>(divisor)
                     : static_cast<double>(static_cast<float>(sum) / static_cast<float>(divisor));
        });
        EXPECT_TRUE(mean.Flatten().Equals(FromVector<double>(want).To(dtype)));
      }
    }
  }
}

// The windows of long rows, each by itself.
TEST(PoolTest, WindowsOfLongRowsAreAveragedByThemselves) {
  const int64_t width = 5003;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    const Tensor x = Randint(-9, 9, {1, 2, width}).To(dtype);
    const auto mean = [&](int64_t begin, int64_t end) {
      return Mean(Tensor(x[{kAll, kAll, Range(begin, end)}]), 2);
    };
    for (const int64_t pieces : {1, 7, 2501, 6001}) {
      const Tensor y = AdaptiveAvgPool1d(x, pieces);
      for (int64_t j = 0; j < pieces; j += 1 + pieces / 40) {
        const Tensor want = mean(j * width / pieces, ((j + 1) * width - 1) / pieces + 1);
        EXPECT_TRUE(Tensor(y[{kAll, kAll, j}]).Equals(want)) << pieces << " " << j;
      }
    }
    for (const int64_t kernel : {3, 2040, 4001}) {  // the last one is longer than the buffer
      const Tensor y = AvgPool1d(x, {.kernel = kernel,
                                     .stride = 2,
                                     .padding = 1,
                                     .ceil_mode = true,
                                     .count_include_pad = false});
      for (int64_t j = 0; j < y.size(2); j += j < y.size(2) - 2 ? 1 + y.size(2) / 40 : 1) {
        const int64_t begin = 2 * j - 1;
        const Tensor want = mean(std::max<int64_t>(begin, 0), std::min(begin + kernel, width));
        EXPECT_TRUE(Tensor(y[{kAll, kAll, j}]).Equals(want)) << kernel << " " << j;
      }
    }
  }
}

// Small planes, rows of which have divisors of their own at the borders, are pooled together.
TEST(PoolTest, PlanesKnowNothingOfEachOther) {
  struct Case {
    int64_t kernel, stride, padding, dilation;
  };
  constexpr Case kCases[] = {{2, 2, 0, 1}, {3, 1, 1, 1}, {3, 2, 1, 1}, {5, 5, 0, 1},
                             {2, 1, 0, 3}, {1, 3, 0, 1}, {3, 3, 1, 1}};
  RandomGenerator generator(3);
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const Tensor all = Randn({5, 61, 5, 9}, DType::kF32, {.generator = &generator}).To(dtype);
    for (const Case& c : kCases) {
      const MaxPoolOptions most = {
          .kernel = c.kernel, .stride = c.stride, .padding = c.padding, .dilation = c.dilation};
      const AvgPoolOptions mean = {.kernel = c.kernel, .stride = c.stride, .padding = c.padding};
      const auto pool = [&](Tensor x, bool maxima) {
        x = x.Clone().SetRequiresGrad();
        const Tensor y = maxima ? MaxPool2d(x, most) : AvgPool2d(x, mean);
        y.Backward(y.Detach());
        return std::vector<Tensor>{y, x.grad()};
      };
      for (const bool maxima : {true, false}) {
        const std::vector<Tensor> together = pool(all, maxima);
        for (int64_t i : {0, 1, 4}) {
          for (int64_t j : {0, 30, 60}) {
            const auto plane = [&](const Tensor& t) {
              return Slice(Slice(t, 0, i, i + 1), 1, j, j + 1);
            };
            const std::vector<Tensor> alone = pool(plane(all), maxima);
            for (size_t r : {0, 1}) {
              EXPECT_TRUE(plane(together[r]).Clone().Equals(alone[r]))
                  << DTypeName(dtype) << " " << c.kernel << c.stride << c.padding << c.dilation
                  << maxima << " plane " << i << " " << j << " result " << r;
            }
          }
        }
      }
    }
  }
}

TEST(PoolTest, AveragesOfImagesAreThoseOfTheirRowsAndColumns) {
  const Tensor x = Randint(-9, 9, {2, 3, 11, 40}).To(DType::kF32);
  for (const bool count : {true, false}) {
    const Tensor y = AvgPool2d(
        x, {.kernel = {4, 2}, .stride = {3, 2}, .padding = {2, 0}, .count_include_pad = count});
    for (int64_t i = 0; i < y.size(2); ++i) {
      const int64_t begin = std::max<int64_t>(3 * i - 2, 0), end = std::min<int64_t>(3 * i + 2, 11);
      const Tensor rows = Sum(Slice(x, 2, begin, end), {2});
      const Tensor pairs = Sum(Reshape(rows, {2, 3, 20, 2}), {3});
      EXPECT_TRUE(Select(y, 2, i).Equals(Div(pairs, count ? 8 : 2 * (end - begin)))) << i;
    }
  }
  EXPECT_TRUE(AdaptiveAvgPool2d(x, 1).Equals(Mean(x, {2, 3}, true)));
}

TEST(PoolTest, UnpoolingPutsMaximaBack) {
  const Tensor x = FromVector<double>({1, 5, 2, 3, 4, 0, 7, 6}, {1, 1, 2, 4});
  const ValuesAndIndices pooled = MaxPool2dWithIndices(x, {.kernel = 2});
  const Tensor y = MaxUnpool2d(pooled.values, pooled.indices, {.kernel = 2});
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_EQ(y.ToVector<double>(), (Doubles{0, 5, 0, 0, 0, 0, 7, 0}));
  const Tensor wide =
      MaxUnpool2d(pooled.values, pooled.indices, {.kernel = 2, .output_size = {2, 5}});
  EXPECT_EQ(wide.ToVector<double>(), (Doubles{0, 5, 0, 0, 0, 0, 7, 0, 0, 0}));
}

// Compares images by themselves with a batch of one: the result, and the gradient of its squares.
template <class F>
void ExpectTheSameWithoutABatch(const Shape& shape, F f) {
  Tensor alone = Randn(shape), batch = Unsqueeze(alone, 0).Detach();
  alone.SetRequiresGrad();
  batch.SetRequiresGrad();
  const Tensor y = f(alone), many = f(batch);
  ASSERT_EQ(Unsqueeze(y, 0).shape(), many.shape());
  EXPECT_EQ(y.ToVector<float>(), many.ToVector<float>());
  EXPECT_EQ(Grad(Sum(y * y), alone).ToVector<float>(),
            Grad(Sum(many * many), batch).ToVector<float>());
}

TEST(PoolTest, ImagesWithoutABatchAreBatchesOfOne) {
  ExpectTheSameWithoutABatch({2, 7}, [](const Tensor& x) { return MaxPool1d(x, 2); });
  ExpectTheSameWithoutABatch({2, 7, 4}, [](const Tensor& x) { return MaxPool2d(x, 2); });
  ExpectTheSameWithoutABatch({2, 4, 4, 6}, [](const Tensor& x) { return MaxPool3d(x, 2); });
  ExpectTheSameWithoutABatch({2, 7}, [](const Tensor& x) { return AvgPool1d(x, 2); });
  ExpectTheSameWithoutABatch({2, 7, 4}, [](const Tensor& x) { return AvgPool2d(x, 2); });
  ExpectTheSameWithoutABatch({2, 4, 4, 6}, [](const Tensor& x) { return AvgPool3d(x, 2); });
  ExpectTheSameWithoutABatch({2, 7}, [](const Tensor& x) { return AdaptiveMaxPool1d(x, 3); });
  ExpectTheSameWithoutABatch({2, 7, 4}, [](const Tensor& x) { return AdaptiveAvgPool2d(x, 3); });
  ExpectTheSameWithoutABatch({2, 4, 7, 5}, [](const Tensor& x) {
    return AdaptiveMaxPool3d(x, {2, 3, 1});
  });
  ExpectTheSameWithoutABatch({2, 7, 4},
                             [](const Tensor& x) { return LpPool2d(x, 2, {.kernel = 2}); });
  ExpectTheSameWithoutABatch({2, 7, 4}, [](const Tensor& x) {
    return Unfold(x, {.kernel = {2, 3}});
  });
  ExpectTheSameWithoutABatch({8, 12}, [](const Tensor& x) {
    return Fold(x, {.output_size = {4, 5}, .kernel = 2});
  });
}

TEST(PoolTest, RefusesRanksThatFitNeitherWithNorWithoutABatch) {
  const Tensor five = Zeros({1, 1, 2, 4, 4}), two = Zeros({4, 4});
  EXPECT_TRUE(Says([&] { MaxPool2d(five, 2); },
                   "max_pool2d: x must have 4 dimensions, or 3 without a batch; got f32 [1, 1, "));
  EXPECT_TRUE(Says([&] { MaxPool3d(two, 2); }, "max_pool3d: x must have 5 dimensions, or 4"));
  EXPECT_TRUE(Says([&] { AvgPool1d(five, 2); }, "avg_pool1d: x must have 3 dimensions, or 2"));
  EXPECT_TRUE(Says([&] { AdaptiveAvgPool2d(two, 2); }, "avg_pool2d: x must have 4 dimensions"));
  EXPECT_TRUE(Says([&] { Unfold(two, {}); }, "unfold: x must have 4 dimensions, or 3 without"));
  EXPECT_TRUE(Says([&] { Fold(five, {}); }, "fold: x must have 3 dimensions, or 2 without"));
  EXPECT_TRUE(Says([&] { MaxUnpool2d(two, two, {}); }, "max_unpool2d: x must have 4 dimensions"));
}

TEST(PoolTest, RefusesSizesOfOtherCountsAndBeyondTheBounds) {
  const Tensor x = Zeros({1, 1, 6, 6});
  EXPECT_TRUE(Says(
      [&] {
        MaxPool2d(x, {.kernel = {2, 2, 2}});
      },
      "max_pool2d: kernel (2, 2, 2) has 3 numbers (want 1 or 2)"));
  EXPECT_TRUE(Says(
      [&] {
        AvgPool2d(x, {.kernel = 2, .stride = Sizes{1, -1}});
      },
      "avg_pool2d: stride width -1 (want 1 to 16777216)"));
  EXPECT_TRUE(Says(
      [&] {
        AdaptiveMaxPool2d(x, {1, 0});
      },
      "adaptive_max_pool2d: output_size (1, 0) (want 1 to 16777216)"));
  EXPECT_TRUE(Says(
      [&] {
        AdaptiveAvgPool1d(Zeros({1, 2}), {1, 2});
      },
      "adaptive_avg_pool1d: output_size (1, 2) has 2 numbers (want 1)"));
  EXPECT_TRUE(Says([&] { LpPool2d(x, 0, {}); }, "lp_pool2d: p is 0 (want a positive number)"));
  EXPECT_TRUE(Says(
      [&] {
        LpPool1d(Zeros({1, 2}), 2, {.kernel = -1});
      },
      "lp_pool1d: kernel -1 (want 1 to 16777216)"));
  EXPECT_TRUE(
      Says([&] { Unfold(x, {.kernel = 2, .dims = 4}); }, "unfold: dims 4 (want 1 to 3, or 0)"));
  EXPECT_TRUE(Says(
      [&] {
        Unfold(x, {.kernel = {1, 2, 3}, .dims = 2});
      },
      "unfold: kernel (1, 2, 3) has 3 numbers (want 1 or 2)"));
  EXPECT_TRUE(Says(
      [&] {
        Fold(Zeros({1, 4, 4}), {.output_size = {3, 0}, .kernel = 2});
      },
      "fold: output_size (3, 0) (want 1 to 16777216)"));
  EXPECT_TRUE(Says([&] { MaxUnpool2d(x, x.To(DType::kI64), {.stride = 0}); },
                   "max_unpool2d: stride (0, 0) (want 1 to 16777216)"));
}

// An index of 2^32 + 1 is not 1.
TEST(MaxUnpoolTest, RefusesIndicesThatOnlyFitCutTo32Bits) {
  const Tensor index = FromVector<int64_t>({(int64_t{1} << 32) + 1}, {1, 1, 1, 1});
  EXPECT_TRUE(Says(
      [&] {
        MaxUnpool2d(Ones({1, 1, 1, 1}), index, {.kernel = 2});
      },
      "indices 4294967297 at index 0 is outside [0, 4)"));
}

TEST(UnfoldTest, TakesSequencesAndVolumesWhereAsked) {
  const Tensor line = FromVector<double>({1, 2, 3, 4}, {1, 1, 4});
  EXPECT_EQ(Unfold(line, {.kernel = 2, .dims = 1}).ToVector<double>(), (Doubles{1, 2, 3, 2, 3, 4}));
  EXPECT_EQ(Unfold(Zeros({2, 3, 3, 4, 5}), {.kernel = {2, 2, 3}}).shape(), Shape({2, 36, 18}));
  EXPECT_EQ(Unfold(Zeros({3, 3, 4, 5}), {.kernel = 2, .dims = 3}).shape(), Shape({24, 24}));
}

// Each element is counted as often as windows hold it.
TEST(UnfoldTest, FoldAddsWhatOverlaps) {
  const Tensor columns = Unfold(Ones({1, 1, 3, 3}), {.kernel = 2});
  EXPECT_EQ(Fold(columns, {.output_size = 3, .kernel = 2}).ToVector<float>(),
            (std::vector<float>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
}

}  // namespace
}  // namespace firn
