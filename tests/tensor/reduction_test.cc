// Reductions that are composed of others.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Doubles = std::vector<double>;

Tensor Matrix() { return FromVector(Doubles{1, 3, 3, 2, -5, NAN}, Shape({2, 3})); }

TEST(MaxTest, GivesTheFirstLargestElementAndItsIndex) {
  const ValuesAndIndices r = Max(FromVector(Doubles{1, 3, 3, 2, -5, 0}, Shape({2, 3})), 1);
  EXPECT_EQ(r.values.ToVector<double>(), (Doubles{3, 2}));
  EXPECT_EQ(r.indices.ToVector<int64_t>(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(r.values.shape(), Shape({2}));
}

TEST(MaxTest, NanCountsAsLargest) {
  const ValuesAndIndices r = Max(Matrix(), -1, true);
  EXPECT_TRUE(std::isnan(r.values.ToVector<double>()[1]));
  EXPECT_EQ(r.indices.ToVector<int64_t>(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(r.values.shape(), Shape({2, 1}));
}

TEST(MaxTest, TakesIntegersScalarsAndAll) {
  EXPECT_EQ(Max(FromVector(std::vector<int64_t>{4, 9, 2}), 0).values.Item<int64_t>(), 9);
  EXPECT_EQ(Max(Full({}, 2.5), 0).indices.Item<int64_t>(), 0);
  EXPECT_EQ(Max(FromVector(Doubles{4, 9, 2})).Item(), 9);
}

TEST(MaxTest, GradientGoesToTheChosenElement) {
  Tensor x = FromVector(Doubles{1, 3, 3, 2, -5, 0}, Shape({2, 3})).SetRequiresGrad();
  const Tensor dx = Grad(Sum(Max(x, 1).values), x);
  EXPECT_EQ(dx.ToVector<double>(), (Doubles{0, 1, 0, 1, 0, 0}));
}

TEST(MaxTest, RefusesNoElements) { EXPECT_THROW(Max(Zeros({3, 0}), 1), Error); }

TEST(MinTest, GivesTheFirstSmallestElementAndItsIndex) {
  const ValuesAndIndices r = Min(FromVector(Doubles{1, 1, 3, 2, -5, 0}, Shape({2, 3})), 1);
  EXPECT_EQ(r.values.ToVector<double>(), (Doubles{1, -5}));
  EXPECT_EQ(r.indices.ToVector<int64_t>(), (std::vector<int64_t>{0, 1}));
}

// Row-major numbers; reduced dimensions are dropped, unless the caller keeps them.
TEST(ReductionTest, DropsWhatItReducesByDefault) {
  const Tensor x = FromVector(Doubles{1, 3, 3, 2, 5, 0}, Shape({2, 3}));
  struct Case {
    const char* name;
    Tensor all, rows, kept;
  };
  const Case cases[] = {
      {"all", All(x), All(x, 1), All(x, 1, true)},
      {"amax", Amax(x), Amax(x, 1), Amax(x, 1, true)},
      {"amin", Amin(x), Amin(x, 1), Amin(x, 1, true)},
      {"any", Any(x), Any(x, 1), Any(x, 1, true)},
      {"argmax", Argmax(x), Argmax(x, 1), Argmax(x, 1, true)},
      {"argmin", Argmin(x), Argmin(x, 1), Argmin(x, 1, true)},
      {"logsumexp", Logsumexp(x), Logsumexp(x, 1), Logsumexp(x, 1, true)},
      {"max", Max(x), Max(x, 1).values, Max(x, 1, true).values},
      {"mean", Mean(x), Mean(x, 1), Mean(x, 1, true)},
      {"min", Min(x), Min(x, 1).values, Min(x, 1, true).values},
      {"norm", Norm(x), Norm(x, 2, 1), Norm(x, 2, 1, true)},
      {"prod", Prod(x), Prod(x, 1), Prod(x, 1, true)},
      {"std", Std(x), Std(x, 1), Std(x, 1, 1, true)},
      {"sum", Sum(x), Sum(x, 1), Sum(x, 1, true)},
      {"var", Var(x), Var(x, 1), Var(x, 1, 1, true)},
      {"var_mean", VarMean(x).var, VarMean(x, 1).mean, VarMean(x, 1, 1, true).var},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.all.shape(), Shape()) << c.name;
    EXPECT_EQ(c.rows.shape(), Shape({2})) << c.name;
    EXPECT_EQ(c.kept.shape(), Shape({2, 1})) << c.name;
  }
}

TEST(VarTest, GivesWhatVarMeanGives) {
  const Tensor x = FromVector(Doubles{1, 2, 4, 8}, Shape({2, 2}));
  const VarMeanResult both = VarMean(x, {1}, 0);
  EXPECT_EQ(both.var.ToVector<double>(), (Doubles{0.25, 4}));
  EXPECT_EQ(both.mean.ToVector<double>(), (Doubles{1.5, 6}));
  EXPECT_EQ(Var(x, {1}, 0).ToVector<double>(), (Doubles{0.25, 4}));
  EXPECT_EQ(Std(x, {1}, 0).ToVector<double>(), (Doubles{0.5, 2}));
}

TEST(StdTest, GradientOfEqualElementsIsZero) {
  Tensor x = Full({5}, 0.7).SetRequiresGrad();
  EXPECT_EQ(Grad(Std(x), x).ToVector<double>(), Doubles(5, 0.0));
}

TEST(SortTest, ArgsortGivesTheIndices) {
  const Tensor x = FromVector(Doubles{3, 1, 2});
  EXPECT_EQ(Argsort(x).ToVector<int64_t>(), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(Argsort(x, 0, {.descending = true}).ToVector<int64_t>(),
            (std::vector<int64_t>{0, 2, 1}));
}

TEST(LogsumexpTest, GradientOfNothingIsZero) {
  Tensor x = Full({3}, -INFINITY).SetRequiresGrad();
  EXPECT_EQ(Grad(Logsumexp(x), x).ToVector<double>(), Doubles(3, 0.0));
}

TEST(EyeTest, PutsOnesOnADiagonal) {
  EXPECT_EQ(Eye(2).ToVector<double>(), (Doubles{1, 0, 0, 1}));
  EXPECT_EQ(Eye(2, 3, 1).ToVector<double>(), (Doubles{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(Eye(3, 2, -1, DType::kI32).ToVector<int64_t>(),
            (std::vector<int64_t>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(Eye(0).shape(), Shape({0, 0}));
  EXPECT_THROW(Eye(-1), Error);
}

TEST(LinspaceTest, EndsAreExact) {
  const std::vector<float> v = Linspace(0.1, 0.7, 7).ToVector<float>();
  EXPECT_EQ(v.front(), 0.1f);
  EXPECT_EQ(v.back(), 0.7f);
}

// Equal lines have equal gradients to the bit, wherever they stand among the others.
TEST(VarTest, GradientDoesNotDependOnWhereALineStands) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    for (const auto& [shape, dim] : {std::pair(Shape({65, 16}), 1), std::pair(Shape({64, 100}), 0),
                                     std::pair(Shape({300, 7}), 0)}) {
      const int64_t length = shape[dim], lines = shape[1 - dim];
      const Tensor line = Randn({length}).To(dtype);
      Tensor x = (dim == 1 ? line.Unsqueeze(0) : line.Unsqueeze(1)).Expand(shape).Contiguous();
      x.SetRequiresGrad();
      Sum(Var(x, {dim})).Backward();
      const Tensor first = Slice(x.grad(), 1 - dim, 0, 1);
      for (int64_t i = 1; i < lines; ++i) {
        ASSERT_TRUE(Slice(x.grad(), 1 - dim, i, i + 1).Equals(first)) << dtype << shape << i;
      }
    }
  }
}

}  // namespace
}  // namespace firn
