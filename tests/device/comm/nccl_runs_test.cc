// Runs with calls of other ranks that are recorded, on stand-ins for CUDA and NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "firn/device/comm/checked_ranks.h"
#include "firn/device/comm/device_ranks.h"
#include "firn/device/comm/recorded_runs.h"
#include "firn/device/context.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/device/status_macros.h"
#include "tests/device/comm/fake_nccl.h"
#include "tests/device/comm/on_devices.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/device/fake_cuda.h"

namespace firn::comm {
namespace {

using inner::internal::CudaDeviceOf;
using inner::internal::ScopedCudaApi;

// x += 0.25, on the rank's device.
absl::Status AddQuarter(Communicator& c, void* x) {
  inner::internal::CudaLaunch launch = {};
  launch.name = "add_quarter";
  launch.blocks = launch.threads = 1;
  launch.argument = &x;
  launch.argument_bytes = sizeof(x);
  launch.on_host = [](const void* argument) { **static_cast<float* const*>(argument) += 0.25f; };
  auto* const device = *CudaDeviceOf(c.device());
  return device->Launch(launch, device->stream());
}

// A step of training, in small: work of the device around calls that its results need.
absl::Status Step(Communicator& c, const Floats& x, const Floats& all) {
  FIRN_RETURN_IF_ERROR(AddQuarter(c, x.data()));
  FIRN_RETURN_IF_ERROR(c.AllReduce(x.data(), 1, Element::kF32, Reduction::kSum));
  FIRN_RETURN_IF_ERROR(AddQuarter(c, x.data()));
  FIRN_RETURN_IF_ERROR(c.AllGather(x.data(), all.data(), 1, Element::kF32));
  return AddQuarter(c, all.data());
}

using Place = std::shared_ptr<const RunPlace>;

class NcclRunsTest : public ::testing::TestWithParam<FakeCuda::Others> {
 protected:
  NcclRunsTest() { cuda_.set_others(GetParam()); }

  FakeCuda cuda_{3};
  const ScopedCudaApi scope_{cuda_};
  FakeNccl nccl_{cuda_};
};
INSTANTIATE_TEST_SUITE_P(LateAndEarly, NcclRunsTest,
                         ::testing::Values(FakeCuda::Others::kLate, FakeCuda::Others::kEarly));

constexpr int kRuns = 6;

// What x and `all` are after each of kRuns runs. `place`: of each run.
std::vector<float> ValuesOf(Communicator& c, int& launches,
                            const std::function<Place(int)>& place) {
  const Floats x(c, {static_cast<float>(c.rank() + 1)}), all(c, {0, 0, 0});
  std::vector<float> values;
  launches = 0;
  for (int i = 0; i < kRuns; ++i) {
    std::string why;
    const auto step = [&] { return Step(c, x, all); };
    const auto launched = RecordedRunsOf(c)->Run(place(i), step, why);
    EXPECT_TRUE(launched.ok()) << launched.status();
    EXPECT_EQ(why, "");
    launches += launched.value_or(false) ? 1 : 0;
    const Floats* const both[] = {&x, &all};
    for (const Floats* f : both) {
      for (const float v : f->Read().value_or(std::vector<float>())) values.push_back(v);
    }
  }
  return values;
}

TEST_P(NcclRunsTest, LaunchFromTheSecondRunOnAndGiveTheSameBits) {
  OnDevices(3, [&](Communicator& c) {
    int plain = 0, recorded = 0;
    const auto want = ValuesOf(c, plain, [](int) { return nullptr; });
    EXPECT_EQ(plain, 0);
    const auto place = std::make_shared<const RunPlace>();
    const auto got = ValuesOf(c, recorded, [&](int) { return place; });
    EXPECT_EQ(got, want);
    EXPECT_EQ(got.size(), 4u * kRuns);
    EXPECT_EQ(recorded, kRuns - 1);
  });
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 3 * (kRuns - 1));
  // Two calls in each plain run, in the first run and in the recording.
  EXPECT_EQ(nccl_.queued(), 3 * 2 * (kRuns + 2));
  EXPECT_EQ(nccl_.aborted(), 0);
  EXPECT_EQ(nccl_.destroyed(), 3);
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
}

// What each rank launches depends on the places of all, in whatever order they come.
TEST_P(NcclRunsTest, LaunchOnlyWhatWasRecordedTogether) {
  OnDevices(3, [&](Communicator& c) {
    int none = 0, launches = 0;
    const auto want = ValuesOf(c, none, [](int) { return nullptr; });
    std::vector<Place> places;
    for (int i = 0; i < kRuns; ++i) places.push_back(std::make_shared<const RunPlace>());
    // Rank 1 never has the same place twice.
    const auto other = [&](int i) {
      return c.rank() == 1 ? places[static_cast<size_t>(i)] : places[0];
    };
    EXPECT_EQ(ValuesOf(c, launches, other), want);
    EXPECT_EQ(launches, 0);
    // Rank 2 does not record.
    const auto not_one = [&](int) { return c.rank() == 2 ? nullptr : places[1]; };
    EXPECT_EQ(ValuesOf(c, launches, not_one), want);
    EXPECT_EQ(launches, 0);
  });
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 0);
  EXPECT_EQ(nccl_.aborted(), 0);
}

