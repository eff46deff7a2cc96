// Checks the three Winograd passes against a direct convolution in double precision.

#include "firn/tensor/kernels/cpu/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/device/simd.h"

namespace firn {

void PrintTo(const WinogradShape& shape, std::ostream* out) {
  *out << shape.batch << "x" << shape.in_channels << "->" << shape.out_channels << " "
       << shape.height << "x" << shape.width << " by " << shape.kernel << "x" << shape.kernel;
}

namespace {

constexpr float kSentinel = 12345.0f;

// The allowed error, relative to the largest result; a direct sum of f32 has up to 1e-6.
constexpr double kRounding = 1e-5;

// A 64-byte aligned buffer with a guard behind it that must survive.
class Buffer {
 public:
  explicit Buffer(int64_t floats)
      : floats_(floats),
        data_(static_cast<float*>(std::aligned_alloc(64, (Bytes() + 63) / 64 * 64))) {
    std::fill(data(), data() + floats_, std::nanf(""));
    std::fill(data() + floats_, data() + floats_ + kGuard, kSentinel);
  }
  float* data() { return data_.get(); }
  int64_t size() const { return floats_; }
  bool GuardIntact() {
    return std::all_of(data() + floats_, data() + floats_ + kGuard,
                       [](float f) { return f == kSentinel; });
  }
  void Randomize(unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < floats_; ++i) data()[i] = std::tanh(normal(engine));
  }

 private:
  static constexpr int64_t kGuard = 64;
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  size_t Bytes() const { return static_cast<size_t>(floats_ + kGuard) * sizeof(float); }

  int64_t floats_;
  std::unique_ptr<float, Free> data_;
};

// Index of an element of a channel-blocked activation.
int64_t Blocked(const WinogradShape& s, int64_t channels, int64_t n, int64_t c, int64_t y,
                int64_t x) {
  return (((n * (channels / kChannelBlock) + c / kChannelBlock) * s.height + y) * s.width + x) *
             kChannelBlock +
         c % kChannelBlock;
}

// Calls f(x index, weight index, y index) for the products of one pixel of the output with one of
// the input, whose weights begin at `weight`: block by block, so that an index takes one addition,
// since these tests have a billion products and sanitizers watch each.
template <typename F>
void ForEachProductOfPixels(const WinogradShape& s, int64_t x, int64_t weight, int64_t y,
                            const F& f) {
  const int64_t taps = s.kernel * s.kernel, block = s.height * s.width * kChannelBlock;
  for (int64_t o = 0; o < s.out_channels; ++o) {
    const int64_t to = y + o / kChannelBlock * block + o % kChannelBlock;
    for (int64_t c = 0; c < s.in_channels; c += kChannelBlock) {
      const int64_t from = x + c / kChannelBlock * block;
      const int64_t w = weight + (o * s.in_channels + c) * taps;
      for (int64_t lane = 0; lane < kChannelBlock; ++lane) f(from + lane, w + lane * taps, to);
    }
  }
}

// Calls f(x index, weight index, y index) for every product of the direct convolution.
template <typename F>
void ForEachProduct(const WinogradShape& s, const F& f) {
  const int64_t half = s.kernel / 2;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t y = 0; y < s.height; ++y)
      for (int64_t x = 0; x < s.width; ++x)
        for (int64_t i = 0; i < s.kernel * s.kernel; ++i) {
          const int64_t from_y = y + i / s.kernel - half, from_x = x + i % s.kernel - half;
          if (from_y < 0 || from_y >= s.height || from_x < 0 || from_x >= s.width) continue;
          ForEachProductOfPixels(s, Blocked(s, s.in_channels, n, 0, from_y, from_x), i,
                                 Blocked(s, s.out_channels, n, 0, y, x), f);
        }
}

double RelativeError(Buffer& actual, const std::vector<double>& expected) {
  double error = 0, largest = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double e = expected[static_cast<size_t>(i)];
    const double difference = std::abs(actual.data()[i] - e);
    if (std::isnan(difference)) return difference;
    error = std::max(error, difference);
    largest = std::max(largest, std::abs(e));
  }
  return error / largest;
}

