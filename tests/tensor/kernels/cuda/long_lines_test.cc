// CUDA kernels on lines that are longer than those of samples: lines that are sorted by digits on a
// GPU, added up and written in sorted order, and walked along by teams. Compares with the CPU;
// without a GPU runs on the stand-in, where all is sorted by merging.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

using LongLinesTest = testing::SharedCudaTest;

Tensor Here(const Tensor& x) { return x.To(Device::Cpu()); }

// Within `allowed` of each number's size, infinities and NaN where they are wanted.
void ExpectNear(const Tensor& got, const Tensor& want, double allowed) {
  const std::vector<double> g = got.To(DType::kF64).ToVector<double>();
  const std::vector<double> w = want.To(DType::kF64).ToVector<double>();
  ASSERT_EQ(g.size(), w.size());
  for (size_t i = 0; i < w.size(); ++i) {
    if (std::isfinite(w[i])) {
      ASSERT_NEAR(g[i], w[i], allowed * (1 + std::abs(w[i]))) << i;
    } else {
      ASSERT_TRUE(g[i] == w[i] || (std::isnan(g[i]) && std::isnan(w[i])))
          << i << ": " << g[i] << ", not " << w[i];
    }
  }
}

// Large numbers of both signs, 0 of both signs and, of floats, infinities and NaN; few of them, so
// that equal ones have to keep their order.
Tensor Keys(DType dtype, const Shape& shape) {
  const Tensor whole = Randint(-90, 90, shape);
  if (dtype == DType::kBool) return Gt(whole, 0);
  if (dtype == DType::kU8) return Abs(whole).To(dtype);
  if (!IsFloating(dtype)) return whole.To(dtype);
  const Tensor x = whole.To(DType::kF64), is_nan_at_40 = Reciprocal(x - 40.0) * (x - 40.0);
  const Tensor is_infinite_at_30 = Reciprocal(Square(x - 30.0)) * 1e-30;
  return (Reciprocal(x) * (x * x - 100.0) * Abs(x - 20.0) * is_nan_at_40 + is_infinite_at_30)
      .To(dtype);
}

TEST_F(LongLinesTest, EveryDtypeIsSortedInStableOrder) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    for (const Shape& shape : {Shape({1, 3000}), Shape({5, 9000}), Shape({3, 300, 7})}) {
      const Tensor x = Keys(dtype, shape);
      for (const bool descending : {false, true}) {
        SCOPED_TRACE(::testing::Message() << dtype << " " << shape << " " << descending);
        const auto want = Sort(x, 1, {descending, true});
        const auto got = Sort(x.To(device_), 1, {descending, true});
        EXPECT_TRUE(Here(got.indices).Equals(want.indices));
        const Tensor values = Here(got.values).To(DType::kF64),
                     wanted = want.values.To(DType::kF64);
        EXPECT_TRUE(Isnan(values).Equals(Isnan(wanted)));
        EXPECT_TRUE(NanToNum(values).Equals(NanToNum(wanted)));
      }
    }
  }
}

TEST_F(LongLinesTest, TheFirstOfALineAreThoseOfTheSortedLine) {
  for (const int64_t k : {3, 100, 2300, 8999, 9000}) {  // the latter by digits
    SCOPED_TRACE(k);
    const Tensor x = Randn({4, 9000});
    const auto want = Topk(x, k), got = Topk(x.To(device_), k);
    EXPECT_TRUE(Here(got.values).Equals(want.values));
    EXPECT_TRUE(Here(got.indices).Equals(want.indices));
  }
}

// Lists of their own for each line, with many, few and no positions to a place.
TEST_F(LongLinesTest, PositionsOfAPlaceAreAddedUp) {
  for (const int64_t places : {2, 100, 5000}) {
    for (const Shape& shape : {Shape({1, 2000}), Shape({6, 700}), Shape({3, 400, 5})}) {
      SCOPED_TRACE(::testing::Message() << places << " " << shape);
      const Shape of_x =
          shape.rank() == 2 ? Shape({shape[0], places}) : Shape({shape[0], places, shape[2]});
      const Tensor x = Randn(of_x), source = Randn(shape), at = Randint(-places, places, shape);
      const Tensor want = ScatterAdd(x, 1, at, source);
      const Tensor got = Here(ScatterAdd(x.To(device_), 1, at.To(device_), source.To(device_)));
      EXPECT_LE(Amax(Abs(got - want)).Item(), 1e-3);
      const Tensor again = Here(ScatterAdd(x.To(device_), 1, at.To(device_), source.To(device_)));
      EXPECT_TRUE(again.Equals(got));  // in one order
    }
  }
}