TEST_P(NcclRunsTest, RecordForTwoPlacesInTurn) {
  OnDevices(2, [&](Communicator& c) {
    const Place places[] = {std::make_shared<const RunPlace>(), std::make_shared<const RunPlace>()};
    const Floats x[] = {{c, {1}}, {c, {2}}}, all(c, {0, 0});
    int launches = 0;
    for (size_t i = 0; i < 8; ++i) {
      std::string why;
      const size_t at = c.rank() == 0 ? i % 2 : 0;
      const auto launched = RecordedRunsOf(c)->Run(
          places[at], [&] { return Step(c, x[at], all); }, why);
      ASSERT_TRUE(launched.ok()) << launched.status();
      launches += *launched ? 1 : 0;
    }
    EXPECT_EQ(launches, 4 + 2);
    EXPECT_TRUE(all.Read().ok());
  });
}

TEST_P(NcclRunsTest, StayAsTheyAreWhereOneRankCannotRecord) {
  cuda_.FailCall("EndRecording", 1, FakeCuda::kInvalidValue);
  OnDevices(2, [&](Communicator& c) {
    const auto place = std::make_shared<const RunPlace>();
    const Floats x(c, {1}), all(c, {0, 0});
    for (int i = 0; i < 4; ++i) {
      std::string why;
      const auto launched = RecordedRunsOf(c)->Run(
          place, [&] { return Step(c, x, all); }, why);
      ASSERT_TRUE(launched.ok()) << launched.status();
      EXPECT_FALSE(*launched);
      EXPECT_THAT(
          why, ::testing::MatchesRegex(i == 1 ? "rank [01]: cudaStreamEndCapture failed.*" : ""));
    }
    // Each run adds both ranks' quarters, and one.
    float want = 1;
    for (int i = 0; i < 4; ++i) want = 2 * (want + 0.25f) + 0.25f;
    EXPECT_EQ(x.Read().value_or(std::vector<float>()), std::vector<float>{want});
  });
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 0);
  EXPECT_EQ(nccl_.aborted(), 0);
}

// The thread that records must not end NCCL's communicator, which waits for the recording.
TEST_P(NcclRunsTest, AreErrorsOfAllRanksWhereNcclFailsInARecording) {
  OnDevices(2, [&](Communicator& c) {
    const auto place = std::make_shared<const RunPlace>();
    const Floats x(c, {1}), all(c, {0, 0});
    const absl::Time start = absl::Now();
    for (int i = 0; i < 2; ++i) {
      std::string why;
      const auto step = [&]() -> absl::Status {
        FIRN_RETURN_IF_ERROR(c.AllReduce(x.data(), 1, Element::kF32, Reduction::kSum));
        if (i == 1 && c.rank() == 0) nccl_.FailAsync(0, kNcclRemoteError);
        return Step(c, x, all);
      };
      const auto launched = RecordedRunsOf(c)->Run(place, step, why);
      EXPECT_EQ(launched.ok(), i == 0);
      EXPECT_EQ(why, "");
      if (i == 1) {
        EXPECT_EQ(launched.status().message(),
                  "rank 0: all_reduce of 1 f32 (sum) on rank 0 (cuda:0): remote: a stand-in's");
      }
    }
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));  // of 60 s
  });
  EXPECT_EQ(cuda_.calls("LaunchGraph"), 0);
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
}