class WinogradTest : public testing::TestWithParam<WinogradShape> {
 protected:
  WinogradTest()
      : x_(s_.batch * s_.in_channels * s_.height * s_.width),
        weight_(s_.out_channels * s_.in_channels * s_.kernel * s_.kernel),
        y_(s_.batch * s_.out_channels * s_.height * s_.width) {}

  std::vector<double> Zeros(const Buffer& like) {
    return std::vector<double>(static_cast<size_t>(like.size()), 0.0);
  }
  Buffer Workspace(ConvPass pass) {
    return Buffer(static_cast<int64_t>(WinogradWorkspace(s_, pass) / sizeof(float)));
  }

  const WinogradShape s_ = GetParam();
  Buffer x_, weight_, y_;
};

TEST_P(WinogradTest, ForwardMatchesDirectConvolution) {
  x_.Randomize(1);
  weight_.Randomize(2);
  Buffer bias(s_.out_channels);
  bias.Randomize(3);
  std::vector<double> expected = Zeros(y_);
  ForEachProduct(s_, [&](int64_t x, int64_t w, int64_t y) {
    expected[static_cast<size_t>(y)] += double{x_.data()[x]} * weight_.data()[w];
  });
  for (const bool with_bias : {false, true}) {
    Buffer workspace = Workspace(ConvPass::kForward);
    WinogradForward(s_, x_.data(), weight_.data(), with_bias ? bias.data() : nullptr, y_.data(),
                    workspace.data());
    if (with_bias) {
      for (int64_t n = 0; n < s_.batch; ++n)
        for (int64_t o = 0; o < s_.out_channels; ++o)
          for (int64_t i = 0; i < s_.height * s_.width; ++i)
            expected[static_cast<size_t>(
                Blocked(s_, s_.out_channels, n, o, i / s_.width, i % s_.width))] += bias.data()[o];
    }
    EXPECT_LE(RelativeError(y_, expected), kRounding);
    EXPECT_TRUE(y_.GuardIntact());
    EXPECT_TRUE(workspace.GuardIntact());
  }
}

TEST_P(WinogradTest, BackwardDataMatchesDirectConvolution) {
  y_.Randomize(1);
  weight_.Randomize(2);
  std::vector<double> expected = Zeros(x_);
  ForEachProduct(s_, [&](int64_t x, int64_t w, int64_t y) {
    expected[static_cast<size_t>(x)] += double{y_.data()[y]} * weight_.data()[w];
  });
  Buffer workspace = Workspace(ConvPass::kBackwardData);
  WinogradBackwardData(s_, y_.data(), weight_.data(), x_.data(), workspace.data());
  EXPECT_LE(RelativeError(x_, expected), kRounding);
  EXPECT_TRUE(x_.GuardIntact());
  EXPECT_TRUE(workspace.GuardIntact());
}

TEST_P(WinogradTest, BackwardWeightMatchesDirectConvolution) {
  x_.Randomize(1);
  y_.Randomize(2);
  std::vector<double> expected = Zeros(weight_);
  ForEachProduct(s_, [&](int64_t x, int64_t w, int64_t y) {
    expected[static_cast<size_t>(w)] += double{x_.data()[x]} * y_.data()[y];
  });
  Buffer workspace = Workspace(ConvPass::kBackwardWeight);
  WinogradBackwardWeight(s_, x_.data(), y_.data(), weight_.data(), workspace.data());
  EXPECT_LE(RelativeError(weight_, expected), kRounding);
  EXPECT_TRUE(weight_.GuardIntact());
  EXPECT_TRUE(workspace.GuardIntact());
}

