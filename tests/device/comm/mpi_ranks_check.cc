// Started several times by a launcher of MPI: mpi_ranks_test.py.
//
//   mpi_ranks_check collectives|operations|split|exception|abort|late
//
// Prints "rank R of N: ok", or the error that was expected.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "firn/device/comm/groups.h"
#include "firn/device/comm/mpi_ranks.h"
#include "gtest/gtest.h"
#include "tests/device/comm/collectives.h"
#include "tests/device/comm/operations.h"

namespace firn::comm {
namespace {

void Say(const Communicator& c, const std::string& text) {
  std::printf("rank %d of %d: %s\n", c.rank(), c.size(), text.c_str());
  std::fflush(stdout);
}

void Collectives(Communicator& c) {
  CheckCollectives<Type<float, Element::kF32>>(c);
  CheckCollectives<Type<double, Element::kF64>>(c);
  CheckCollectives<Type<uint16_t, Element::kF16>>(c);
  CheckCollectives<Type<uint16_t, Element::kBF16>>(c);
  CheckCollectives<Type<int8_t, Element::kI8>>(c);
  CheckCollectives<Type<int32_t, Element::kI32>>(c);
  CheckCollectives<Type<int64_t, Element::kI64>>(c);
  CheckCollectives<Type<uint8_t, Element::kU8>>(c);
  EXPECT_EQ(c.local_rank(), c.rank());  // on one machine
}

void Split(Communicator& c) {
  const auto part = c.Split(c.rank() == 0 ? -1 : 1, -c.rank());
  ASSERT_TRUE(part.ok()) << part.status();
  ASSERT_EQ(*part == nullptr, c.rank() == 0);
  if (*part == nullptr) return;
  EXPECT_EQ((*part)->size(), c.size() - 1);
  EXPECT_EQ((*part)->rank(), c.size() - 1 - c.rank());
  float x = 1;
  EXPECT_TRUE((*part)->AllReduce(&x, 1, Element::kF32, Reduction::kSum).ok());
  EXPECT_EQ(x, static_cast<float>(c.size() - 1));
}

void Operations(Communicator& c) {
  SetWorld(&c);
  CheckOperations(c);
  SetWorld(nullptr);
}

int Run(std::string_view what) {
  auto made = WorldRanks({.timeout = absl::Seconds(what == "late" ? 1 : 30)});
  if (!made.ok()) {
    std::printf("%s\n", std::string(made.status().message()).c_str());
    return 1;
  }
  Communicator& c = **made;
  void (*const check)(Communicator&) = what == "collectives"  ? Collectives
                                       : what == "operations" ? Operations
                                       : what == "split"      ? Split
                                                              : nullptr;
  if (check != nullptr) {
    check(c);
    Say(c, ::testing::Test::HasFailure() ? "failed" : "ok");
    return ::testing::Test::HasFailure() ? 1 : 0;
  }
  if (c.rank() == 1) {
    if (what == "exception") throw std::runtime_error("rank 1 has found no data");
    if (what == "abort") c.Abort("the disk is full");
    if (what == "late") usleep(6'000'000);
  }
  if (c.rank() != 1 || what == "late") Say(c, std::string(c.Barrier().message()));
  usleep(3'000'000);  // the launcher ends all when one has ended
  return 1;
}

}  // namespace
}  // namespace firn::comm

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    return firn::comm::Run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    usleep(3'000'000);
    return 1;
  }
}