// The receiver waits for the message before it comes to the run.
TEST_P(NcclRunsTest, BeginMessagesThatWereStartedBefore) {
  OnDevices(
      2,
      [&](Communicator& c) {
        const auto place = std::make_shared<const RunPlace>();
        const Floats x(c, {1}), all(c, {0, 0}), told(c, {static_cast<float>(c.rank())});
        for (int i = 0; i < 4; ++i) {
          const auto message =
              c.Start({.kind = c.rank() == 0 ? CollectiveKind::kSend : CollectiveKind::kRecv,
                       .root = 1 - c.rank(),
                       .count = 1,
                       .in = told.data(),
                       .out = told.data()});
          ASSERT_TRUE(message.ok()) << message.status();
          if (c.rank() == 1) {
            EXPECT_EQ((*message)->Wait(), absl::OkStatus());
            EXPECT_EQ(told.Read().value_or(std::vector<float>()), std::vector<float>{0});
          }
          std::string why;
          const auto launched = RecordedRunsOf(c)->Run(
              place, [&] { return Step(c, x, all); }, why);
          ASSERT_TRUE(launched.ok()) << launched.status();
          EXPECT_EQ((*message)->Wait(), absl::OkStatus());
        }
      },
      absl::Seconds(2));
  EXPECT_EQ(nccl_.aborted(), 0);
}

TEST_P(NcclRunsTest, NameARankThatMakesAnotherCall) {
  firn::testing::OnRanks(2, [&](Communicator& host) {
    Communicator& c = **DeviceRanks(host, Device::Cuda(host.rank()));
    const std::string why = "rank 1 made another call where rank 0 ran a frozen step";
    if (host.rank() == 1) {
      const int64_t own[] = {0, 7};
      int64_t all[4];
      static_cast<void>(host.AllGather(own, all, 2, Element::kI64));
      EXPECT_NE(host.Barrier().message().find(why), std::string::npos);
      return;
    }
    std::string unused;
    const auto run = RecordedRunsOf(c)->Run(
        std::make_shared<const RunPlace>(), [] { return absl::OkStatus(); }, unused);
    EXPECT_EQ(run.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(run.status().message().find(why), std::string::npos) << run.status();
  });
}

// The recording is there, but the device of one rank does not come.
TEST_P(NcclRunsTest, NameTheRunThatNobodyJoins) {
  OnDevices(
      2,
      [&](Communicator& c) {
        const auto place = std::make_shared<const RunPlace>();
        const Floats x(c, {1}), all(c, {0, 0});
        std::string why;
        const auto run = [&] {
          return RecordedRunsOf(c)->Run(
              place, [&] { return Step(c, x, all); }, why);
        };
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(run().ok());
        EXPECT_TRUE(x.Read().ok());
        EXPECT_TRUE(c.Barrier().ok());
        if (c.rank() == 0) cuda_.FailCall("LaunchGraph", 1, FakeCuda::kInvalidValue);
        EXPECT_TRUE(c.Barrier().ok());
        const absl::Time start = absl::Now();
        const auto launched = run();
        if (!launched.ok()) {  // one of them
          EXPECT_NE(launched.status().message().find("cudaGraphLaunch"), std::string::npos);
          return absl::SleepFor(absl::Milliseconds(800));
        }
        EXPECT_EQ(
            x.Read().status().message(),
            absl::StrCat("a recorded run with 2 calls of all ranks, the first all_reduce of 1 "
                         "f32 (sum), on rank ",
                         c.rank(), " (cuda:", c.rank(), ") waited 200ms for other ranks"));
        EXPECT_LT(absl::Now() - start, absl::Seconds(5));
        EXPECT_FALSE(run().ok());
      },
      absl::Milliseconds(200));
  EXPECT_EQ(nccl_.aborted(), 2);
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
}

TEST_P(NcclRunsTest, EndWhenAnotherRankGivesUp) {
  firn::testing::OnRanks(2, [&](Communicator& host) {
    Communicator& c = **DeviceRanks(host, Device::Cuda(host.rank()));
    const auto place = std::make_shared<const RunPlace>();
    const Floats x(c, {1}), all(c, {0, 0});
    std::string why;
    const auto run = [&] {
      return RecordedRunsOf(c)->Run(
          place, [&] { return Step(c, x, all); }, why);
    };
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(run().ok());
    EXPECT_TRUE(x.Read().ok());
    EXPECT_TRUE(host.Barrier().ok());
    if (host.rank() == 0) cuda_.FailCall("LaunchGraph", 1, FakeCuda::kInvalidValue);
    EXPECT_TRUE(host.Barrier().ok());
    const absl::Time start = absl::Now();
    if (!run().ok()) return host.Abort("the disk is full");
    EXPECT_EQ(x.Read().status().message(),
              absl::StrCat("rank ", 1 - host.rank(), " gave up: the disk is full"));
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));  // of 60 s
  });
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
}

