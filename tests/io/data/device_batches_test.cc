// Order between the copy stream and the device's own. On the stand-in a stream runs only as far as
// something waits for it, so a wait that is missing shows as wrong numbers.
#include "firn/io/data/internal/device_batches.h"

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::CudaDeviceContext;
using firn::inner::internal::CudaLaunch;

// A "kernel" that copies one number.
struct Move {
  const int64_t* from;
  int64_t* to;
};

CudaLaunch Moving(const Move& move) {
  return {.name = "move",
          .kernel = &move,
          .blocks = 1,
          .threads = 32,
          .shared_bytes = 0,
          .argument = &move,
          .argument_bytes = sizeof(move),
          .on_host = [](const void* argument) {
            const Move& m = *static_cast<const Move*>(argument);
            *m.to = *m.from;
          }};
}

class DeviceBatchesTest : public ::testing::Test {
 protected:
  static const int64_t* DataOf(const Tensor& t) {
    return static_cast<const int64_t*>(static_cast<const void*>(t.impl()->data));
  }
  Sample Upload(int64_t value) { return batches_->Upload({FromVector<int64_t>({value}), {}}); }
  // Queues a kernel on the device's stream that reads the batch.
  void Read(const Sample& batch, int64_t* to) {
    ASSERT_TRUE(context_.Launch(Moving({DataOf(batch.input), to}), context_.stream()).ok());
  }
  int64_t Fetch(const int64_t* from) {
    int64_t value = 0;
    EXPECT_TRUE(context_.CopyToHost(&value, from, sizeof(value)).ok());
    return value;
  }

  FakeCuda cuda_;
  firn::inner::internal::ScopedCudaApi scope_{cuda_};
  CudaDeviceContext& context_ = **firn::inner::internal::CudaDeviceOf(Device::Cuda(0));
  std::shared_ptr<DeviceBatches> batches_ = *DeviceBatches::Make(Device::Cuda(0));
  const Block result_ = *context_.allocator().Allocate(64, AllocTag::kOther);
  int64_t* const read_ = static_cast<int64_t*>(result_.data);
};

TEST_F(DeviceBatchesTest, CopiesRunBesideTheDevicesStreamUntilTheyAreHandedOut) {
  const Sample batch = Upload(7);
  EXPECT_FALSE(batch.target.defined());
  EXPECT_NE(Fetch(DataOf(batch.input)), 7) << "the copy is queued on another stream";
  batches_->HandOut();
  EXPECT_EQ(Fetch(DataOf(batch.input)), 7);
}

TEST_F(DeviceBatchesTest, CopiesDoNotWaitForWhatIsQueuedOnTheDevicesStream) {
  for (int i = 0; i < 3; ++i) static_cast<void>(Upload(i));  // all pieces there are
  ASSERT_TRUE(context_.Synchronize().ok());
  const Sample batch = Upload(5);
  Read(batch, read_);  // queued before it is handed out: too early
  ASSERT_TRUE(batches_->stream().Synchronize().ok());
  const int64_t* const there = DataOf(batch.input);
  EXPECT_EQ(*there, 5) << "the stand-in's device memory";
  EXPECT_NE(*read_, 5) << "and the kernel has not run";
}

TEST_F(DeviceBatchesTest, MemoryIsWrittenAgainWhenItsReadersAreDone) {
  constexpr int kBatches = 8;
  for (int64_t i = 0; i < kBatches; ++i) {
    const Sample batch = Upload(100 + i);
    batches_->HandOut();
    Read(batch, read_ + i);
  }
  ASSERT_TRUE(batches_->stream().Synchronize().ok());  // as far ahead as copies may run
  for (int64_t i = 0; i < kBatches; ++i) EXPECT_EQ(Fetch(read_ + i), 100 + i);
}

