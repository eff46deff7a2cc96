// Streams, events, copies and errors of CUDA devices, on the stand-in runtime.
#include "firn/device/internal/cuda_context.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_status.h"
#include "firn/device/usable_device.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"

namespace firn {
namespace {

using inner::internal::CudaLaunch;

// A "kernel" that writes one number.
struct Store {
  int* to;
  int value;
};

CudaLaunch Storing(const Store& store) {
  return {.name = "store",
          .kernel = &store,
          .blocks = 1,
          .threads = 32,
          .shared_bytes = 0,
          .argument = &store,
          .argument_bytes = sizeof(store),
          .on_host = [](const void* argument) {
            const Store& s = *static_cast<const Store*>(argument);
            *s.to = s.value;
          }};
}

class CudaContextTest : public ::testing::Test {
 protected:
  inner::internal::CudaDeviceContext& Context(int index = 0) {
    const auto context = inner::internal::CudaDeviceOf(Device::Cuda(index));
    EXPECT_TRUE(context.ok()) << context.status();
    return **context;
  }
  int* NewInt(int index = 0) {
    return static_cast<int*>(
        Context(index).allocator().Allocate(sizeof(int), AllocTag::kOther)->data);
  }
  int Read(const int* at, int index = 0) {
    int value = 0;
    EXPECT_TRUE(Context(index).CopyToHost(&value, at, sizeof(value)).ok());
    return value;
  }

