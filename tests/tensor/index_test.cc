#include "firn/tensor/index.h"

#include <gtest/gtest.h>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using Ints = std::vector<int64_t>;

Ints Values(const Tensor& t) { return t.ToVector<int64_t>(); }
Tensor Numbers(const Shape& shape) { return Arange(shape.num_elements()).Reshape(shape); }

TEST(IndexTest, TakesNumbersAndRanges) {
  const Tensor x = Numbers({3, 4});
  EXPECT_EQ(Values(x[1]), (Ints{4, 5, 6, 7}));
  EXPECT_EQ(Values(x[-1]), (Ints{8, 9, 10, 11}));
  EXPECT_EQ((x[{2, 3}].shape()), Shape());
  EXPECT_EQ(Values(x[{2, 3}]), (Ints{11}));
  EXPECT_EQ(Values(x[{kAll, 1}]), (Ints{1, 5, 9}));
  EXPECT_EQ(Values(x[{Range(1, 3), Range(0, kEnd, 2)}]), (Ints{4, 6, 8, 10}));
  EXPECT_EQ(Values(x[Range(-1)]), (Ints{8, 9, 10, 11}));
  EXPECT_EQ(x[Range(2, 1)].shape(), Shape({0, 4}));
}

TEST(IndexTest, GoesBackwards) {
  const Tensor x = Numbers({6});
  EXPECT_EQ(Values(x[Range(-1, kEnd, -1)]), (Ints{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(Values(x[Range(4, 0, -2)]), (Ints{4, 2}));
  EXPECT_EQ(Values(x[Range(100, -100, -4)]), (Ints{5, 1}));
  EXPECT_EQ(Values(x[Range(0, 3, -1)]), (Ints{}));
}

TEST(IndexTest, InsertsAndSkipsDimensions) {
  const Tensor x = Numbers({2, 3, 4});
  EXPECT_EQ((x[{kNewAxis, 0}].shape()), Shape({1, 3, 4}));
  EXPECT_EQ((x[{kEllipsis, 0}].shape()), Shape({2, 3}));
  EXPECT_EQ(Values(x[{0, kEllipsis, 3}]), (Ints{3, 7, 11}));
  EXPECT_EQ((x[{kEllipsis, kNewAxis}].shape()), Shape({2, 3, 4, 1}));
  EXPECT_EQ((x[{0, kEllipsis, 0, 0}].shape()), Shape());
}

TEST(IndexTest, MakesViewsOfNumbersAndRanges) {
  Tensor x = Numbers({3, 4});
  Tensor part = x[{Range(1, 3), 2}];
  EXPECT_EQ(part.impl()->storage, x.impl()->storage);
  part.Fill(0);
  EXPECT_EQ(Values(x), (Ints{0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 0, 11}));
}

TEST(IndexTest, TakesMasks) {
  const Tensor x = Numbers({2, 3});
  const Tensor mask = FromVector<bool>({true, false, true, false, false, true}, {2, 3});
  EXPECT_EQ(Values(x[mask]), (Ints{0, 2, 5}));
  EXPECT_EQ(Values(x[FromVector<bool>({false, true})]), (Ints{3, 4, 5}));
  EXPECT_EQ(Values(x[{kAll, FromVector<bool>({true, false, true})}]), (Ints{0, 2, 3, 5}));
  EXPECT_EQ(Values(x.T()[FromVector<bool>({true, false, false, false, true, true}, {3, 2})]),
            (Ints{0, 2, 5}));
}

// NumPy's examples: index arrays broadcast together.
TEST(IndexTest, TakesIndexTensors) {
  const Tensor x = Numbers({3, 4});
  const Tensor rows = FromVector<int64_t>({0, 2}, {2, 1}), columns = FromValues<int64_t>({0, 3});
  EXPECT_EQ(Values(x[{rows, columns}]), (Ints{0, 3, 8, 11}));
  EXPECT_EQ((x[{rows, columns}].shape()), Shape({2, 2}));
  EXPECT_EQ(Values(x[FromValues<int32_t>({-1, 0})]), (Ints{8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(Values(x[{1, columns}]), (Ints{4, 7}));
  const Tensor y = Numbers({2, 3, 4});
  EXPECT_EQ((y[{0, kAll, columns}].shape()),
            Shape({2, 3}));  // apart: indexed dimensions come first
  EXPECT_EQ(Values(y[{0, kAll, columns}]), (Ints{0, 4, 8, 3, 7, 11}));
  EXPECT_EQ((y[{kAll, columns[Range(0, 1)], columns}].shape()), Shape({2, 2}));
}

TEST(IndexTest, WritesThroughIntoTheTensor) {
  Tensor x = Numbers({3, 4});
  const uint32_t version = x.impl()->storage->version();
  x[{kAll, Range(0, 4, 2)}] = 0;
  EXPECT_EQ(Values(x), (Ints{0, 1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 11}));
  x[1] = FromValues<int64_t>({1, 2, 3, 4});
  EXPECT_EQ(Values(x), (Ints{0, 1, 0, 3, 1, 2, 3, 4, 0, 9, 0, 11}));
  x[{2, -1}] = 5.9;  // converted as by a cast
  EXPECT_EQ(Values(x[2]), (Ints{0, 9, 0, 5}));
  x[0] = x[2];
  EXPECT_EQ(Values(x[0]), (Ints{0, 9, 0, 5}));
  EXPECT_GT(x.impl()->storage->version(), version);
}

TEST(IndexTest, WritesToOverlappingPartsAsIfCopiedFirst) {
  Tensor x = Numbers({6});
  x[Range(1, 6)] = x[Range(0, 5)];
  EXPECT_EQ(Values(x), (Ints{0, 0, 1, 2, 3, 4}));
}

TEST(IndexTest, WritesBackwards) {
  Tensor x = Zeros({5}, DType::kI64);
  x[Range(-1, kEnd, -2)] = FromValues<int64_t>({1, 2, 3});
  EXPECT_EQ(Values(x), (Ints{3, 0, 2, 0, 1}));
  Tensor y = Zeros({2, 3}, DType::kI64);
  y[{FromValues<int64_t>({1}), Range(-1, kEnd, -1)}] = FromValues<int64_t>({1, 2, 3});
  EXPECT_EQ(Values(y), (Ints{0, 0, 0, 3, 2, 1}));
}

TEST(IndexTest, WritesWhereMasksAndIndexTensorsSay) {
  Tensor x = Numbers({2, 3});
  x[FromVector<bool>({true, false, true, false, false, true}, {2, 3})] = -1;
  EXPECT_EQ(Values(x), (Ints{-1, 1, -1, 3, 4, -1}));
  x[{FromValues<int64_t>({0, 1}), FromValues<int64_t>({1, 0})}] = FromValues<int64_t>({7, 8});
  EXPECT_EQ(Values(x), (Ints{-1, 7, -1, 8, 4, -1}));
  x.T()[FromVector<bool>({false, false, false, true, false, false}, {3, 2})] = 9;
  EXPECT_EQ(Values(x), (Ints{-1, 7, -1, 8, 9, -1}));
}

TEST(IndexTest, ChangesPlacesInPlace) {
  Tensor x = Numbers({4});
  x[Range(0, 2)] += 10;
  x[Range(1, 3)] *= 2;
  x[3] -= 1;
  EXPECT_EQ(Values(x), (Ints{10, 22, 4, 2}));
  x[FromValues<int64_t>({0, 0})] += 1;  // once, as in NumPy
  EXPECT_EQ(Values(x), (Ints{11, 22, 4, 2}));
}

TEST(IndexTest, BroadcastsValuesAlsoWithLeadingOnes) {
  Tensor x = Zeros({2, 2}, DType::kI64);
  x[0] = FromVector<int64_t>({1, 2}, {1, 1, 2});
  x[{kAll, 1}] = FromVector<int64_t>({5}, {1});
  EXPECT_EQ(Values(x), (Ints{1, 5, 0, 5}));
}

TEST(IndexTest, WritesIntoBlockedTensors) {
  const Tensor plain = Numbers({1, 8, 2});
  Tensor x = *Reordered(plain, 8);
  ASSERT_TRUE(x.spec().layout.blocked());
  const Tensor other = x.Detach();
  x[{0, 3}] = -1;
  std::vector<bool> last(16, false);
  last[15] = true;
  x[FromVector<bool>(std::move(last), {1, 8, 2})] = -2;
  Ints want = Values(plain);
  want[6] = want[7] = -1;
  want[15] = -2;
  EXPECT_EQ(Values(x), want);
  EXPECT_EQ(Values(other), want);
}

TEST(IndexTest, HasGradients) {
  Tensor x = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3}).SetRequiresGrad();
  const Tensor mask = FromVector<bool>({true, false, false, false, false, true}, {2, 3});
  const Tensor parts = Add(Sum(x[{0, Range(1, 3)}]), Sum(x[{kAll, -1}]));
  Sum(Add(Mul(x[mask], 2), parts)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{2, 2, 4, 0, 0, 4}));
}

TEST(IndexTest, RefusesToWriteWhileGradientsAreRecorded) {
  Tensor x = Zeros({3}).SetRequiresGrad();
  Tensor y = Zeros({3});
  EXPECT_NE(ErrorOf([&] { x[0] = 1; }).find("would change x in place while the gradient of x"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] { y[0] = x[1]; }).find("while the gradient of y is being recorded"),
            std::string::npos);
  EXPECT_THROW(x[0] += 1, Error);
  NoGradScope no_grad;
  x[0] = 1;
  EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{1, 0, 0}));
}

