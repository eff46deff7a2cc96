// Kernels of the operations with indices on rows of many elements: compares half types with f32 on
// small integers that both add exactly, and f32 with the definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "firn/device/inner.h"
#include "firn/device/parallel.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

Tensor Numbers(const Shape& shape) { return Randint(-4, 5, shape).To(DType::kF32); }

// f(x, values) in f32 and in the half types.
template <class F>
void CheckHalves(const Tensor& x, const Tensor& values, const F& f) {
  const Tensor want = f(x, values).To(DType::kF64);
  for (const DType d : {DType::kF16, DType::kBF16}) {
    EXPECT_TRUE(f(x.To(d), values.To(d)).To(DType::kF64).Equals(want)) << DTypeName(d);
  }
}

TEST(IndexKernels, AddHalvesByStrips) {
  for (const int64_t columns : {1, 3, 255, 256, 300, 700}) {
    SCOPED_TRACE(columns);
    const Tensor x = Numbers({20, columns}), values = Numbers({33, columns});
    const Tensor rows = Randint(-20, 20, {33}), at = Randint(-20, 20, {33, columns});
    CheckHalves(x, values,
                [&](const Tensor& to, const Tensor& v) { return IndexAdd(to, 0, rows, v, 2); });
    CheckHalves(x, values,
                [&](const Tensor& to, const Tensor& v) { return ScatterAdd(to, 0, at, v); });
    CheckHalves(x.Transpose(0, 1), values.Transpose(0, 1), [&](const Tensor& to, const Tensor& v) {
      return ScatterAdd(to, 1, at.Transpose(0, 1), v);
    });
    CheckHalves(x, values,
                [&](const Tensor& to, const Tensor& v) { return IndexPut(to, {rows}, v, true); });
    CheckHalves(x.Flatten(), values.Flatten(), [&](const Tensor& to, const Tensor& v) {
      return IndexPut(to, {at.Flatten()}, v, true);
    });
  }
}

// So many rows that threads first find out which values go to each row, for some rows each: some
// rows get no values, some get many; index 3 is left out.
TEST(IndexKernels, AddHalvesInTheOrderOfRows) {
  const int threads = NumThreads();
  SetNumThreads(3);
  for (const int64_t columns : {16, 200, 700}) {
    SCOPED_TRACE(columns);
    const int64_t n = 2100;
    const Tensor x = Numbers({n, columns}), v = Numbers({3, 400, columns});
    const Tensor at = Concat({Randint(0, n, {3, 300}), Randint(0, 40, {3, 100})}, 1);
    CheckHalves(x, v, [&](const Tensor& to, const Tensor& from) {
      const Tensor y = inner::IndexAddWith(to, at, from, {{.ignored = 3}, 2});
      EXPECT_TRUE(y.Select(0, 3).Equals(to.Select(0, 3)));
      return y;
    });
    // Normal numbers, whose sums depend on the order, against a loop.
    const Tensor normal = Randn({n, columns}, DType::kF64);
    const Tensor added = Randn({3, 400, columns}, DType::kF64);
    auto want = normal.ToVector<double>();
    const auto values = added.ToVector<double>();
    const auto rows = at.ToVector<int64_t>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<size_t>(rows[i / static_cast<size_t>(columns)]);
      const size_t to = row * static_cast<size_t>(columns) + i % static_cast<size_t>(columns);
      if (row != 3) want[to] += 2 * values[i];
    }
    EXPECT_EQ(inner::IndexAddWith(normal, at, added, {{.ignored = 3}, 2}).ToVector<double>(), want);
    const Tensor rows_of_each = Randint(-n, n, {2, 400});
    CheckHalves(Numbers({2, 3, n, columns}), Numbers({2, 3, 400, columns}),
                [&](const Tensor& to, const Tensor& from) {
                  return IndexAdd(to, 2, rows_of_each, from, 1, 1);
                });
  }
  SetNumThreads(threads);
}

// So few that only these become floats; some occur several times.
TEST(IndexKernels, AddHalvesToFewOfMany) {
  const Tensor x = Numbers({2000, 5}), values = Numbers({9, 5});
  const Tensor rows = Randint(-3, 3, {9}), at = Randint(-3, 3, {9, 5});
  CheckHalves(x, values,
              [&](const Tensor& to, const Tensor& v) { return IndexAdd(to, 0, rows, v, 2); });
  CheckHalves(x, values,
              [&](const Tensor& to, const Tensor& v) { return ScatterAdd(to, 0, at, v); });
  CheckHalves(x.Transpose(0, 1), values.Transpose(0, 1), [&](const Tensor& to, const Tensor& v) {
    return ScatterAdd(to, 1, at.Transpose(0, 1), v);
  });
  const Tensor batch = Numbers({2, 3000, 4}), rows_of_each = Randint(-3, 3, {2, 9});
  CheckHalves(batch, Numbers({2, 9, 4}), [&](const Tensor& to, const Tensor& v) {
    return IndexAdd(to, 1, rows_of_each, v, 1, 1);
  });
}

