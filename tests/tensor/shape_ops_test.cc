// Functions on shapes that are composed of operations, and the work of front functions before they
// call one. The conformance suite tests the operations themselves.

#include <gtest/gtest.h>

#include <cmath>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/reorder.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using Ints = std::vector<int64_t>;

Ints Values(const Tensor& t) { return t.ToVector<int64_t>(); }
Tensor Numbers(const Shape& shape) { return Arange(shape.num_elements()).Reshape(shape); }

std::vector<Shape> Shapes(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

TEST(ReshapeTest, IgnoresTheStrideOfADimensionOfSizeOne) {
  const Tensor column = Slice(Numbers({3, 4}), 1, 2, 3);
  EXPECT_EQ(Values(column.Reshape({3})), (Ints{2, 6, 10}));
}

TEST(FlattenTest, CopiesOnlyWhatStridesDoNotAllow) {
  const Tensor x = Numbers({2, 3});
  EXPECT_EQ(x.Flatten().impl()->storage, x.impl()->storage);
  EXPECT_EQ(Values(x.T().Flatten()), (Ints{0, 3, 1, 4, 2, 5}));
}

TEST(SliceTest, GoesBackwards) {
  const Tensor x = Numbers({5});
  EXPECT_EQ(Values(Slice(x, 0, -1, kEnd, -1)), (Ints{4, 3, 2, 1, 0}));
  EXPECT_EQ(Values(Slice(x, 0, 3, 0, -2)), (Ints{3, 1}));
  EXPECT_EQ(Values(Slice(x, 0, 1, 4, -1)), (Ints{}));
  EXPECT_EQ(Values(Slice(x, 0, 100, INT64_MIN, INT64_MIN)), (Ints{4}));
}

TEST(MovedimTest, KeepsTheOrderOfTheOthers) {
  const Tensor x = Zeros({2, 3, 4, 5});
  EXPECT_EQ(Movedim(x, 1, -1).shape(), Shape({2, 4, 5, 3}));
  EXPECT_EQ(Movedim(Tensor(3.0), 0, -1).shape(), Shape());
  EXPECT_EQ(Movedim(x, {3, 0}, {0, 1}).shape(), Shape({5, 2, 3, 4}));
  EXPECT_EQ(ErrorOf([&] {
              Movedim(x, {0, 1}, {2});
            }),
            "movedim: 2 dims in source, 1 in destination");
}

TEST(SplitTest, CutsIntoPieces) {
  const Tensor x = Numbers({7, 2});
  EXPECT_EQ(Shapes(Split(x, 3)), (std::vector<Shape>{{3, 2}, {3, 2}, {1, 2}}));
  EXPECT_EQ(Shapes(Split(x, {5, 0, 2})), (std::vector<Shape>{{5, 2}, {0, 2}, {2, 2}}));
  EXPECT_EQ(Shapes(Split(x, 1, -1)), (std::vector<Shape>{{7, 1}, {7, 1}}));
  EXPECT_EQ(Shapes(Chunk(x, 3)), (std::vector<Shape>{{3, 2}, {3, 2}, {1, 2}}));
  EXPECT_EQ(Shapes(Chunk(x, 4)), (std::vector<Shape>{{2, 2}, {2, 2}, {2, 2}, {1, 2}}));
  EXPECT_EQ(Shapes(Chunk(Zeros({0, 2}), 3)), (std::vector<Shape>{{0, 2}}));
  EXPECT_EQ(Values(Split(x, {5, 0, 2})[2]), (Ints{10, 11, 12, 13}));
  EXPECT_EQ(Shapes(Split(x, {7})), (std::vector<Shape>{{7, 2}}));
  EXPECT_EQ(Shapes(x.Split({2}, 1)), (std::vector<Shape>{{7, 2}}));
  EXPECT_EQ(Split(x, 3)[1].impl()->storage, x.impl()->storage);
}

TEST(SplitTest, RefusesSizesThatDoNotFit) {
  const Tensor x = Zeros({7});
  EXPECT_EQ(ErrorOf([&] { Split(x, 0); }), "split: size 0 does not split dim 0 of x [7]");
  EXPECT_EQ(ErrorOf([&] {
              Split(x, {3, 3});
            }),
            "split: the sizes {3, 3} do not add up to the 7 of dim 0 of x [7]");
  EXPECT_THROW(Split(x, {8, -1}), Error);
  EXPECT_THROW(Split(x, {3}), Error);  // sizes, not the size of each
  EXPECT_THROW(Split(x, {8, 8}), Error);
  EXPECT_THROW(Split(x, {INT64_MAX, INT64_MAX}), Error);
  EXPECT_THROW(Chunk(x, 0), Error);
  EXPECT_THROW(Split(x, 2, 1), Error);
  EXPECT_THROW(Unbind(Zeros({})), Error);
}

TEST(UnbindTest, IsUndoneByStack) {
  const Tensor x = Numbers({2, 3, 2});
  EXPECT_TRUE(Stack(Unbind(x)).Equals(x));
  EXPECT_EQ(Shapes(Unbind(x)), (std::vector<Shape>{{3, 2}, {3, 2}}));
  for (int dim : {0, 1, 2, -1}) EXPECT_TRUE(Stack(Unbind(x, dim), dim).Equals(x)) << dim;
  EXPECT_EQ(Shapes(Unbind(x, 1)), (std::vector<Shape>{{2, 2}, {2, 2}, {2, 2}}));
}

TEST(DimensionTest, IsNotCutToThirtyTwoBits) {
  const Tensor x = Numbers({2, 3});
  const Tensor zeros = Zeros({2, 3}, DType::kI64);
  const int64_t dim = int64_t{1} << 32;  // 0, as an int
  EXPECT_FALSE(x.shape().has_dim(dim));
  EXPECT_THROW(x.size(dim), Error);
  EXPECT_THROW(Flatten(x, dim), Error);
  EXPECT_THROW(Flatten(x, 0, dim), Error);
  EXPECT_THROW(x.Flatten(dim), Error);
  EXPECT_THROW(Transpose(x, dim, 1), Error);
  EXPECT_THROW(x.Transpose(1, dim), Error);
  EXPECT_THROW(Unsqueeze(x, dim), Error);
  EXPECT_THROW(x.Unsqueeze(dim), Error);
  EXPECT_THROW(Select(x, dim, 0), Error);
  EXPECT_THROW(Slice(x, dim, 0), Error);
  EXPECT_THROW(Slice(x, dim, -1, 0, -1), Error);
  EXPECT_THROW(SliceScatter(x, x, dim), Error);
  EXPECT_THROW(Split(x, 1, dim), Error);
  EXPECT_THROW(Split(x, {1, 1}, dim), Error);
  EXPECT_THROW(Chunk(x, 2, dim), Error);
  EXPECT_THROW(Unbind(x, dim), Error);
  EXPECT_THROW(Concat({x, x}, dim), Error);
  EXPECT_THROW(Stack({x, x}, dim), Error);
  EXPECT_THROW(Gather(x, dim, zeros), Error);
  EXPECT_THROW(ScatterAdd(x, dim, zeros, x), Error);
  EXPECT_THROW(IndexSelect(x, dim, Select(zeros, 0, 0)), Error);
  EXPECT_THROW(IndexSelect(x, 1, zeros, dim), Error);
  EXPECT_THROW(IndexAdd(x, dim, Select(zeros, 0, 0), x), Error);
}

TEST(SplitTest, SendsGradientsToTheirParts) {
  Tensor x = Zeros({4}).SetRequiresGrad();
  const std::vector<Tensor> parts = Split(x, 3);
  Add(Mul(Sum(parts[0]), 2), Mul(Sum(parts[1]), 3)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{2, 2, 2, 3}));
}