TEST(IndexTest, NamesIndexDimAndShapeInErrors) {
  const Tensor x = Numbers({3, 4});
  EXPECT_EQ(ErrorOf([&] { x[{0, 4}]; }), "index: index 4 is outside dim 1 of x [3, 4]");
  EXPECT_EQ(ErrorOf([&] { x[-4]; }), "index: index -4 is outside dim 0 of x [3, 4]");
  EXPECT_EQ(ErrorOf([&] {
              x[{0, 0, 0}];
            }),
            "index: indices for 3 dimensions of x [3, 4], which has 2");
  EXPECT_EQ(ErrorOf([&] {
              x[{kEllipsis, kEllipsis}];
            }),
            "index: kEllipsis is given 2 times (want once at most)");
  EXPECT_EQ(ErrorOf([&] {
              x[FromVector<bool>({true, false})];
            }),
            "index: the mask [2] does not fit x [3, 4] from dim 0 on");
  EXPECT_EQ(ErrorOf([&] { x[Range(0, 1, 0)]; }),
            "index: a Range has step 0 (want another, or a negative one to go backwards)");
  EXPECT_EQ(ErrorOf([&] { x[FromValues<int64_t>({5})]; }),
            "index: indices 5 at index 0 is outside [-3, 3)");
  Tensor y = x.Clone();
  const Tensor five = FromValues<int64_t>({5}), first = FromValues<int64_t>({0});
  EXPECT_EQ(ErrorOf([&] { y[five] = 1; }), "index: indices 5 at index 0 is outside [-3, 3)");
  EXPECT_EQ(ErrorOf([&] {
              y[{kAll, five}] += 1;
            }),
            "index: indices 5 at index 0 is outside [-4, 4)");
  EXPECT_EQ(ErrorOf([&] { y[first] = Ones({3}); }),
            "index: values [3] do not broadcast to [1, 4], what the indices say of x [3, 4]");
  EXPECT_EQ(ErrorOf([&] { y[Range(0, 2)] = Ones({3}); }),
            "index: the value [3] does not broadcast to [2, 4], what the indices say of x");
  EXPECT_EQ(ErrorOf([&] { Expand(Ones({1}), {3})[kAll] = 1; }).substr(0, 17), "index: target f32");
  EXPECT_TRUE(y.Equals(x));
  EXPECT_EQ(ErrorOf([&] { Tensor()[0]; }), "index: x is an undefined tensor");
}

static_assert(!std::is_assignable_v<IndexedTensor&, Tensor>, "it could mean either x or the part");
static_assert(!std::is_assignable_v<IndexedTensor&, IndexedTensor>);
static_assert(std::is_assignable_v<IndexedTensor, Tensor>);
static_assert(std::is_assignable_v<IndexedTensor, double>);
static_assert(!std::is_constructible_v<TensorIndex, bool>);
static_assert(!std::is_constructible_v<TensorIndex, double>);

}  // namespace
}  // namespace firn