TEST_P(WinogradTest, ResultsDoNotDependOnTheNumberOfThreads) {
  const int threads = NumThreads();
  Buffer input_gradient(x_.size()), weight_gradient(weight_.size());
  std::vector<std::vector<float>> first;
  for (const int n : {1, 2, 5}) {
    SetNumThreads(n);
    x_.Randomize(1);
    weight_.Randomize(2);
    Buffer forward = Workspace(ConvPass::kForward);
    WinogradForward(s_, x_.data(), weight_.data(), nullptr, y_.data(), forward.data());
    Buffer data = Workspace(ConvPass::kBackwardData);
    WinogradBackwardData(s_, y_.data(), weight_.data(), input_gradient.data(), data.data());
    Buffer filters = Workspace(ConvPass::kBackwardWeight);
    WinogradBackwardWeight(s_, x_.data(), y_.data(), weight_gradient.data(), filters.data());
    std::vector<std::vector<float>> results;
    for (Buffer* result : {&y_, &input_gradient, &weight_gradient}) {
      results.emplace_back(result->data(), result->data() + result->size());
    }
    if (first.empty()) first = results;
    EXPECT_EQ(results, first) << n << " threads";
    EXPECT_TRUE(forward.GuardIntact() && data.GuardIntact() && filters.GuardIntact());
  }
  SetNumThreads(threads);
}

constexpr int64_t kB = kChannelBlock;

INSTANTIATE_TEST_SUITE_P(
    Shapes, WinogradTest,
    testing::Values(WinogradShape{16, 4 * kB, 4 * kB, 8, 8},   // whole tiles
                    WinogradShape{3, 2 * kB, 3 * kB, 7, 5},    // tiles over both borders, odd panel
                    WinogradShape{1, kB, kB, 1, 1},            // one pixel
                    WinogradShape{1, 3 * kB, kB, 1, 9},        // one row
                    WinogradShape{2, kB, 5 * kB, 9, 1},        // one column
                    WinogradShape{5, 17 * kB, 2 * kB, 6, 4},   // more than one chunk of dx
                    WinogradShape{2, 2 * kB, 33 * kB, 3, 10},  // three chunks of y
                    WinogradShape{1, 7 * kB, 4 * kB, 30, 29},  // several blocks of tiles
                    WinogradShape{40, 4 * kB, 2 * kB, 11, 6},  // dW in parts
                    WinogradShape{40, kB, 33 * kB, 11, 6},  // dW in blocks of tiles and of channels
                    WinogradShape{16, 2 * kB, 4 * kB, 14, 14, 5},  // parts in several blocks
                    WinogradShape{3, 2 * kB, 3 * kB, 7, 5, 5}, WinogradShape{1, kB, kB, 1, 1, 5},
                    WinogradShape{2, 3 * kB, kB, 1, 9, 5}, WinogradShape{2, kB, 5 * kB, 9, 2, 5},
                    WinogradShape{9, 17 * kB, 2 * kB, 6, 4, 5}));

TEST(WinogradSupportsTest, RefusesChannelsThatAreNotWholeBlocks) {
  EXPECT_TRUE(WinogradSupports({1, kB, 2 * kB, 1, 1}));
  EXPECT_FALSE(WinogradSupports({1, kB + 1, kB, 8, 8}));
  EXPECT_FALSE(WinogradSupports({1, kB, 1, 8, 8}));
  EXPECT_FALSE(WinogradSupports({0, kB, kB, 8, 8}));
  EXPECT_TRUE(WinogradSupports({1, kB, kB, 8, 8, 5}));
  EXPECT_FALSE(WinogradSupports({1, kB, kB, 8, 8, 4}));
}

TEST(WinogradIsFasterTest, WantsTilesEnoughToPayForTheFilters) {
  for (const ConvPass pass :
       {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeight}) {
    EXPECT_TRUE(WinogradIsFaster({16, 128, 128, 8, 8}, pass));
    EXPECT_TRUE(WinogradIsFaster({64, 16, 32, 14, 14, 5}, pass));
    EXPECT_FALSE(WinogradIsFaster({1, 512, 512, 7, 7}, pass));
    EXPECT_FALSE(WinogradIsFaster({64, 32, 32, 1, 1}, pass));
  }
}

TEST(WinogradIsFasterTest, WantsMoreAgainstFasterConvolutions) {
  constexpr ConvPass kForward = ConvPass::kForward;
  EXPECT_TRUE(WinogradIsFaster({64, 128, 128, 8, 8}, kForward, 2));
  EXPECT_FALSE(WinogradIsFaster({64, 16, 32, 14, 14, 5}, kForward, 2));
}

}  // namespace
}  // namespace firn
