// Ranks that are threads, each with a device of a stand-in for CUDA, which a stand-in for NCCL
// connects.
#include "firn/device/comm/nccl_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "firn/device/comm/device_ranks.h"
#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/device/status_macros.h"
#include "tests/device/comm/collectives.h"
#include "tests/device/comm/fake_nccl.h"
#include "tests/device/comm/on_devices.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/device/fake_cuda.h"

namespace firn::comm {
namespace {

using inner::internal::ScopedCudaApi;

// Takes host memory to the rank's device and back.
class ThroughDevice : public Communicator {
 public:
  explicit ThroughDevice(Communicator& ranks)
      : Communicator(ranks.rank(), ranks.size(), ranks.local_rank()), ranks_(ranks) {}
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) override {
    return ranks_.Split(color, key);
  }
  void Abort(std::string_view why) override { ranks_.Abort(why); }

 private:
  struct Back : Pending {
    std::unique_ptr<There> in, out;
    void* to = nullptr;
    size_t bytes = 0;
    DeviceContext* context = nullptr;
    std::unique_ptr<Pending> started;
    ~Back() override { Wait().IgnoreError(); }
    absl::Status Wait() override {
      FIRN_RETURN_IF_ERROR(started->Wait());
      if (to == nullptr) return absl::OkStatus();
      return context->CopyToHost(std::exchange(to, nullptr), (out == nullptr ? in : out)->data(),
                                 bytes);
    }
  };

  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    auto back = std::make_unique<Back>();
    back->context = *GetDeviceContext(ranks_.device());
    Collective there = call;
    const auto bytes = static_cast<size_t>(call.count * BytesOf(call.element));
    const auto all = bytes * static_cast<size_t>(size());
    if (call.in != nullptr) {
      const size_t n = call.kind == CollectiveKind::kReduceScatter ? all : bytes;
      back->in = std::make_unique<There>(*back->context, n);
      there.in = back->in->data();
      if (n != 0) FIRN_RETURN_IF_ERROR(back->context->CopyFromHost(back->in->data(), call.in, n));
    }
    if (call.out != nullptr) {
      back->bytes = call.kind == CollectiveKind::kAllGather ? all : bytes;
      if (call.out != call.in) back->out = std::make_unique<There>(*back->context, back->bytes);
      there.out = (back->out == nullptr ? back->in : back->out)->data();
      back->to = call.out;
    }
    FIRN_ASSIGN_OR_RETURN(back->started, ranks_.Start(there));
    return back;
  }

  Communicator& ranks_;
};

template <class T>
class NcclRanksTypesTest : public ::testing::Test {};
using Types = ::testing::Types<Type<float, Element::kF32>, Type<double, Element::kF64>,
                               Type<uint16_t, Element::kF16>, Type<uint16_t, Element::kBF16>,
                               Type<int8_t, Element::kI8>, Type<int32_t, Element::kI32>,
                               Type<int64_t, Element::kI64>, Type<uint8_t, Element::kU8>>;
TYPED_TEST_SUITE(NcclRanksTypesTest, Types);

TYPED_TEST(NcclRanksTypesTest, GiveWhatTheirDefinitionSays) {
  for (const auto others : {FakeCuda::Others::kLate, FakeCuda::Others::kEarly}) {
    for (int size = 1; size <= 4; ++size) {
      FakeCuda cuda(size);
      cuda.set_others(others);
      const ScopedCudaApi scope(cuda);
      const FakeNccl nccl(cuda);
      OnDevices(size, [](Communicator& c) {
        ThroughDevice through(c);
        CheckCollectives<TypeParam>(through);
      });
      EXPECT_EQ(nccl.aborted(), 0);
      EXPECT_EQ(nccl.made(), size == 1 ? 0 : size);
      EXPECT_EQ(nccl.destroyed(), nccl.made());
    }
  }
}

class NcclRanksTest : public ::testing::Test {
 protected:
  FakeCuda cuda_{3};
  const ScopedCudaApi scope_{cuda_};
  FakeNccl nccl_{cuda_};
};

TEST_F(NcclRanksTest, TakeOneRankToo) {
  firn::testing::OnRanks(1, [&](Communicator& host) {
    auto ranks = NcclRanks(host, Device::Cuda(0));
    ASSERT_TRUE(ranks.ok()) << ranks.status();
    const Floats x(**ranks, {3});
    ASSERT_TRUE((*ranks)->AllReduce(x.data(), 1, Element::kF32, Reduction::kMean).ok());
    EXPECT_EQ(*x.Read(), std::vector<float>{3});
    ASSERT_TRUE((*ranks)->Barrier().ok());
  });
  EXPECT_EQ(nccl_.made(), 1);
}