TEST(ConcatTest, PromotesDTypes) {
  const Tensor y = Concat({FromValues<int64_t>({1}), FromValues<float>({0.5f})});
  EXPECT_EQ(y.dtype(), DType::kF32);
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{1, 0.5f}));
  EXPECT_EQ(ErrorOf([] { Concat({}); }), "concat: takes at least 1 tensor, got 0");
  EXPECT_EQ(ErrorOf([] {
              Stack({Zeros({2}), Zeros({3})});
            }),
            "stack: tensor 1 [3] and tensor 0 [2] differ");
}

TEST(TileTest, RepeatsAsNumpy) {
  const Tensor x = Numbers({2, 2});
  EXPECT_EQ(Values(Tile(x, {2})), (Ints{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(Values(Tile(x, {2, 1})), (Ints{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(Values(Tile(x, {2, 2})), (Ints{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(Tile(x, {3, 1, 2}).shape(), Shape({3, 2, 4}));
  EXPECT_EQ(Tile(x, {1, 0}).shape(), Shape({2, 0}));
  EXPECT_THROW(Tile(x, {-1}), Error);
  EXPECT_THROW(Tile(x, {INT64_MAX}), Error);
}

TEST(ArangeTest, CountsLikePytorch) {
  EXPECT_EQ(Values(Arange(4)), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(Values(Arange(7, 1, -2)), (Ints{7, 5, 3}));
  EXPECT_EQ(Arange(3).dtype(), DType::kI64);
  EXPECT_EQ(Arange(0, 1, 0.25).ToVector<float>(), (std::vector<float>{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(Arange(0, 3, 1, {.dtype = DType::kF64}).dtype(), DType::kF64);
  EXPECT_EQ(Values(Arange(int64_t{1} << 60, (int64_t{1} << 60) + 1)), (Ints{int64_t{1} << 60}));
  EXPECT_EQ(Arange(5, 5).num_elements(), 0);
  EXPECT_THROW(Arange(0, 5, 0), Error);
  EXPECT_THROW(Arange(0, 5, -1), Error);
  EXPECT_THROW(Arange(0.0, INFINITY), Error);
}

TEST(OneHotTest, CountsTheClassesItself) {
  EXPECT_EQ(OneHot(FromValues<int64_t>({1, 3})).shape(), Shape({2, 4}));
  EXPECT_THROW(OneHot(FromVector<int64_t>({})), Error);
  EXPECT_THROW(OneHot(FromValues<int64_t>({-1})), Error);
}

TEST(AssignTest, BroadcastsAndConvertsInPlace) {
  Tensor x = Zeros({2, 3});
  const Tensor alias = x;
  x.CopyFrom(FromValues<int64_t>({1, 2, 3}));
  EXPECT_EQ(alias.ToVector<float>(), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  x.T().Fill(4);
  EXPECT_EQ(alias.ToVector<float>(), (std::vector<float>(6, 4)));
  EXPECT_EQ(ErrorOf([&] { x.CopyFrom(Zeros({2})); }),
            "copy_from: source [2] does not broadcast to target [2, 3]");
  EXPECT_THROW(Expand(Zeros({1}), {3}).Fill(1), Error);
}

TEST(ExpandTest, MinusOneKeepsASize) {
  EXPECT_EQ(Expand(Zeros({2, 1}), {3, -1, 4}).shape(), Shape({3, 2, 4}));
  EXPECT_EQ(ErrorOf([] {
              Expand(Zeros({2}), {-1, 2});
            }),
            "expand: size 0 is -1, where x [2] has no dimension");
}

TEST(AssignTest, WritesIntoBlockedTensors) {
  Tensor x = *Reordered(Zeros({1, 8, 2}, DType::kI64), 8);
  const Tensor alias = x.Detach();
  x.CopyFrom(Numbers({8, 2}));
  EXPECT_TRUE(alias.spec().layout.blocked());
  EXPECT_TRUE(alias.Equals(Numbers({1, 8, 2})));
}

TEST(AssignTest, RefusesWhileGradientsAreRecorded) {
  Tensor x = Zeros({2}), w = Zeros({2}).SetRequiresGrad();
  EXPECT_THROW(w.Fill(1), Error);
  EXPECT_THROW(x.CopyFrom(w), Error);
  NoGradScope no_grad;
  w.Fill(1);
  x.CopyFrom(w);
  EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{1, 1}));
}

TEST(DetachTest, CutsHistory) {
  Tensor x = Ones({2}).SetRequiresGrad();
  EXPECT_FALSE(Detach(Mul(x, 2)).requires_grad());
  EXPECT_EQ(Detach(x).impl()->storage, x.impl()->storage);
}

TEST(EmbeddingTest, LeavesThePaddingRowWithoutGradient) {
  Tensor w = Zeros({3, 2}).SetRequiresGrad();
  const Tensor indices = FromValues<int64_t>({2, 0, 2, 2});
  Sum(Embedding(indices, w, {.padding_idx = -1})).Backward();
  EXPECT_EQ(w.grad().ToVector<float>(), (std::vector<float>{1, 1, 0, 0, 0, 0}));
  EXPECT_THROW(Embedding(indices, w, {.padding_idx = -4}), Error);
}

TEST(MaskedSelectTest, BroadcastsBoth) {
  const Tensor x = Numbers({2, 1});
  EXPECT_EQ(Values(MaskedSelect(x, FromVector<bool>({true, false, true}))), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(Values(MaskedSelect(x, FromVector<bool>({false, true}, {2, 1}))), (Ints{1}));
  EXPECT_THROW(MaskedSelect(x, x), Error);
}

TEST(NonzeroTest, FindsIndices) {
  EXPECT_EQ(Values(Nonzero(FromVector<float>({0, 1, 2, 0}, {2, 2}))), (Ints{0, 1, 1, 0}));
  EXPECT_EQ(Nonzero(Ones({})).shape(), Shape({1, 0}));
  const Tensor large = Ones({100000});
  EXPECT_EQ(Nonzero(large).size(0), 100000);
  EXPECT_EQ(Nonzero(large).ToVector<int64_t>()[77777], 77777);
}

TEST(IndexPutTest, BroadcastsValues) {
  const Tensor x = Zeros({2, 3}, DType::kI64);
  const Tensor columns = FromValues<int64_t>({0, 2});
  EXPECT_EQ(Values(IndexPut(x, {Tensor(), columns}, 5)), (Ints{5, 0, 5, 5, 0, 5}));
  EXPECT_EQ(
      Values(IndexPut(x, {FromVector<int64_t>({0}, {}), columns}, FromValues<float>({1, 2.9f}))),
      (Ints{1, 0, 2, 0, 0, 0}));
  EXPECT_EQ(Values(IndexPut(Ones({2}, DType::kI64), {FromValues<int64_t>({1, 1})}, 1, true)),
            (Ints{1, 3}));
  EXPECT_THROW(IndexPut(x, {columns}, Zeros({5})), Error);
  EXPECT_THROW(IndexPut(x, {Tensor()}, 1), Error);
}

}  // namespace
}  // namespace firn
