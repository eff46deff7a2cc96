// Launches that repeat themselves: what is replayed, and that nobody can tell by the results.
#include "firn/device/internal/cuda_replay.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"

namespace firn {
namespace {

using inner::internal::CudaLaunch;
using inner::internal::LaunchTrace;

// A "kernel" whose result depends on the order: x = 3 x + add, modulo 2^64.
struct Step {
  uint64_t* x;
  uint64_t add;
};

void OnHost(const void* argument) {
  const Step& s = *static_cast<const Step*>(argument);
  *s.x = 3 * *s.x + s.add;
}

class CudaReplayTest : public ::testing::Test {
 protected:
  CudaReplayTest() {
    x_ = static_cast<uint64_t*>(
        Context().allocator().Allocate(sizeof(uint64_t), AllocTag::kOther)->data);
    const uint64_t one = 1;
    EXPECT_TRUE(Context().CopyFromHost(x_, &one, sizeof(one)).ok());
  }

  static inner::internal::CudaDeviceContext& Context() {
    const auto context = inner::internal::CudaDeviceOf(Device::Cuda(0));
    EXPECT_TRUE(context.ok()) << context.status();
    return **context;
  }

  absl::Status Launch(uint64_t add) {
    static const int kernel = 0;
    expected_ = 3 * expected_ + add;
    const Step step = {x_, add};
    return Context().Launch({.name = "step",
                             .kernel = &kernel,
                             .blocks = 1,
                             .threads = 32,
                             .shared_bytes = 0,
                             .argument = &step,
                             .argument_bytes = sizeof(step),
                             .on_host = OnHost},
                            Context().stream());
  }
  void LaunchAll(const std::vector<uint64_t>& adds) {
    for (uint64_t add : adds) ASSERT_TRUE(Launch(add).ok());
  }
  void ExpectRead() {
    uint64_t value = 0;
    ASSERT_TRUE(Context().CopyToHost(&value, x_, sizeof(value)).ok());
    EXPECT_EQ(value, expected_);
  }
  // Launches them and reads the result; how many launches were replayed.
  int64_t Run(const std::vector<uint64_t>& adds) {
    const int64_t before = CudaReplayedLaunches();
    LaunchAll(adds);
    ExpectRead();
    return CudaReplayedLaunches() - before;
  }

  FakeCuda cuda_{1};
  inner::internal::ScopedCudaApi scope_{cuda_};
  uint64_t* x_;
  uint64_t expected_ = 1;
};

TEST_F(CudaReplayTest, WhatCameTwiceGoesAsOne) {
  const std::vector<uint64_t> adds = {5, 6, 7, 8, 9};
  EXPECT_EQ(Run(adds), 0);
  EXPECT_EQ(Run(adds), 0);
  EXPECT_EQ(cuda_.calls("EndRecording"), 1);
  const int launches = cuda_.calls("Launch");
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(Run(adds), 5);
  EXPECT_EQ(cuda_.calls("Launch"), launches);
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 5);
}

TEST_F(CudaReplayTest, TheDeviceGetsItWithTheLastLaunchNotAtTheRead) {
  const std::vector<uint64_t> adds = {1, 2, 3, 4};
  for (int i = 0; i < 2; ++i) Run(adds);
  LaunchAll({1, 2, 3});
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 0);
  LaunchAll({4});
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 1);
  ExpectRead();
}

TEST_F(CudaReplayTest, AnotherLaunchInBetween) {
  const std::vector<uint64_t> adds = {5, 6, 7, 8, 9};
  for (int i = 0; i < 3; ++i) Run(adds);
  EXPECT_EQ(Run({5, 6, 100, 8, 9}), 0);
  EXPECT_EQ(Run(adds), 5);
}

TEST_F(CudaReplayTest, SegmentsThatStopEarlyOrGoOn) {
  const std::vector<uint64_t> adds = {5, 6, 7, 8, 9};
  for (int i = 0; i < 3; ++i) Run(adds);
  EXPECT_EQ(Run({5, 6, 7}), 0);
  EXPECT_EQ(Run({}), 0);
  EXPECT_EQ(Run({5, 6, 7, 8, 9, 10}), 5);
}

TEST_F(CudaReplayTest, OneThatIsTheBeginningOfAnother) {
  const std::vector<uint64_t> long_one = {5, 6, 7, 8, 9}, short_one = {5, 6, 7, 8};
  for (int i = 0; i < 3; ++i) {
    Run(long_one);
    Run(short_one);
  }
  const int recorded = cuda_.calls("EndRecording");
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Run(short_one), 4);
    EXPECT_GE(Run(long_one), 4);  // or the short one, and another
  }
  EXPECT_EQ(cuda_.calls("EndRecording"), recorded);
}

TEST_F(CudaReplayTest, TwoThatBeginInTheSameWay) {
  const std::vector<uint64_t> one = {5, 6, 7, 8, 9}, other = {5, 6, 70, 80, 90};
  for (int i = 0; i < 3; ++i) {
    Run(one);
    Run(other);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Run(one), 5);
    EXPECT_EQ(Run(other), 5);
  }
}

TEST_F(CudaReplayTest, LongOnesInParts) {
  std::vector<uint64_t> adds;
  for (uint64_t i = 0; i < 3 * LaunchTrace::kMost - 10; ++i) adds.push_back(i);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Run(adds), 0);
  EXPECT_EQ(Run(adds), static_cast<int64_t>(adds.size()));
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 3);
}