TEST_F(LongLinesTest, TheLastOfAPlaceIsWritten) {
  const Tensor x = Randn({40, 50, 3}), rows = Randint(0, 40, {3000}), cols = Randint(0, 50, {3000});
  const Tensor values = Randn({3000, 3});
  const Tensor want = IndexPut(x, {rows, cols}, values);
  const Tensor got =
      IndexPut(x.To(device_), {rows.To(device_), cols.To(device_)}, values.To(device_));
  EXPECT_TRUE(Here(got).Equals(want));
}

// Steps that grow beyond all numbers while the line is 0 still, infinite and NaN ones among others;
// along the last dimension and across.
TEST_F(LongLinesTest, LinearScansWalkAsOneByOne) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const int64_t length : {40, 700, 3000}) {
      const bool half = SizeOf(dtype) == 2;
      std::vector<double> a(static_cast<size_t>(3 * length)), b(a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        const size_t line = i / static_cast<size_t>(length), at = i % static_cast<size_t>(length);
        const bool early = at + 3 < static_cast<size_t>(length);
        a[i] = line == 0 ? (half ? 3e4 : 1e30) : 0.5 + 0.4 * std::sin(static_cast<double>(i));
        b[i] = line == 0 && early ? 0 : std::cos(static_cast<double>(i));
        if (line == 2 && at == static_cast<size_t>(length) / 2) b[i] = kInfinity;
        if (line == 2 && at == static_cast<size_t>(length) / 2 + 5) a[i] = 0;
      }
      const Tensor steps = FromVector(a, {3, length}).To(dtype);
      const Tensor adds = FromVector(b, {3, length}).To(dtype);
      for (const int64_t dim : {1, 0}) {
        for (const bool reverse : {false, true}) {
          for (const bool previous : {false, true}) {
            SCOPED_TRACE(::testing::Message()
                         << dtype << " " << length << dim << reverse << previous);
            const LinearScanAttrs attrs = {.dim = dim, .reverse = reverse, .previous = previous};
            const auto turned = [&](const Tensor& t) {
              return dim == 1 ? t : Contiguous(t.Transpose(0, 1));
            };
            const Tensor want = LinearScan(turned(steps), turned(adds), attrs);
            const Tensor got =
                LinearScan(turned(steps).To(device_), turned(adds).To(device_), attrs);
            ExpectNear(Here(got), want, half ? 1e-2 : 1e-5);
          }
        }
      }
    }
  }
}

// Windows side by side, with and without rows that are left behind the last one.
TEST_F(LongLinesTest, WindowsSideBySideGiveTheirGradients) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    for (const int64_t kernel : {2, 3}) {
      for (const Shape& shape : {Shape({2, 3, 6, 12, 24}), Shape({1, 2, 7, 8, 28})}) {
        SCOPED_TRACE(::testing::Message() << dtype << " " << kernel << " " << shape);
        const Tensor x = Randn(shape).To(dtype);
        for (const bool largest : {false, true}) {
          Tensor gradients[2];
          for (const Device device : {Device::Cpu(), device_}) {
            Tensor image = x.To(device).Detach().SetRequiresGrad();
            const Tensor y = largest ? MaxPool3d(image, {.kernel = kernel})
                                     : AvgPool3d(image, {.kernel = kernel});
            Sum(y * y).Backward();
            gradients[device.is_cuda()] = Here(image.grad());
          }
          ExpectNear(gradients[1], gradients[0], dtype == DType::kBF16 ? 1e-2 : 1e-6);
        }
      }
    }
  }
}

// A thread has two packs of many elements, of which the last ones may be no whole pack.
TEST_F(LongLinesTest, ManyElementsAreComputedOnce) {
  for (const int64_t more : {0, 1, 4, 5}) {
    SCOPED_TRACE(more);
    const Tensor x = Randn({(1 << 20) + more}), y = Randn(x.shape()), there = x.To(device_);
    EXPECT_TRUE(Here(there + y.To(device_)).Equals(x + y));
    EXPECT_TRUE(Here(there * 3.0).Equals(x * 3.0));
    EXPECT_TRUE(Here(Neg(there.To(DType::kF64))).Equals(Neg(x.To(DType::kF64))));
    EXPECT_TRUE(Here(there < 0.5).Equals(x < 0.5));
  }
}

}  // namespace
}  // namespace firn