TEST_F(DeviceBatchesTest, ThreePiecesTakeTurnsWhileReadersWait) {
  std::vector<const int64_t*> places;
  for (int64_t i = 0; i < 5; ++i) {
    const Sample batch = Upload(i);
    batches_->HandOut();
    Read(batch, read_ + i);
    places.push_back(DataOf(batch.input));
  }
  EXPECT_EQ(std::set<const int64_t*>(places.begin(), places.begin() + 3).size(), 3u);
  EXPECT_EQ(places[3], places[0]);
  EXPECT_EQ(places[4], places[1]);
}

TEST_F(DeviceBatchesTest, NewMemoryIsWrittenWhenItsFormerUsersAreDone) {
  const Block former = *context_.allocator().Allocate(sizeof(int64_t), AllocTag::kOther);
  const int64_t one = 1;
  ASSERT_TRUE(context_.CopyFromHost(former.data, &one, sizeof(one)).ok());
  const Move move{static_cast<const int64_t*>(former.data), read_};
  ASSERT_TRUE(context_.Launch(Moving(move), context_.stream()).ok());
  context_.allocator().Free(former);
  const Sample batch = Upload(2);
  ASSERT_EQ(DataOf(batch.input), move.from) << "the allocator hands the same place out";
  ASSERT_TRUE(batches_->stream().Synchronize().ok());
  EXPECT_EQ(Fetch(read_), 1);
}

TEST_F(DeviceBatchesTest, MemoryGoesBackBehindCopiesThatNobodyTook) {
  const Sample batch = Upload(3);
  const void* const place = DataOf(batch.input);
  const_cast<Sample&>(batch) = {};
  batches_.reset();
  const Block next = *context_.allocator().Allocate(sizeof(int64_t), AllocTag::kOther);
  ASSERT_EQ(next.data, place);
  const int64_t four = 4;
  ASSERT_TRUE(context_.CopyFromHost(next.data, &four, sizeof(four)).ok());
  ASSERT_TRUE(context_.Synchronize().ok());
  EXPECT_EQ(Fetch(static_cast<const int64_t*>(next.data)), 4) << "not the late copy's 3";
}

// Another thread may let a batch go while a graph of the device's stream is recorded.
TEST_F(DeviceBatchesTest, BatchesMayGoWhileTheDevicesStreamIsRecorded) {
  Sample batches[3];
  for (int i = 0; i < 3; ++i) batches[i] = Upload(i);
  batches_->HandOut();
  const auto recording = context_.Record([&] {
    for (Sample& batch : batches) batch = {};
    return absl::OkStatus();
  });
  EXPECT_TRUE(recording.ok()) << recording.status();
  const Sample next = Upload(9);
  batches_->HandOut();
  EXPECT_EQ(Fetch(DataOf(next.input)), 9);
}

TEST_F(DeviceBatchesTest, SizesThatChangeDoNotPileUp) {
  for (int64_t n = 1; n <= 50; ++n) {
    static_cast<void>(
        batches_->Upload({FromVector(std::vector<int64_t>(static_cast<size_t>(n))), {}}));
  }
  EXPECT_LE(context_.allocator().stats().live_bytes, 64 + 512 * 10);
}

TEST_F(DeviceBatchesTest, WhatIsThereStaysWhereItIs) {
  const Tensor there = FromVector<int64_t>({1, 2}).To(Device::Cuda(0));
  EXPECT_TRUE(batches_->Upload({there, {}}).input.Is(there));
}

TEST_F(DeviceBatchesTest, CopiesEveryTensorOfASample) {
  const Sample batch = batches_->Upload(Sample::Named({{"image", FromVector<int64_t>({1})},
                                                       {"boxes", FromVector<int64_t>({2})},
                                                       {"labels", FromVector<int64_t>({3})}}));
  batches_->HandOut();
  EXPECT_EQ(Fetch(DataOf(batch["image"])), 1);
  EXPECT_EQ(Fetch(DataOf(batch["boxes"])), 2);
  EXPECT_EQ(Fetch(DataOf(batch["labels"])), 3);
}

}  // namespace
}  // namespace firn::io::internal