  FakeCuda cuda_{2};
  inner::internal::ScopedCudaApi scope_{cuda_};
};

TEST_F(CudaContextTest, CountsTheDevicesOfTheRuntime) {
  EXPECT_TRUE(CudaAvailable());
  EXPECT_EQ(CudaDeviceCount(), 2);
  EXPECT_EQ(CudaDeviceDescription(1), "a stand-in");
  EXPECT_EQ(CudaDeviceDescription(2), "");
  EXPECT_EQ(CudaDeviceDescription(-1), "");
  EXPECT_EQ(CudaUnavailableReason(), "");
  EXPECT_EQ(CudaContext(2).status().message(),
            "device cuda:2 cannot be used: there are 2 CUDA devices");
  EXPECT_EQ(*CudaContext(1), *CudaContext(1)) << "one context a device";
}

TEST(CudaDevicesTest, TellWhyThereAreNone) {
  FakeCuda cuda(1);
  cuda.FailCall("CountDevices", 1, FakeCuda::kInvalidValue);
  const inner::internal::ScopedCudaApi scope(cuda);
  EXPECT_FALSE(CudaAvailable());
  EXPECT_EQ(CudaContext(0).status().message(),
            "device cuda:0 cannot be used: cudaErrorInvalidValue: invalid argument");
  EXPECT_EQ(CudaContext(0).status().code(), absl::StatusCode::kUnavailable);
}

TEST(CudaDevicesTest, AProgramThatWantsOneRunsOnTheCpuAndSaysSoOnce) {
  FakeCuda cuda(0);
  const inner::internal::ScopedCudaApi scope(cuda);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(*UsableDevice(Device::Cuda(0)), Device::Cpu());
  EXPECT_EQ(*UsableDevice(Device::Cuda(0)), Device::Cpu());
  EXPECT_EQ(*UsableDevice(Device::Cpu()), Device::Cpu());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "firn: running on the CPU, not on cuda:0: there is no CUDA device\n");
}

TEST_F(CudaContextTest, UsesADeviceThatIsThere) {
  EXPECT_EQ(*UsableDevice(Device::Cuda(1)), Device::Cuda(1));
  EXPECT_EQ(UsableDevice(Device::Cuda(2)).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(CudaContextTest, ReadsTheTextOfADeviceFlag) {
  EXPECT_EQ(*UsableDevice("cuda:1"), Device::Cuda(1));
  EXPECT_EQ(*UsableDevice("cpu"), Device::Cpu());
  EXPECT_EQ(UsableDevice("cuda:2").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(UsableDevice("gpu").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CudaContextTest, CopiesThereAndBackInPieces) {
  std::vector<int32_t> sent(5'000'000), got(sent.size());  // five buffers' worth
  std::iota(sent.begin(), sent.end(), 0);
  const size_t bytes = sent.size() * sizeof(int32_t);
  void* const on_device = Context().allocator().Allocate(bytes, AllocTag::kOther)->data;
  ASSERT_TRUE(Context().CopyFromHost(on_device, sent.data(), bytes).ok());
  const std::vector<int32_t> before = sent;
  std::fill(sent.begin(), sent.end(), -1);  // the caller's again
  ASSERT_TRUE(Context().CopyToHost(got.data(), on_device, bytes).ok());
  EXPECT_EQ(got, before);
}

TEST_F(CudaContextTest, CopiesToTheDeviceDoNotWait) {
  int* const x = NewInt();
  const int64_t before = CudaSynchronizations();
  const int one = 1;
  ASSERT_TRUE(Context().CopyFromHost(x, &one, sizeof(one)).ok());
  EXPECT_EQ(CudaSynchronizations(), before);
  EXPECT_EQ(Read(x), 1);
  EXPECT_EQ(CudaSynchronizations(), before + 1) << "reading is what waits";
}

TEST_F(CudaContextTest, SmallCopiesShareABufferAndNeverWait) {
  int* const x = NewInt();
  const int pinned = cuda_.calls("MallocPinned");  // not of copies
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(Context().CopyFromHost(x, &i, sizeof(i)).ok());
  }
  EXPECT_EQ(cuda_.calls("SynchronizeEvent"), 0);
  EXPECT_EQ(cuda_.calls("MallocPinned"), pinned + 1);
  EXPECT_EQ(Read(x), 999);
}

TEST_F(CudaContextTest, LaunchesInOrder) {
  int* const x = NewInt();
  ASSERT_TRUE(Context().Launch(Storing({x, 1}), Context().stream()).ok());
  ASSERT_TRUE(Context().Launch(Storing({x, 2}), Context().stream()).ok());
  EXPECT_EQ(Read(x), 2);
}

TEST_F(CudaContextTest, EventsOrderStreams) {
  int* const x = NewInt();
  const auto other = *Context().NewStream();
  const auto event = *Context().NewEvent();
  ASSERT_TRUE(Context().Launch(Storing({x, 1}), *other).ok());
  ASSERT_TRUE(event->Record(*other).ok());
  EXPECT_NE(Read(x), 1) << "the other stream was not waited for";
  EXPECT_FALSE(*event->Done());
  ASSERT_TRUE(Context().stream().Wait(*event).ok());
  EXPECT_EQ(Read(x), 1);
  EXPECT_TRUE(*event->Done());
}

TEST_F(CudaContextTest, EventsThatWereNeverRecordedAreDone) {
  const auto event = *Context().NewEvent();
  EXPECT_TRUE(*event->Done());
  EXPECT_TRUE(event->Synchronize().ok());
  EXPECT_TRUE(Context().stream().Wait(*event).ok());
}

TEST_F(CudaContextTest, EventsMeasureTime) {
  const auto start = *Context().NewEvent(), end = *Context().NewEvent();
  EXPECT_EQ(end->MillisecondsSince(*start).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(start->Record(Context().stream()).ok());
  ASSERT_TRUE(end->Record(Context().stream()).ok());
  EXPECT_EQ(end->MillisecondsSince(*start).status().code(), absl::StatusCode::kFailedPrecondition)
      << "not reached yet";
  ASSERT_TRUE(end->Synchronize().ok());
  EXPECT_EQ(*end->MillisecondsSince(*start), 1.0);
  const auto elsewhere = *Context(1).NewEvent();
  EXPECT_EQ(elsewhere->MillisecondsSince(*start).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CudaContextTest, EventsRefuseStreamsOfOtherDevices) {
  const auto event = *Context(0).NewEvent();
  EXPECT_EQ(event->Record(Context(1).stream()).message(),
            "event: one of cuda:0 cannot be recorded on a stream of cuda:1");
}

TEST_F(CudaContextTest, CopiesBetweenDevicesInOrderOfBoth) {
  int* const x = NewInt(0);
  int* const y = NewInt(1);
  ASSERT_TRUE(Context(0).Launch(Storing({x, 7}), Context(0).stream()).ok());
  ASSERT_TRUE(Context(1).CopyFromDevice(y, Context(0), x, sizeof(int)).ok());
  ASSERT_TRUE(Context(0).Launch(Storing({x, 8}), Context(0).stream()).ok());
  EXPECT_EQ(Read(x, 0), 8) << "the overwriting came after the copy";
  EXPECT_EQ(Read(y, 1), 7);
}

TEST_F(CudaContextTest, RecordsWorkAndDoesItWhenItIsLaunched) {
  int* const x = NewInt();
  const int zero = 0;
  ASSERT_TRUE(Context().CopyFromHost(x, &zero, sizeof(zero)).ok());
  const auto recording = Context().Record([&] {
    return Context().Launch(Storing({x, 5}), Context().stream());
  });
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(Read(x), 0);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(Context().CopyFromHost(x, &zero, sizeof(zero)).ok());
    ASSERT_TRUE((*recording)->Launch(Context().stream()).ok());
    EXPECT_EQ(Read(x), 5);
  }
  EXPECT_EQ((*recording)->Launch(Context(1).stream()).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CudaContextTest, ARecordingTakesInStreamsThatWaitForItsEvents) {
  int* const x = NewInt();
  int* const y = NewInt();
  const int zero = 0;
  const auto other = *Context().NewStream();
  const auto fork = *Context().NewEvent(), join = *Context().NewEvent();
  const auto queue = [&](bool joined) {
    Stream& main = Context().stream();
    absl::Status status = Context().Launch(Storing({x, 1}), main);
    status.Update(fork->Record(main));
    status.Update(other->Wait(*fork));
    status.Update(Context().Launch(Storing({x, 2}), *other));
    status.Update(Context().Launch(Storing({y, 3}), *other));
    status.Update(join->Record(*other));
    if (joined) status.Update(main.Wait(*join));
    return status;
  };
  const auto recording = Context().Record([&] { return queue(true); });
  ASSERT_TRUE(recording.ok()) << recording.status();
  for (const auto others : {FakeCuda::Others::kLate, FakeCuda::Others::kEarly}) {
    cuda_.set_others(others);
    ASSERT_TRUE(Context().CopyFromHost(x, &zero, sizeof(zero)).ok());
    ASSERT_TRUE(Context().CopyFromHost(y, &zero, sizeof(zero)).ok());
    EXPECT_EQ(Read(x), 0) << "recorded, not done";
    ASSERT_TRUE((*recording)->Launch(Context().stream()).ok());
    EXPECT_EQ(Read(x), 2);
    EXPECT_EQ(Read(y), 3);
  }
  const auto unjoined = Context().Record([&] { return queue(false); });
  EXPECT_NE(unjoined.status().message().find("Unjoined"), std::string::npos) << unjoined.status();
  ASSERT_TRUE(queue(true).ok()) << "both streams are as before";
  EXPECT_EQ(Read(y), 3);
}

TEST_F(CudaContextTest, ARecordingWaitsForNoWorkOutsideOfIt) {
  const auto other = *Context().NewStream();
  const auto event = *Context().NewEvent();
  ASSERT_TRUE(event->Record(*other).ok());
  const auto recording = Context().Record([&] { return Context().stream().Wait(*event); });
  EXPECT_NE(recording.status().message().find("Isolation"), std::string::npos)
      << recording.status();
}

TEST_F(CudaContextTest, TheStandInRunsOtherStreamsLateOrEarly) {
  int* const x = NewInt();
  const auto other = *Context().NewStream();
  for (const bool early : {false, true}) {
    cuda_.set_others(early ? FakeCuda::Others::kEarly : FakeCuda::Others::kLate);
    ASSERT_TRUE(Context().Launch(Storing({x, 1}), Context().stream()).ok());
    ASSERT_TRUE(Context().Launch(Storing({x, 2}), *other).ok());
    EXPECT_EQ(Read(x), 1) << "nothing orders the two";
    ASSERT_TRUE(other->Synchronize().ok());
    EXPECT_EQ(Read(x), early ? 1 : 2);
  }
}

TEST_F(CudaContextTest, AFailedRecordingLeavesTheStreamAsItWas) {
  int* const x = NewInt();
  const auto store = [&] { return Context().Launch(Storing({x, 5}), Context().stream()); };
  EXPECT_EQ(Context().Record([] { return absl::AbortedError("no"); }).status().message(), "no");
  cuda_.FailCall("EndRecording", 1, FakeCuda::kInvalidValue);
  EXPECT_FALSE(Context().Record(store).ok());
  ASSERT_TRUE(store().ok());
  EXPECT_EQ(Read(x), 5);
}

TEST_F(CudaContextTest, FailuresNameTheCallAndTheText) {
  cuda_.FailCall("Launch", 1, FakeCuda::kInvalidValue);
  int* const x = NewInt();
  const absl::Status status = Context().Launch(Storing({x, 1}), Context().stream());
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "cudaLaunchKernel failed: cudaErrorInvalidValue: invalid argument");
  cuda_.FailCall("MallocPinned", 1, FakeCuda::kOutOfMemory);
  EXPECT_EQ(Context().CopyFromHost(x, &status, 4).code(), absl::StatusCode::kResourceExhausted);
  const int three = 3;
  EXPECT_TRUE(Context().CopyFromHost(x, &three, sizeof(three)).ok()) << "and it works again";
  EXPECT_EQ(Read(x), 3);
}

// A "kernel" that finds an index outside its bounds.
struct Fault {
  inner::internal::CudaIndexFault* record;
  int64_t index;
};

CudaLaunch Faulting(const Fault& fault) {
  return {.name = "fault",
          .kernel = &fault,
          .blocks = 1,
          .threads = 32,
          .shared_bytes = 0,
          .argument = &fault,
          .argument_bytes = sizeof(fault),
          .on_host = [](const void* argument) {
            static constexpr inner::internal::CudaIndexSite kSite = {"look_up", "indices"};
            const Fault& f = *static_cast<const Fault*>(argument);
            if (f.record->claimed == 0) *f.record = {1, 1, &kSite, f.index, 0, 4};
          }};
}

TEST_F(CudaContextTest, AnIndexOutsideItsBoundsIsAnErrorWhereTheProgramWaits) {
  int* const x = NewInt();
  const auto event = *Context().NewEvent();
  int value = 0;
  const std::vector<std::function<absl::Status()>> waits = {
      [&] { return Context().CopyToHost(&value, x, sizeof(value)); },
      [&] { return Context().Synchronize(); }, [&] { return Context().stream().Synchronize(); },
      [&] { return event->Synchronize(); }};
  for (const auto& wait : waits) {
    const int64_t before = CudaSynchronizations();
    ASSERT_TRUE(Context().Launch(Storing({x, 3}), Context().stream()).ok());
    for (const int64_t index : {-1, 9}) {
      ASSERT_TRUE(
          Context().Launch(Faulting({Context().index_fault(), index}), Context().stream()).ok());
    }
    ASSERT_TRUE(event->Record(Context().stream()).ok());
    EXPECT_EQ(CudaSynchronizations(), before);
    const absl::Status status = wait();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(status.message(),
              "look_up: indices -1 is outside [0, 4); it was left out on cuda:0, in work queued "
              "before");
    EXPECT_EQ(CudaSynchronizations(), before + 1);
    EXPECT_TRUE(wait().ok()) << "said once";
  }
  EXPECT_EQ(value, 3) << "the bytes arrive all the same";
}

TEST_F(CudaContextTest, AnIndexFaultIsOfItsDeviceAlone) {
  ASSERT_TRUE(Context(1).Launch(Faulting({Context(1).index_fault(), 7}), Context(1).stream()).ok());
  EXPECT_TRUE(Context(0).Synchronize().ok());
  EXPECT_EQ(Context(1).Synchronize().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(CudaContextTest, ALostContextEndsTheProcessAndNamesTheLastKernels) {
  int* const x = NewInt();
  ASSERT_TRUE(Context().Launch(Storing({x, 1}), Context().stream()).ok());
  cuda_.FailCall("SynchronizeDevice", 1, FakeCuda::kIllegalAddress);
  EXPECT_DEATH(static_cast<void>(Context().Synchronize()),
               "cudaDeviceSynchronize failed: cudaErrorIllegalAddress.*device is lost.*store");
}

TEST(CudaContextsTest, GiveEverythingBack) {
  FakeCuda cuda(1);
  {
    const inner::internal::ScopedCudaApi scope(cuda);
    const auto context = CudaContext(0);
    ASSERT_TRUE(context.ok());
    const Block block = *(*context)->allocator().Allocate(100, AllocTag::kOther);
    const int one = 1;
    ASSERT_TRUE((*context)->CopyFromHost(block.data, &one, sizeof(one)).ok());
    (*context)->allocator().Free(block);
  }
  EXPECT_EQ(cuda.device_bytes(), 0u);
  EXPECT_EQ(cuda.pinned_bytes(), 0u);
  EXPECT_EQ(cuda.live_events(), 0);
}

}  // namespace
}  // namespace firn