// Rows of several pieces, in parts that begin anywhere.
TEST(IndexKernels, FindWhatIsNotZero) {
  for (const Shape& shape : {Shape{100000}, Shape{3, 50, 300}, Shape{200, 5, 1}, Shape{}}) {
    const Tensor x = Randint(-1, 2, shape).To(DType::kF32);
    const auto v = x.ToVector<float>();
    std::vector<int64_t> want;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (v[static_cast<size_t>(i)] == 0) continue;
      int64_t inner = x.num_elements(), rest = i;
      for (int d = 0; d < shape.rank(); ++d) {
        inner /= shape[d];
        want.push_back(rest / inner);
        rest %= inner;
      }
    }
    for (const DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8}) {
      EXPECT_EQ(Nonzero(Mul(x, -1).To(d)).ToVector<int64_t>(), want) << DTypeName(d);
    }
  }
}

// The columns lie side by side in the larger tensors, or not.
TEST(IndexKernels, WalkTensorsLargerThanTheIndices) {
  for (const int64_t inner : {4, 6}) {
    const Tensor x = Numbers({3, 5, 7, inner}), source = Numbers({3, 9, 7, inner + 1});
    const Tensor at = Randint(-5, 5, {2, 6, 3, 4});
    const Tensor y = Gather(x, 1, at), sums = ScatterAdd(x, 1, at, source);
    const auto v = x.ToVector<float>(), from = source.ToVector<float>();
    const auto index = at.ToVector<int64_t>();
    std::vector<float> want, added = v;
    for (int64_t i = 0; i < 2 * 6 * 3 * 4; ++i) {
      const int64_t d = i % 4, c = i / 4 % 3, b = i / 12 % 6, a = i / 72;
      const int64_t place = (index[static_cast<size_t>(i)] + 5) % 5;
      const auto to = static_cast<size_t>(((a * 5 + place) * 7 + c) * inner + d);
      want.push_back(v[to]);
      added[to] += from[static_cast<size_t>(((a * 9 + b) * 7 + c) * (inner + 1) + d)];
    }
    EXPECT_EQ(y.ToVector<float>(), want);
    EXPECT_EQ(sums.ToVector<float>(), added);
  }
}

TEST(IndexKernels, CopyRowsOfAnyLength) {
  for (const DType d : {DType::kU8, DType::kF16, DType::kF32, DType::kF64}) {
    for (const int64_t columns : {1, 15, 16, 64, 65, 300, 2000}) {
      const Tensor x = Randint(0, 200, {30, columns}).To(d), rows = Randint(-30, 30, {41});
      const Tensor y = IndexSelect(x, 0, rows);
      const auto index = rows.ToVector<int64_t>();
      for (int64_t i = 0; i < 41; ++i) {
        EXPECT_TRUE(Select(y, 0, i).Equals(Select(x, 0, index[static_cast<size_t>(i)])))
            << DTypeName(d) << " " << columns;
      }
    }
  }
}

// Pads 2, 3 and 4 dimensions; those that are not padded may be walked as one.
TEST(IndexKernels, PadWhateverDimensions) {
  const Tensor x = Randint(1, 100, {3, 4, 5, 70}).To(DType::kF32);
  for (const std::vector<int64_t>& pad : {std::vector<int64_t>{1, 2},
                                          {0, 0, 1, 2},
                                          {2, 1, 0, 0, 1, 0},
                                          {0, 0, 0, 0, 1, 1},
                                          {-1, -2, 3, -1},
                                          {1, 0, 0, 0, 0, 0, 2, 1}}) {
    for (const Tensor& from : {x, Contiguous(x.Transpose(1, 2)).Transpose(1, 2)}) {
      const Tensor y = Pad(from, pad, {.value = 7});
      Tensor grown = from;
      for (size_t i = 0; i < pad.size(); i += 2) {
        const int64_t dim = 3 - static_cast<int64_t>(i / 2), size = from.size(dim);
        grown = Slice(grown, dim, std::max<int64_t>(-pad[i], 0),
                      size - std::max<int64_t>(-pad[i + 1], 0));
        const auto block = [&](int64_t n) {
          Dims sizes = grown.shape().dims();
          sizes[static_cast<int>(dim)] = std::max<int64_t>(n, 0);
          return Full(Shape(sizes.span()), 7.0, DType::kF32);
        };
        grown = Concat({block(pad[i]), grown, block(pad[i + 1])}, dim);
      }
      EXPECT_TRUE(y.Equals(grown));
    }
  }
}

}  // namespace
}  // namespace firn