// Neither a start nor a wait waits for the device.
TEST_F(NcclRanksTest, OnlyQueue) {
  OnDevices(2, [&](Communicator& c) {
    const Floats x(c, {1}), y(c, {2});
    ASSERT_TRUE(c.Barrier().ok());  // all have written theirs
    const int64_t before = CudaSynchronizations();
    std::vector<std::unique_ptr<Pending>> pending;
    for (const Floats* f : {&x, &y}) {
      auto started = c.Start(
          {.kind = CollectiveKind::kAllReduce, .count = 1, .in = f->data(), .out = f->data()});
      ASSERT_TRUE(started.ok()) << started.status();
      pending.push_back(*std::move(started));
    }
    for (const auto& p : pending) ASSERT_TRUE(p->Wait().ok());
    EXPECT_EQ(CudaSynchronizations(), before);
    ASSERT_TRUE(c.Barrier().ok());
    EXPECT_EQ(*x.Read(), std::vector<float>{2});
    EXPECT_EQ(*y.Read(), std::vector<float>{4});
  });
}

TEST_F(NcclRanksTest, SplitByColorAndKey) {
  OnDevices(3, [](Communicator& c) {
    auto part = c.Split(c.rank() == 1 ? -1 : 0, -c.rank());
    ASSERT_TRUE(part.ok()) << part.status();
    ASSERT_EQ(*part == nullptr, c.rank() == 1);
    if (*part == nullptr) return;
    EXPECT_EQ((*part)->rank(), c.rank() == 2 ? 0 : 1);
    EXPECT_EQ((*part)->device(), c.device());
    const Floats x(c, {static_cast<float>(c.rank() + 1)});
    ASSERT_TRUE((*part)->AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).ok());
    EXPECT_EQ(*x.Read(), std::vector<float>{4});
  });
}

// The device waits for a rank that does not come, until the watch ends it; the reader of the result
// gets the error.
TEST_F(NcclRanksTest, NameCallsThatNobodyJoins) {
  OnDevices(
      2,
      [](Communicator& c) {
        if (c.rank() == 1) return absl::SleepFor(absl::Milliseconds(800));
        const Floats x(c, {1});
        ASSERT_TRUE(c.AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).ok());
        const absl::Status read = x.Read().status();
        EXPECT_EQ(read.code(), absl::StatusCode::kDeadlineExceeded);
        EXPECT_EQ(read.message(),
                  "all_reduce of 1 f32 (sum) on rank 0 (cuda:0) waited 200ms for other ranks");
        EXPECT_EQ(c.Broadcast(x.data(), 1, Element::kF32, 0), read);
      },
      absl::Milliseconds(200));
  EXPECT_EQ(nccl_.aborted(), 1);
}

TEST_F(NcclRanksTest, NameTheCallThatNcclFindsAnErrorIn) {
  OnDevices(2, [&](Communicator& c) {
    if (c.rank() == 1) return absl::SleepFor(absl::Milliseconds(500));
    const Floats x(c, {1});
    ASSERT_TRUE(c.AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).ok());
    nccl_.FailAsync(0, kNcclRemoteError);
    const absl::Status read = x.Read().status();
    EXPECT_EQ(read.message(), "all_reduce of 1 f32 (sum) on rank 0 (cuda:0): remote: a stand-in's");
  });
}

TEST_F(NcclRanksTest, NameTheCallThatNcclRefuses) {
  OnDevices(2, [&](Communicator& c) {
    float on_the_host = 1;
    const absl::Status status = c.AllReduce(&on_the_host, 1, Element::kF32, Reduction::kSum);
    EXPECT_EQ(status.message(), absl::StrCat("all_reduce of 1 f32 (sum) on rank ", c.rank(),
                                             " (cuda:", c.rank(), "): wrong: a stand-in's"));
  });
}

Collective Message(CollectiveKind kind, int other, float* data) {
  Collective call = {.kind = kind, .root = other, .count = 1};
  if (kind == CollectiveKind::kSend) {
    call.in = data;
  } else {
    call.out = data;
  }
  return call;
}

