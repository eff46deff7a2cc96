// Compares what Firn finds out about the processor with what the compiler's own function finds out.
#include "firn/device/cpu.h"

#include "firn/device/level.h"
#include "gtest/gtest.h"

namespace firn::inner {
namespace {

TEST(CpuTest, RunsWhatItWasBuiltFor) {
  EXPECT_EQ(KernelLevel(), FIRN_LEVEL);  // this test is compiled as kernels are
  EXPECT_GE(ThisCpu().level, KernelLevel());
}

#if FIRN_LEVEL >= 1
TEST(CpuTest, AgreesWithTheCompilersFunction) {
  __builtin_cpu_init();
  const Cpu& cpu = ThisCpu();
  EXPECT_EQ(cpu.level >= 2, __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"));
  EXPECT_EQ(cpu.level >= 3, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                __builtin_cpu_supports("bmi2"));
  EXPECT_EQ(cpu.level >= 4,
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd"));
  EXPECT_EQ(cpu.bfloat_dot, cpu.level >= 4 && __builtin_cpu_supports("avx512bf16"));
  EXPECT_TRUE(cpu.level == 4 || !cpu.bfloat_tiles);
}
#endif

TEST(CpuTest, LevelsHaveTheCompilersNames) {
  EXPECT_STREQ(LevelName(1), "x86-64");
  EXPECT_STREQ(LevelName(4), "x86-64-v4");
  EXPECT_STREQ(LevelName(0), "the compiler's default");
}

}  // namespace
}  // namespace firn::inner
