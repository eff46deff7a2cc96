#include "firn/tensor/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

TEST(FormatTest, AlignsColumns) {
  EXPECT_EQ(FromVector<float>({1, -0.25f, 3, 4.5f}, {2, 2}).ToString(),
            "[[ 1.   -0.25]\n"
            " [ 3.    4.5 ]]");
  EXPECT_EQ(FromValues<float>({1, 2, 3}).ToString(), "[1. 2. 3.]");
}

TEST(FormatTest, CutsDigitsToThePrecision) {
  EXPECT_EQ(FromValues<float>({0.1f, 1.0f / 3, 2}).ToString(), "[0.1    0.3333 2.    ]");
  EXPECT_EQ(Format(FromValues<float>({0.1f, 1.0f / 3}), {.precision = 8}),
            "[0.1        0.33333334]");
  EXPECT_EQ(FromValues<float>({99.99999f, 1}).ToString(), "[100.   1.]");
}

TEST(FormatTest, TurnsToScientificNotationWhenNumbersDifferMuch) {
  EXPECT_EQ(FromValues<float>({1, 2000, 0.5f}).ToString(), "[1.e+00 2.e+03 5.e-01]");
  EXPECT_EQ(FromValues<float>({-1.5e-5f, 0}).ToString(), "[-1.5e-05  0.0e+00]");
  EXPECT_EQ(FromValues<float>({1e10f}).ToString(), "[1.e+10]");
}

TEST(FormatTest, ShowsNanAndInfinity) {
  EXPECT_EQ(FromValues<float>({NAN, 1, INFINITY, -INFINITY}).ToString(), "[ nan   1.  inf -inf]");
  EXPECT_EQ(FromValues<float>({NAN}).ToString(), "[nan]");
}

TEST(FormatTest, NamesOtherDTypesAndShapes) {
  EXPECT_EQ(Arange(-1, 3).ToString(), "[-1  0  1  2]\ni64 [4]");
  EXPECT_EQ(FromVector<bool>({true, false}).ToString(), "[ true false]\nbool [2]");
  EXPECT_EQ(Full({2}, 0.5, DType::kF16).ToString(), "[0.5 0.5]\nf16 [2]");
  EXPECT_EQ(Full({1, 2}, 250, DType::kU8).ToString(), "[[250 250]]\nu8 [1, 2]");
  EXPECT_EQ(FromValues<double>({0.1, 0.2}).ToString(), "[0.1 0.2]\nf64 [2]");
}

TEST(FormatTest, ShowsSingleNumbersBare) {
  EXPECT_EQ(Full({}, 2.5).ToString(), "2.5");
  EXPECT_EQ(Full({}, 3).ToString(), "3.");
  EXPECT_EQ(Full({}, 3, DType::kI32).ToString(), "3");
  EXPECT_EQ(Full({}, 1, DType::kBool).ToString(), "true");
}

TEST(FormatTest, ShowsNothing) {
  EXPECT_EQ(Zeros({0}).ToString(), "[]\nf32 [0]");
  EXPECT_EQ(Zeros({2, 0}, DType::kI64).ToString(), "[]\ni64 [2, 0]");
  EXPECT_EQ(Tensor().ToString(), "undefined");
}

TEST(FormatTest, SeparatesMatricesByEmptyLines) {
  EXPECT_EQ(Arange(8).Reshape({2, 2, 2}).ToString(),
            "[[[0 1]\n"
            "  [2 3]]\n"
            "\n"
            " [[4 5]\n"
            "  [6 7]]]\n"
            "i64 [2, 2, 2]");
}

TEST(FormatTest, AbridgesBeyondAThousandElements) {
  EXPECT_EQ(Arange(1001).ToString(), "[   0    1    2 ...  998  999 1000]\ni64 [1001]");
  EXPECT_EQ(Cast(Arange(1000), DType::kF32).ToString().find("..."), std::string::npos);
  EXPECT_EQ(Ones({100, 100}).ToString(),
            "[[1. 1. 1. ... 1. 1. 1.]\n"
            " [1. 1. 1. ... 1. 1. 1.]\n"
            " [1. 1. 1. ... 1. 1. 1.]\n"
            " ...\n"
            " [1. 1. 1. ... 1. 1. 1.]\n"
            " [1. 1. 1. ... 1. 1. 1.]\n"
            " [1. 1. 1. ... 1. 1. 1.]]\n"
            "f32 [100, 100]");
  EXPECT_EQ(Format(Arange(6).Reshape({3, 2}), {.threshold = 5, .edge_items = 1}),
            "[[0 1]\n"
            " ...\n"
            " [4 5]]\n"
            "i64 [3, 2]");
}

TEST(FormatTest, BreaksLongRows) {
  EXPECT_EQ(Format(Arange(12), {.line_width = 20}),
            "[ 0  1  2  3  4  5\n"
            "  6  7  8  9 10 11]\n"
            "i64 [12]");
}

TEST(FormatTest, ReadsAnyLayout) {
  EXPECT_EQ(Transpose(Arange(4).Reshape({2, 2}), 0, 1).ToString(), "[[0 2]\n [1 3]]\ni64 [2, 2]");
  const Tensor x = Cast(Arange(8), DType::kF32).Reshape({1, 8, 1});
  EXPECT_EQ(Reordered(x, 8)->ToString(), x.ToString());
}

TEST(FormatTest, GoesToStreams) {
  std::ostringstream os;
  os << Ones({2}) << "\n";
  EXPECT_EQ(os.str(), "[1. 1.]\n");
}

}  // namespace
}  // namespace firn
