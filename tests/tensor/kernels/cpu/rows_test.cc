// Kernels along lines give the results of f64 in every type and for every way to walk a line:
// turned with others because it is short, in one piece, in several, beside others, or converted.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {
namespace {

using Function = std::function<Tensor(const Tensor& x)>;

struct Case {
  std::string name;
  Shape x;
  Function f;
  double worse = 1;  // how much more than others the gradient may miss
};

// Numbers around 1, which every type has: products of many stay near 1 as well.
Tensor Drawn(const Shape& shape) {
  return Cast(Cast(Add(Mul(Rand(shape), 0.0625), 0.96875), DType::kBF16), DType::kF64);
}

std::vector<Tensor> BothPasses(const Tensor& x, const Function& f) {
  const std::vector<Tensor> leaf = {x.Detach().SetRequiresGrad()};
  const Tensor y = f(leaf[0]);
  ManualSeed(2);
  const Tensor seed = Cast(Cast(Rand(y.shape()), DType::kBF16), y.dtype());
  return {y, Grad({y}, leaf, {.seeds = {seed}})[0]};
}

double Largest(const Tensor& t) { return Cast(Amax(Abs(t)), DType::kF64).Item<double>(); }

// The allowed error, relative to the largest result: four roundings, and some dozens of roundings
// of a sum in f32.
double Tolerance(DType dtype) {
  return dtype == DType::kF16 ? 0x1p-9 : dtype == DType::kBF16 ? 0x1p-6 : 0x1p-18;
}

void ExpectAsInF64(const Case& c) {
  ManualSeed(1);
  const Tensor x = Drawn(c.x);
  const std::vector<Tensor> want = BothPasses(x, c.f);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const std::vector<Tensor> got = BothPasses(Cast(x, dtype), c.f);
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(got[i].dtype(), dtype);
      const double missing = Largest(Sub(Cast(got[i], DType::kF64), want[i]));
      const double worse = i == 1 ? c.worse : 1;
      EXPECT_LE(missing, worse * Tolerance(dtype) * Largest(want[i]))
          << c.name << " of " << c.x.ToString() << " in " << DTypeName(dtype) << ", pass " << i;
    }
  }
}

TEST(RowsTest, GiveWhatF64Gives) {
  std::vector<Case> cases;
  // Short lines turned, 64 and then 6 at a time, and 32 and then 28; lines of one piece, of
  // several; others beside, few and many, and so many that only some are converted at once.
  const std::pair<Shape, int64_t> lines[] = {{{70, 10}, 1},  {{5, 70}, 1},      {{3, 5000}, 1},
                                             {{1, 9}, 1},    {{30, 300}, 0},    {{2, 7, 3}, 1},
                                             {{60, 100}, 1}, {{2, 90, 200}, 1}, {{200, 3}, 0}};
  for (const auto& [shape, dim] : lines) {
    const int64_t d = dim;
    const auto add = [&](std::string name, Function f, double worse = 1) {
      cases.push_back({name, shape, f, worse});
    };
    add("softmax", [d](const Tensor& x) { return Softmax(Mul(x, 4), d); });
    // A logarithm of 8 that was rounded loses three digits of its exponential.
    add(
        "log_softmax", [d](const Tensor& x) { return LogSoftmax(Mul(x, 4), d); }, 8);
    add("cumsum", [d](const Tensor& x) { return Cumsum(x, d); });
    add("cumsum",
        [d](const Tensor& x) { return Cumsum(x, d, {.exclusive = true, .reverse = true}); });
    if (shape.num_elements() > 10000) continue;  // too many factors
    add("cumprod", [d](const Tensor& x) { return Cumprod(x, d); });
    add("cumprod", [d](const Tensor& x) { return Cumprod(x, d, {.reverse = true}); });
    add("prod", [d](const Tensor& x) { return Prod(x, d); });
  }
  cases.push_back({"prod", {4, 5, 6}, [](const Tensor& x) { return Prod(x, {0, 2}); }});
  for (const Shape& shape : {Shape{70, 10}, Shape{5, 100}, Shape{3, 5000}}) {
    const Shape row{shape[1]};
    const Tensor none;
    cases.push_back({"layer_norm", shape,
                     [=](const Tensor& x) { return LayerNorm(x, row, none, none, 1e-2); }});
    cases.push_back(
        {"rms_norm", shape, [=](const Tensor& x) { return RmsNorm(x, row, none, 1e-2); }});
    const Tensor label = Zeros({shape[0]}, DType::kI64);
    cases.push_back({"cross_entropy", shape, [=](const Tensor& x) {
                       return CrossEntropy(Mul(x, 4), label, {.label_smoothing = 0.25});
                     }});
  }
  // Channels side by side, 32 and then 8 at a time; short runs that are no whole vectors; long
  // ones.
  for (const Shape& shape :
       {Shape{50, 40}, Shape{200, 3}, Shape{6, 3, 7, 7}, Shape{6, 2, 64}, Shape{2, 3, 5000}}) {
    cases.push_back({"batch_norm", shape, [](const Tensor& x) {
                       return BatchNorm(x, {}, {}, {}, {}, {.training = true, .eps = 1e-2});
                     }});
  }
  for (const Case& c : cases) ExpectAsInF64(c);
}