TEST_P(NcclRunsTest, AreErrorsWhereARankDoesNotCome) {
  firn::testing::OnRanks(
      2,
      [&](Communicator& host) {
        Communicator& c = **DeviceRanks(host, Device::Cuda(host.rank()));
        if (host.rank() == 1) return absl::SleepFor(absl::Milliseconds(800));
        std::string why;
        bool queued = false;
        const auto queue = [&] { return queued = true, absl::OkStatus(); };
        const auto run = RecordedRunsOf(c)->Run(std::make_shared<const RunPlace>(), queue, why);
        EXPECT_EQ(run.status().code(), absl::StatusCode::kDeadlineExceeded) << run.status();
        EXPECT_FALSE(queued);
      },
      absl::Milliseconds(200));
}

// Calls that were started before are not overtaken, nor those that come later.
TEST_P(NcclRunsTest, KeepTheirPlaceAmongOtherCalls) {
  OnDevices(2, [&](Communicator& c) {
    const auto place = std::make_shared<const RunPlace>();
    const Floats x(c, {1}), y(c, {3}), all(c, {0, 0});
    float want_x = 1, want_y = 3;
    for (int i = 0; i < 4; ++i) {
      std::string why;
      auto before = c.Start(
          {.kind = CollectiveKind::kAllReduce, .count = 1, .in = y.data(), .out = y.data()});
      ASSERT_TRUE(before.ok()) << before.status();
      ASSERT_TRUE(RecordedRunsOf(c)
                      ->Run(
                          place, [&] { return Step(c, x, all); }, why)
                      .ok());
      ASSERT_TRUE(c.AllReduce(x.data(), 1, Element::kF32, Reduction::kMax).ok());
      ASSERT_TRUE((*before)->Wait().ok());
      want_x = 2 * (want_x + 0.25f) + 0.25f;
      want_y *= 2;
    }
    EXPECT_EQ(x.Read().value_or(std::vector<float>()), std::vector<float>{want_x});
    EXPECT_EQ(y.Read().value_or(std::vector<float>()), std::vector<float>{want_y});
  });
  EXPECT_EQ(nccl_.aborted(), 0);
}

// Ranks that check their calls compare the host's; those of the device are not among them.
TEST_P(NcclRunsTest, WorkAmongRanksThatCheckTheirCalls) {
  firn::testing::OnThreads(2, {}, [&](std::unique_ptr<Communicator>& owned) {
    const auto host = CheckedRanks(std::move(owned));
    Communicator& c = **DeviceRanks(*host, Device::Cuda(host->rank()));
    int launches = 0;
    const auto place = std::make_shared<const RunPlace>();
    ValuesOf(c, launches, [&](int) { return place; });
    EXPECT_EQ(launches, kRuns - 1);
  });
  EXPECT_EQ(nccl_.aborted(), 0);
}

// A recording refers to memory; without its place it is gone.
TEST_P(NcclRunsTest, EndWithTheirPlacesAndWithTheCommunicator) {
  OnDevices(2, [&](Communicator& c) {
    const auto place = std::make_shared<const RunPlace>();
    const int index = c.device().index;
    int launches = 0;
    {
      const auto shorter = std::make_shared<const RunPlace>();
      ValuesOf(c, launches, [&](int) { return shorter; });
      EXPECT_EQ(cuda_.graphs_that_meet(index), 1);
    }
    ValuesOf(c, launches, [&](int) { return nullptr; });
    EXPECT_EQ(cuda_.graphs_that_meet(index), 0);
    ValuesOf(c, launches, [&](int) { return place; });
    EXPECT_EQ(cuda_.graphs_that_meet(index), 1);
  });
  EXPECT_EQ(cuda_.graphs_that_meet(0) + cuda_.graphs_that_meet(1), 0);
  EXPECT_EQ(nccl_.destroyed(), 2);
  EXPECT_EQ(nccl_.ended_in_graphs(), 0);
}

}  // namespace
}  // namespace firn::comm