// Calls that come later do not belong to the group of messages.
TEST_F(NcclRanksTest, EndWithTheirGroupsWhereAMessageIsRefused) {
  OnDevices(2, [&](Communicator& c) {
    float on_the_host = 1;
    const Floats x(c, {1});
    const auto refused = c.Start(Message(CollectiveKind::kSend, 1 - c.rank(), &on_the_host));
    const auto other = c.Start(Message(CollectiveKind::kRecv, 1 - c.rank(), x.data()));
    ASSERT_TRUE(refused.ok() && other.ok()) << refused.status() << other.status();
    const std::string error =
        absl::StrCat("send of 1 f32 to rank ", 1 - c.rank(), " and 1 more on rank ", c.rank(),
                     " (cuda:", c.rank(), "): wrong: a stand-in's");
    EXPECT_EQ((*refused)->Wait().message(), error);
    EXPECT_EQ((*other)->Wait().message(), error);
  });
  EXPECT_EQ(nccl_.aborted(), 2);
}

// If one message of a group is not queued, no message of the group looks done.
TEST_F(NcclRanksTest, SayOfAllMessagesThatTheyWereNotQueued) {
  for (const char* call : {"CreateEvent", "RecordEvent"}) {
    OnDevices(2, [&](Communicator& c) {
      if (c.rank() == 1) return;
      const Floats x(c, {1}), y(c, {2});
      const auto sent = c.Start(Message(CollectiveKind::kSend, 1, x.data()));
      const auto received = c.Start(Message(CollectiveKind::kRecv, 1, y.data()));
      ASSERT_TRUE(sent.ok() && received.ok()) << sent.status() << received.status();
      cuda_.FailCall(call, 1, FakeCuda::kOutOfMemory);
      const absl::Status first = (*sent)->Wait();
      EXPECT_FALSE(first.ok());
      EXPECT_EQ((*received)->Wait(), first);
      EXPECT_EQ(c.Barrier(), first);
    });
  }
  EXPECT_EQ(nccl_.aborted(), 2);
}

// Whichever side waits at the barrier, before or behind the other one's message.
TEST_F(NcclRanksTest, BeginMessagesBeforeABarrier) {
  for (const bool barrier_first : {false, true}) {
    OnDevices(
        2,
        [&](Communicator& c) {
          const Floats x(c, {static_cast<float>(c.rank())});
          const auto kind = c.rank() == 0 ? CollectiveKind::kSend : CollectiveKind::kRecv;
          if (c.rank() == 1 && barrier_first) {
            EXPECT_TRUE(c.Barrier().ok());
          }
          const auto started = c.Start(Message(kind, 1 - c.rank(), x.data()));
          ASSERT_TRUE(started.ok()) << started.status();
          if (c.rank() == 0) {
            EXPECT_TRUE(c.Barrier().ok());
          }
          EXPECT_EQ((*started)->Wait(), absl::OkStatus());
          if (c.rank() == 1 && !barrier_first) {
            EXPECT_TRUE(c.Barrier().ok());
          }
          EXPECT_EQ(x.Read().value_or(std::vector<float>{-1}), std::vector<float>{0});
        },
        absl::Seconds(2));
  }
  EXPECT_EQ(nccl_.aborted(), 0);
}

// The thread that waits on the host keeps nothing that others need to end it.
TEST_F(NcclRanksTest, EndForOtherThreadsWhileOneWaits) {
  OnDevices(
      2,
      [](Communicator& c) {
        if (c.rank() == 1) return absl::SleepFor(absl::Seconds(1));
        const Floats x(c, {1});
        std::thread other([&] {
          absl::SleepFor(absl::Milliseconds(100));
          c.Abort("the disk is full");
        });
        const auto sent = c.Start(Message(CollectiveKind::kSend, 1, x.data()));
        ASSERT_TRUE(sent.ok()) << sent.status();
        const absl::Time start = absl::Now();
        EXPECT_EQ((*sent)->Wait().message(), "rank 0 gave up: the disk is full");
        EXPECT_LT(absl::Now() - start, absl::Seconds(4));
        other.join();
      },
      absl::Seconds(5));
}

// The device keeps the error for code that waits for the results of the calls.
TEST_F(NcclRanksTest, LeaveWhatTheLastWaitSays) {
  OnDevices(2, [&](Communicator& c) {
    if (c.rank() == 0) cuda_.FailCall("SynchronizeStream", 1, FakeCuda::kInvalidValue);
  });
  int errors = 0;  // of the rank that has come to it first
  for (int i = 0; i < 2; ++i)
    errors += (*GetDeviceContext(Device::Cuda(i)))->Synchronize().ok() ? 0 : 1;
  EXPECT_EQ(errors, 1);
}