// A line by itself is not turned.
TEST(RowsTest, ShortLinesAreAsLinesAlone) {
  const NoGradScope no_grad;
  for (const int64_t length : {1, 2, 10, 23, 24, 50, 112, 113}) {
    const Tensor x = Cast(Randn({67, length}), DType::kF64);
    const Tensor y = Softmax(x, 1);
    for (int64_t i = 0; i < x.size(0); ++i) {
      const Tensor alone = Softmax(Slice(x, 0, i, i + 1), 1);
      EXPECT_LE(Largest(Sub(Slice(y, 0, i, i + 1), alone)), 0x1p-50);
    }
  }
}

TEST(RowsTest, PositionsInHalfTypes) {
  const NoGradScope no_grad;
  for (const Shape& shape : {Shape{3, 9000}, Shape{2, 300, 7}, Shape{1, 70000}}) {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      const Tensor x = Cast(Randn(shape), dtype);
      EXPECT_TRUE(All(Eq(Argmax(x, 1), Argmax(Cast(x, DType::kF64), 1))).Item<bool>());
      EXPECT_TRUE(All(Eq(Argmin(x, 1), Argmin(Cast(x, DType::kF64), 1))).Item<bool>());
    }
  }
}

// A difference of equal numbers, which a rough exponential would not make 0.
TEST(RowsTest, ACertainClassHasNoGradient) {
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
    for (const int64_t length : {20, 70}) {
      std::vector<float> numbers(static_cast<size_t>(length), 0.0f);
      numbers[0] = 1000;
      const Tensor x = Cast(FromVector(numbers), dtype).SetRequiresGrad();
      const Tensor dx = Grad(Slice(LogSoftmax(x, 0), 0, 0, 1), x);
      EXPECT_EQ(Largest(dx), 0) << DTypeName(dtype) << " " << length;
    }
  }
}

// Their squares are beyond float.
TEST(RowsTest, NormalisesLargeNumbers) {
  const Tensor x = Mul(FromValues({1.f, -1.f, 3.f, -3.f}), 1e19);
  const Tensor row = Reshape(x, {1, 4});
  const float s = std::sqrt(5.0f);
  EXPECT_EQ(LayerNorm(row, {4}).shape(), row.shape());
  const std::vector<float> y = LayerNorm(row, {4}).ToVector<float>();
  const std::vector<float> z = RmsNorm(row, {4}).ToVector<float>();
  const float want[] = {1 / s, -1 / s, 3 / s, -3 / s};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(y[i], want[i], 1e-6);
    EXPECT_NEAR(z[i], want[i], 1e-6);
  }
}

}  // namespace
}  // namespace firn
