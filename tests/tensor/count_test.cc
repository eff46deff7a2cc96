// Counts whose number of results is read on the host, or said beforehand; borders of histograms;
// medians of everything; quantiles of several shares at once.

#include "firn/tensor/ops/reduce/count.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/reduce/median.h"
#include "firn/tensor/ops/reduce/quantile.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {
namespace {

Tensor Numbers(std::vector<int64_t> n) { return FromVector(std::move(n)); }

TEST(CountTest, BincountIsCapturedWhereMinlengthSaysHowMany) {
  const Tensor x = Numbers({1, 1, 3});
  EXPECT_THROW(
      Capture([&](absl::Span<const Tensor> in) { return TensorList{Bincount(in[0])}; }, {x}),
      Error);
  Captured captured =
      Capture([&](absl::Span<const Tensor> in) { return TensorList{Bincount(in[0], {}, 4)}; }, {x});
  EXPECT_EQ(captured.outputs[0].ToVector<int>(), (std::vector<int>{0, 2, 0, 1}));
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(captured.graph));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> others = {Numbers({0, 2, 2})}, large = {Numbers({0, 4, 2})},
                            negative = {Numbers({0, -1, 2})};
  EXPECT_EQ(graph->Call(others)[0].ToVector<int>(), (std::vector<int>{1, 0, 2, 0}));
  EXPECT_THROW(graph->Call(large), Error);
  EXPECT_THROW(graph->Call(negative), Error);
}

TEST(CountTest, NanmeanPassesNoGradientToNan) {
  Tensor x = FromValues<float>({1, NAN, 3}).SetRequiresGrad();
  Nanmean(x).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{0.5f, 0, 0.5f}));
}

TEST(CountTest, WholeNumbersAreBordersOfPartsOfWholeLengths) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (int64_t n = 1; n < 100; ++n) {
      const auto counts =
          Histc(Arange(n).To(dtype), {.bins = n, .max = static_cast<double>(n)}).ToVector<int>();
      EXPECT_EQ(counts, std::vector<int>(static_cast<size_t>(n), 1)) << n;
    }
  }
}

TEST(CountTest, HistogramsOfLargeNumbers) {
  const Tensor x = FromValues<float>({0, 1e38f, 2e38f, 3e38f});
  EXPECT_EQ(Histc(x, {.bins = 4}).ToVector<int>(), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(Histc(x.To(DType::kF64) * 1e269, {.bins = 4}).ToVector<int>(),
            (std::vector<int>{1, 1, 1, 1}));
  // The ends are further apart than the largest number.
  const Tensor wide = FromValues<float>({-3e38f, -1e38f, 1e38f, 3e38f});
  EXPECT_EQ(Histc(wide, {.bins = 4}).ToVector<int>(), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(Histc(wide.To(DType::kF64) * 5e269, {.bins = 4}).ToVector<int>(),
            (std::vector<int>{1, 1, 1, 1}));
}

TEST(CountTest, TheRangeOfAHistogramIsThatOfFiniteElements) {
  const Tensor x = FromValues<float>({NAN, 0, 1, INFINITY, 2, -INFINITY, 4});
  EXPECT_EQ(Histc(x, {.bins = 4}).ToVector<int>(), (std::vector<int>{1, 1, 1, 1}));
  const Tensor none = FromValues<float>({NAN, INFINITY});
  EXPECT_EQ(Histc(none, {.bins = 2}).ToVector<int>(), (std::vector<int>{0, 0}));
}

TEST(CountTest, TheMedianOfAllElementsIsTheLowerOfTwo) {
  Tensor x = FromVector<float>({4, 1, 3, 2}, {2, 2}).SetRequiresGrad();
  const Tensor y = Median(x);
  EXPECT_EQ(y.shape(), Shape());
  EXPECT_EQ(y.Item(), 2);
  y.Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{0, 0, 0, 1}));
  EXPECT_TRUE(std::isnan(Median(FromValues<float>({1, NAN, 3})).Item()));
}

TEST(QuantileTest, AListGivesADimensionAlsoOfOneNumber) {
  const Tensor x = FromValues({{1., 2., 4.}, {8., 16., 32.}});
  EXPECT_EQ(Quantile(x, 0.5).shape(), Shape());
  EXPECT_EQ(Quantile(x, {0.5}).shape(), Shape({1}));
  EXPECT_EQ(Quantile(x, {0.5, 1}, {.dim = 1}).ToVector<double>(),
            (std::vector<double>{2, 16, 4, 32}));
  EXPECT_EQ(Nanquantile(x, {0, 1}, {.dim = 0, .keepdim = true}).shape(), Shape({2, 1, 3}));
  try {
    Quantile(x, std::vector<double>());
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "quantile: q must have numbers from 0 to 1, got none");
  }
}

TEST(QuantileTest, AFrozenOneSeesOtherNaN) {
  const auto several = [](absl::Span<const Tensor> in) {
    return TensorList{Nanquantile(in[0], {0.25, 0.5}, {.dim = 1})};
  };
  const Tensor whole = FromValues({{1., 2., 4., 3., 5.}}),
               holes = FromValues({{1., double{NAN}, 4., double{NAN}, 2.}});
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(Capture(several, {whole}).graph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> others = {holes};
  EXPECT_EQ(graph->Call(others)[0].ToVector<double>(), (std::vector<double>{1.5, 2}));
}

}  // namespace
}  // namespace firn
