// Chains of elementwise operations as source: NVRTC, which needs no GPU, compiles every operation.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "firn/device/internal/nvrtc.h"
#include "firn/tensor/kernels/cuda/chain_source.h"
#include "firn/tensor/op.h"
#include "tests/on_cuda.h"
#include "tests/ops/chain_programs.h"

namespace firn::testing {
namespace {

// Elementwise kernels that join no chain, and why.
const std::set<std::string> kWithoutSource = {
    "add_n",      // takes any number of inputs, a functor a fixed one
    "polygamma",  // calls the standard library and branches
};

class ChainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!BuiltWithCuda()) GTEST_SKIP() << kWithoutCuda;
  }
};

TEST_F(ChainTest, ElementwiseKernelsHaveSource) {
  for (const std::string& name : ElementwiseCudaOps()) {
    EXPECT_EQ(cuda::HasSource(Op(name)), !kWithoutSource.contains(name)) << name;
  }
}

// Compiles the chains in each dtype that an operation takes.
TEST_F(ChainTest, NvrtcCompilesEveryOperation) {
  std::set<std::string> compiled;
  for (const ChainProgram& chain : ChainPrograms()) {
    const absl::StatusOr<cuda::ChainSource> source = cuda::MakeChainSource(*chain.program);
    ASSERT_TRUE(source.ok()) << source.status();
    std::string code;
    std::string failure = internal::CompileCuda(source->source, 90, 13, &code);
    if (failure.starts_with("no NVRTC")) {
      failure = internal::CompileCuda(source->source, 90, 12, &code);
    }
    if (failure.starts_with("no NVRTC")) GTEST_SKIP() << failure;
    EXPECT_EQ(failure, "") << source->source.text;
    if (!failure.empty()) continue;
    EXPECT_TRUE(code.starts_with("\177ELF"));
    for (const auto& step : chain.program->steps) compiled.emplace(step.op->name);
  }
  for (const std::string& name : ElementwiseCudaOps()) {
    EXPECT_TRUE(compiled.contains(name) || kWithoutSource.contains(name)) << name;
  }
}

}  // namespace
}  // namespace firn::testing
