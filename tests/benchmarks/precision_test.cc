#include "benchmarks/precision.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "benchmarks/trainer.h"
#include "firn/device/parallel.h"
#include "firn/tensor/precision.h"

namespace firn::benchmarks {
namespace {

class PrecisionTest : public ::testing::Test {
 protected:
  void TearDown() override { SetPrecision(Precision::kDefault); }
};

TEST_F(PrecisionTest, SetsProductsAndConvolutions) {
  using Case = std::tuple<const char*, F32Math, F32Math, DType>;
  for (const auto& [text, matmul, conv, autocast] :
       {Case{"default", F32Math::kStrict, F32Math::kTf32, DType::kF32},
        Case{"strict", F32Math::kStrict, F32Math::kStrict, DType::kF32},
        Case{"tf32", F32Math::kTf32, F32Math::kTf32, DType::kF32},
        Case{"bf16", F32Math::kStrict, F32Math::kTf32, DType::kBF16}}) {
    const auto precision = ParsePrecision(text);
    ASSERT_TRUE(precision.ok()) << precision.status();
    SetPrecision(*precision);
    EXPECT_EQ(MatmulMath(), matmul) << text;
    EXPECT_EQ(ConvMath(), conv) << text;
    EXPECT_EQ(AutocastDtype(*precision), autocast) << text;
    EXPECT_EQ(PrecisionName(*precision, Device::Cuda()), text);
  }
}

TEST_F(PrecisionTest, DefaultIsWhatAProgramStartsWith) {
  const F32Math matmul = MatmulMath(), conv = ConvMath();
  SetPrecision(Precision::kDefault);
  EXPECT_EQ(MatmulMath(), matmul);
  EXPECT_EQ(ConvMath(), conv);
}

TEST_F(PrecisionTest, TheCpuHasNoTf32ToTellOf) {
  EXPECT_EQ(DescribePrecision(Precision::kTf32, Device::Cpu()), "f32");
  EXPECT_EQ(DescribePrecision(Precision::kBf16, Device::Cpu()), "bf16");
  SetPrecision(Precision::kTf32);
  EXPECT_EQ(DescribePrecision(Precision::kTf32, Device::Cuda()), "tf32 (matmul tf32, conv tf32)");
}

TEST_F(PrecisionTest, AnotherWordIsRefusedByName) {
  EXPECT_EQ(ParsePrecision("half").status().message(),
            "there is no precision 'half' (want default, strict, tf32 or bf16)");
}

TEST_F(PrecisionTest, Bf16StepsLearnNearlyTheSame) {
  SetNumThreads(1);
  TrainerOptions options{.workload = "lenet", .batch = 4};
  auto exact = Trainer::Make(options);
  options.autocast = AutocastDtype(Precision::kBf16);
  auto rounded = Trainer::Make(options);
  ASSERT_TRUE(exact.ok() && rounded.ok());
  const double want = (*exact)->Step().Item(), got = (*rounded)->Step().Item();
  EXPECT_NEAR(got, want, 0.05);
  EXPECT_NE(got, want);
  for (const Tensor& p : (*rounded)->net().parameters()) EXPECT_EQ(p.dtype(), DType::kF32);
}

}  // namespace
}  // namespace firn::benchmarks