// A call that was never queued leaves no work on the device.
TEST_F(NcclRanksTest, LeaveTheDeviceAloneWhereNothingWasQueued) {
  OnDevices(2, [](Communicator& c) {
    const Floats x(c, {5});
    c.Abort("the disk is full");
    const auto read = x.Read();
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, std::vector<float>{5});
  });
}

TEST_F(NcclRanksTest, EndWhatOneAborts) {
  OnDevices(2, [](Communicator& c) {
    const Floats x(c, {1});
    c.Abort("the disk is full");
    EXPECT_THAT(std::string(c.AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).message()),
                ::testing::MatchesRegex("rank [01] gave up: the disk is full"));
  });
  EXPECT_EQ(nccl_.aborted(), 2);
}

// A rank gives up on the host's communicator, a program's `world`: the work on the other ranks'
// devices ends before the timeout.
TEST_F(NcclRanksTest, EndWhenAnotherRankGivesUp) {
  firn::testing::OnRanks(2, [](Communicator& host) {
    const auto ranks = DeviceRanks(host, Device::Cuda(host.rank()));
    ASSERT_TRUE(ranks.ok()) << ranks.status();
    if (host.rank() == 1) {
      absl::SleepFor(absl::Milliseconds(100));
      return host.Abort("the disk is full");
    }
    const Floats x(**ranks, {1});
    ASSERT_TRUE((*ranks)->AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).ok());
    const absl::Time start = absl::Now();
    EXPECT_EQ(x.Read().status().message(), "rank 1 gave up: the disk is full");
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));  // of 60 s
  });
  EXPECT_GE(nccl_.aborted(), 1);
}

TEST_F(NcclRanksTest, LeaveWhatIsDoneWhenAnotherRankGivesUp) {
  firn::testing::OnRanks(2, [](Communicator& host) {
    const auto ranks = DeviceRanks(host, Device::Cuda(host.rank()));
    ASSERT_TRUE(ranks.ok()) << ranks.status();
    const Floats x(**ranks, {1});
    ASSERT_TRUE((*ranks)->AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).ok());
    ASSERT_TRUE(x.Read().ok());
    ASSERT_TRUE(host.Barrier().ok());
    if (host.rank() == 1) return host.Abort("the disk is full");
    absl::SleepFor(absl::Milliseconds(500));  // until it is known here, too
    EXPECT_EQ(x.Read().value_or(std::vector<float>{-1}), std::vector<float>{2});
    EXPECT_EQ((*ranks)->AllReduce(x.data(), 1, Element::kF32, Reduction::kSum).message(),
              "rank 1 gave up: the disk is full");
  });
}

TEST_F(NcclRanksTest, SayOnAllThatOneHasNoDevice) {
  firn::testing::OnRanks(2, [](Communicator& host) {
    const auto ranks = DeviceRanks(host, Device::Cuda(host.rank() == 0 ? 0 : 7));
    ASSERT_FALSE(ranks.ok());
    EXPECT_NE(ranks.status().message().find("rank 1: "), absl::string_view::npos) << ranks.status();
    EXPECT_NE(ranks.status().message().find("cuda:7"), absl::string_view::npos) << ranks.status();
  });
}

TEST_F(NcclRanksTest, TakeOneDeviceARank) {
  OnDevices(2, [](Communicator&) {});
  firn::testing::OnRanks(2, [](Communicator& host) {
    ASSERT_TRUE(DeviceRanks(host, Device::Cuda(host.rank())).ok());
    EXPECT_EQ(DeviceRanks(host, Device::Cuda(2)).status().message(),
              absl::StrCat("rank ", host.rank(), " has exchanged memory of cuda:", host.rank(),
                           " with the others, now of cuda:2 (want one device a communicator)"));
    EXPECT_EQ(*DeviceRanks(host, Device::Cpu()), &host);
  });
}

// Uses NCCL of this machine, or the error that says what is missing.
TEST(NcclTest, IsFoundOrNamed) {
  const auto found = FindNccl();
  if (found.ok()) {
    int version = 0;
    EXPECT_EQ((*found)->get_version(&version), kNcclSuccess);
    EXPECT_GE(version, kOldestNccl);
    EXPECT_STREQ((*found)->get_error_string(kNcclSuccess), "no error");
    return;
  }
  EXPECT_NE(found.status().message().find("libnccl.so.2"), absl::string_view::npos);
}

}  // namespace
}  // namespace firn::comm
