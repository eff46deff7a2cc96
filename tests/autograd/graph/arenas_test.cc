#include "firn/autograd/graph/arenas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "tests/device/fake_cuda.h"

namespace firn {
namespace {

TEST(ArenasTest, EachDeviceHasOneWhereItsPiecesLieApart) {
  FakeCuda cuda;
  const internal::ScopedCudaApi scope(cuda);
  const Device cpu, gpu = Device::Cuda(0);
  const Lifetime life{.bytes = 100, .first = 0, .last = 1},
      wide{.bytes = 1000, .first = 0, .last = 1};
  Arenas arenas;
  ASSERT_TRUE(
      arenas.Make({{{life, cpu}, {wide, gpu}, {life, cpu}, {life, gpu}, {life, cpu}}}, 1 << 20)
          .ok());
  EXPECT_EQ(arenas.main_device(), gpu);
  EXPECT_EQ(arenas.main_plan().arena_bytes, 1024 + 128);
  std::vector<char*> on_cpu = {arenas.place(0), arenas.place(2), arenas.place(4)};
  std::sort(on_cpu.begin(), on_cpu.end());
  EXPECT_EQ(on_cpu[1] - on_cpu[0], 128);
  EXPECT_EQ(on_cpu[2] - on_cpu[1], 128);
  ASSERT_NE(arenas.place(1), nullptr);
  ASSERT_NE(arenas.place(3), nullptr);
  EXPECT_EQ(arenas.place(3) - arenas.place(1), 1024);
}

TEST(ArenasTest, OneThatIsTooLargeIsRefused) {
  Arenas arenas;
  const ArenaPiece piece{{.bytes = 1000, .first = 0, .last = 0}, Device()};
  EXPECT_EQ(arenas.Make({&piece, 1}, 1023).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(arenas.Make({&piece, 1}, 1024).ok());
}

}  // namespace
}  // namespace firn