TEST_F(CudaReplayTest, AFewLaunchesAreNotWorthIt) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run({1, 2}), 0);
  EXPECT_EQ(cuda_.calls("BeginRecording"), 0);
}

TEST_F(CudaReplayTest, ProgramsThatNeverRepeatPassThrough) {
  uint64_t add = 0;
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(Run({add++, add++, add++, add++}), 0);
  // By now it has stopped looking: these would be replayed otherwise.
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Run({1, 2, 3, 4}), 0);
  EXPECT_EQ(cuda_.calls("BeginRecording"), 0);
}

TEST_F(CudaReplayTest, WithoutARecordingLaunchesStayWhatTheyAre) {
  cuda_.FailCall("BeginRecording", 1, FakeCuda::kInvalidValue);
  cuda_.FailCall("EndRecording", 1, FakeCuda::kInvalidValue);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run({1, 2, 3, 4}), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run({5, 6, 7, 8}), 0);
}

TEST_F(CudaReplayTest, AnEventStandsBehindWhatIsHeldBack) {
  const std::vector<uint64_t> adds = {1, 2, 3, 4, 5};
  for (int i = 0; i < 3; ++i) Run(adds);
  LaunchAll({1, 2, 3});
  const auto event = Context().NewEvent();
  ASSERT_TRUE(event.ok());
  ASSERT_TRUE((*event)->Record(Context().stream()).ok());
  const auto other = Context().NewStream();
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->Wait(**event).ok());
  ASSERT_TRUE((*other)->Synchronize().ok());
  EXPECT_EQ(*x_, expected_);  // the stand-in's device memory is the host's
}

TEST_F(CudaReplayTest, MemoryIsNotGivenBackUnderLaunchesThatAreHeldBack) {
  const std::vector<uint64_t> adds = {1, 2, 3, 4, 5};
  for (int i = 0; i < 3; ++i) Run(adds);
  absl::StatusOr<Block> block = Context().allocator().Allocate(size_t{64} << 20, AllocTag::kOther);
  ASSERT_TRUE(block.ok());
  LaunchAll({1, 2, 3});
  const int before = cuda_.calls("Launch");
  Context().allocator().Free(*block);
  Context().allocator().EmptyCache();
  EXPECT_EQ(cuda_.calls("Launch"), before + 3);
  ExpectRead();
}

TEST_F(CudaReplayTest, AFailureOfALaunchThatWasHeldBackIsReported) {
  const std::vector<uint64_t> adds = {1, 2, 3, 4, 5};
  for (int i = 0; i < 3; ++i) Run(adds);
  LaunchAll({1, 2, 3});
  cuda_.FailCall("Launch", 2, FakeCuda::kInvalidValue);
  uint64_t value = 0;
  const absl::Status status = Context().CopyToHost(&value, x_, sizeof(value));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(status.message().find("cudaLaunchKernel"), std::string::npos) << status;
}

TEST_F(CudaReplayTest, ARecordingOfSomebodyElseIsLeftAlone) {
  const std::vector<uint64_t> adds = {1, 2, 3, 4, 5};
  for (int i = 0; i < 3; ++i) Run(adds);
  const uint64_t before = expected_;
  const int64_t replayed = CudaReplayedLaunches();
  auto recording = Context().Record([&] {
    LaunchAll(adds);
    return absl::OkStatus();
  });
  ASSERT_TRUE(recording.ok()) << recording.status();
  const uint64_t after = std::exchange(expected_, before);  // it was only recorded
  ExpectRead();
  EXPECT_EQ(CudaReplayedLaunches(), replayed);
  ASSERT_TRUE((*recording)->Launch(Context().stream()).ok());
  expected_ = after;
  ExpectRead();
}

// Calls of libraries take part as kernels do.
TEST_F(CudaReplayTest, CallsAreRepeatedWithTheirArguments) {
  struct Call {
    FakeCuda* cuda;
    Step step;
  };
  const auto call = [](const void* argument, void* stream) -> absl::Status {
    const Call& c = *static_cast<const Call*>(argument);
    const int code = c.cuda->Launch(0,
                                    {.name = "inner",
                                     .kernel = &c,
                                     .blocks = 1,
                                     .threads = 32,
                                     .shared_bytes = 0,
                                     .argument = &c.step,
                                     .argument_bytes = sizeof(Step),
                                     .on_host = OnHost},
                                    stream);
    return code == 0 ? absl::OkStatus() : absl::InternalError("launch");
  };
  const int64_t before = CudaReplayedLaunches();
  for (int i = 0; i < 4; ++i) {
    for (uint64_t add : {1, 2, 3, 4}) {
      const Call argument = {&cuda_, {x_, add}};
      expected_ = 3 * expected_ + add;
      ASSERT_TRUE(Context()
                      .Launch({.name = "library",
                               .kernel = nullptr,
                               .blocks = 0,
                               .threads = 0,
                               .shared_bytes = 0,
                               .argument = &argument,
                               .argument_bytes = sizeof(argument),
                               .on_host = nullptr,
                               .call = call},
                              Context().stream())
                      .ok());
    }
    ExpectRead();
  }
  EXPECT_EQ(CudaReplayedLaunches() - before, 8);
}

}  // namespace
}  // namespace firn
