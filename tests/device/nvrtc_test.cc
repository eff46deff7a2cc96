#include "firn/device/internal/nvrtc.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::inner::internal {
namespace {

// With the compiler that is there, if there is one.
std::string Compile(const CudaSource& source, std::string* code) {
  std::string failure;
  for (int cuda_major : {13, 12}) {
    failure = CompileCuda(source, 90, cuda_major, code);
    if (!failure.starts_with("no NVRTC")) break;
  }
  return failure;
}

constexpr const char* kKernel =
    "#include \"row.h\"\n extern \"C\" __global__ void fill(Row r) { r.to[threadIdx.x] = 1; }";

TEST(NvrtcTest, CompilesWithHeadersFromMemory) {
  std::string code;
  const std::string failure = Compile({kKernel, {{"row.h", "struct Row { int* to; };"}}}, &code);
  if (failure.starts_with("no NVRTC")) GTEST_SKIP() << failure;
  EXPECT_EQ(failure, "");
  EXPECT_TRUE(code.starts_with("\177ELF"));
  EXPECT_NE(code.find("fill"), std::string::npos);
}

TEST(NvrtcTest, ReturnsWhatTheCompilerSays) {
  std::string code;
  const std::string failure = Compile({kKernel, {{"row.h", "struct Raw {};"}}}, &code);
  if (failure.starts_with("no NVRTC")) GTEST_SKIP() << failure;
  EXPECT_NE(failure.find("identifier \"Row\" is undefined"), std::string::npos) << failure;
}

TEST(NvrtcTest, NamesALibraryThatIsNotThere) {
  std::string code;
  const std::string failure = CompileCuda({"", {}}, 90, 99, &code);
  EXPECT_TRUE(failure.starts_with("no NVRTC: libnvrtc.so.99")) << failure;
}

}  // namespace
}  // namespace firn::inner::internal
