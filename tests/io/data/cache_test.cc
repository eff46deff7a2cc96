// Samples that are made once, and are the same as those that are made anew.
#include "firn/io/data/cache.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "firn/io/data/image_folder.h"
#include "firn/io/data/rows.h"
#include "firn/io/image/image.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

// Sample i is f32 [2] of i, class i; `made` counts how many were made.
DatasetPtr Counted(int64_t n, std::atomic<int>* made) {
  return FromFunction(n, [made](int64_t i) {
    ++*made;
    return Sample{Full({2}, static_cast<double>(i)), FromVector(std::vector<int64_t>{i}, {})};
  });
}

void ExpectSame(const DatasetPtr& a, const DatasetPtr& b) {
  ASSERT_EQ(a->size(), b->size());
  for (int64_t i = 0; i < a->size(); ++i) {
    EXPECT_TRUE(a->Get(i).input.Equals(b->Get(i).input));
    EXPECT_TRUE(a->Get(i).target.Equals(b->Get(i).target));
  }
}

TEST(MemoryCacheTest, MakesEachSampleOnce) {
  std::atomic<int> made = 0, unused = 0;
  const DatasetPtr cached = MemoryCache(Counted(5, &made));
  EXPECT_EQ(made, 0);
  ExpectSame(cached, Counted(5, &unused));
  EXPECT_EQ(made, 5);
  EXPECT_THAT(cached->GetBatch({4, 0, 4}).target.ToVector<int64_t>(), ElementsAre(4, 0, 4));
  EXPECT_EQ(made, 5);
  EXPECT_THAT(ErrorOf([&] { cached->Get(5); }), HasSubstr("outside [0, 5)"));
}

TEST(MemoryCacheTest, KeepsAsMuchAsItMay) {
  std::atomic<int> made = 0;
  const DatasetPtr cached = MemoryCache(Counted(5, &made), {.max_bytes = 2 * 16});
  for (int pass = 0; pass < 3; ++pass) {
    for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(cached->Get(i).target.Item<int64_t>(), i);
  }
  EXPECT_EQ(made, 5 + 3 + 3);
  EXPECT_THAT(ErrorOf([&] { MemoryCache(Counted(5, &made), {.max_bytes = -1}); }),
              HasSubstr("max_bytes is -1"));
  EXPECT_THAT(ErrorOf([] { MemoryCache(nullptr); }), HasSubstr("the dataset is null"));
}

TEST(MemoryCacheTest, WhoGetsASampleMayChangeIt) {
  const DatasetPtr cached = MemoryCache(FromFunction(1, [](int64_t) {
    return Sample{Ones({2}), {}};
  }));
  Tensor mine = cached->Get(0).input;
  mine.mutable_host_view<float>()[0] = 7;
  EXPECT_THAT(cached->Get(0).input.ToVector<float>(), ElementsAre(1, 1));
  EXPECT_FALSE(cached->Get(0).target.defined());
}

TEST(MemoryCacheTest, ErrorsNameSamplesAsTheDatasetDoes) {
  const std::string folder = TempPath("named_cache");
  std::filesystem::create_directories(folder + "/a");
  WriteImage(folder + "/a/1.png", Ones({1, 2, 2}, DType::kU8));
  WriteImage(folder + "/a/2.png", Ones({1, 3, 3}, DType::kU8));
  const DatasetPtr images = ImageFolder(folder), cached = MemoryCache(images);
  EXPECT_EQ(cached->NameOf(1), images->NameOf(1));
  const std::string error = ErrorOf([&] { cached->GetBatch({0, 1}); });
  EXPECT_THAT(error, HasSubstr("a/2.png is u8"));
  EXPECT_EQ(error, ErrorOf([&] { images->GetBatch({0, 1}); }));
}

TEST(MemoryCacheTest, ServesThreads) {
  std::atomic<int> made = 0;
  const DatasetPtr cached = MemoryCache(Counted(200, &made));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 200; ++i) {
        const int64_t at = t % 2 == 0 ? i : 199 - i;
        EXPECT_EQ(cached->Get(at).target.Item<int64_t>(), at);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(made, 200);
}

TEST(FileCacheTest, WritesOnceAndReadsBack) {
  const std::string folder = TempPath("file_cache");
  for (const auto format : {NnablaCacheFormat::kNpy, NnablaCacheFormat::kHdf5}) {
    std::filesystem::remove_all(folder);
    std::atomic<int> made = 0, unused = 0;
    const DatasetPtr cached =
        FileCache(Counted(120, &made), folder, {.format = format, .threads = 2});
    const int once = made;
    EXPECT_GE(once, 120);
    ExpectSame(cached, Counted(120, &unused));
    EXPECT_EQ(made, once);
  }
}

TEST(FileCacheTest, KeepsAllTensorsUnderTheirNames) {
  const Tensor rows = FromVector<float>({0, 1, 2, 3}, {2, 2});
  const DatasetPtr three = FromTensors({{"image", rows}, {"boxes", 2 * rows}, {"mask", -rows}});
  for (const bool reuse : {false, true}) {
    const DatasetPtr cached = FileCache(three, TempPath("three"), {.reuse = reuse});
    const auto [image, boxes, mask] = cached->GetBatch({0, 1}).As<3>();
    EXPECT_TRUE(image.Equals(rows));
    EXPECT_TRUE(boxes.Equals(2 * rows));
    EXPECT_TRUE(mask.Equals(-rows));
    EXPECT_EQ(cached->Get(0).variables(), three->variables());
  }
  EXPECT_THAT(ErrorOf([&] {
                FileCache(FromTensors({{"image", rows}, {"sound", rows}}), TempPath("three"),
                          {.reuse = true});
              }),
              HasSubstr("expected a variable called sound, got image, boxes, mask"));
  const DatasetPtr kept = MemoryCache(three);
  for (int again = 0; again < 2; ++again)
    EXPECT_TRUE(kept->Get(1)["mask"].Equals(-rows.Select(0, 1)));
  EXPECT_EQ(kept->variables(), three->variables());
}

TEST(MemoryCacheTest, CountsTheBytesOfAllTensors) {
  int made = 0;
  const DatasetPtr counted = FromFunction(1, [&](int64_t) {
    ++made;
    return Sample::Named({{"a", Ones({2})}, {"b", Ones({2})}, {"c", Ones({2})}});
  });
  const DatasetPtr small = MemoryCache(counted, {.max_bytes = 23});
  for (int again = 0; again < 3; ++again) small->Get(0);
  EXPECT_EQ(made, 3);
  const DatasetPtr enough = MemoryCache(counted, {.max_bytes = 24});
  for (int again = 0; again < 3; ++again) enough->Get(0);
  EXPECT_EQ(made, 4);
}

// This holds even if the first two have the names that tensors without names get.
TEST(FileCacheTest, KeepsWhatComesBehindAnInputAndATarget) {
  const Tensor rows = FromVector<float>({0, 1, 2, 3}, {2, 2});
  const DatasetPtr named = FromTensors({{"input", rows}, {"target", -rows}, {"weight", 2 * rows}});
  const DatasetPtr unnamed = FromFunction(2, [&](int64_t i) {
    return Sample{rows.Select(0, i), -rows.Select(0, i), {2 * rows.Select(0, i)}};
  });
  for (const DatasetPtr& three : {named, unnamed}) {
    const DatasetPtr cached = FileCache(three, TempPath("behind"));
    EXPECT_EQ(cached->Get(0).variables(), three->Get(0).variables());
    EXPECT_TRUE(cached->GetBatch({0, 1})[2].Equals(2 * rows));
  }
}

TEST(FileCacheTest, KeepsTypesAndSamplesWithoutTargets) {
  const Tensor pixels = FromVector(std::vector<uint8_t>{1, 2, 3, 255}, {2, 2});
  const DatasetPtr cached = FileCache(FromTensors(pixels), TempPath("types"));
  EXPECT_TRUE(cached->GetBatch({0, 1}).input.Equals(pixels));
  EXPECT_FALSE(cached->Get(0).target.defined());
}

TEST(FileCacheTest, Bf16BecomesF32WhereTheFilesAreNpy) {
  const DatasetPtr samples = FromTensors(Ones({2, 3}, DType::kBF16));
  EXPECT_EQ(FileCache(samples, TempPath("bf16"))->Get(0).input.dtype(), DType::kF32);
  const DatasetPtr kept =
      FileCache(samples, TempPath("bf16_h5"), {.format = NnablaCacheFormat::kHdf5});
  EXPECT_EQ(kept->Get(0).input.dtype(), DType::kBF16);
}

TEST(FileCacheTest, ReusesWhenAskedTo) {
  const std::string folder = TempPath("reused");
  std::filesystem::remove_all(folder);
  std::atomic<int> made = 0;
  FileCache(Counted(5, &made), folder, {.reuse = true});
  const int once = made;
  const DatasetPtr again = FileCache(Counted(5, &made), folder, {.reuse = true});
  EXPECT_EQ(made, once + 1);  // the first one, which says what its tensors are called
  EXPECT_EQ(again->Get(3).target.Item<int64_t>(), 3);
  EXPECT_THAT(ErrorOf([&] { FileCache(Counted(6, &made), folder, {.reuse = true}); }),
              HasSubstr("expected a cache of 6 rows to reuse, got 5"));
  made = 0;
  EXPECT_EQ(FileCache(Counted(6, &made), folder)->size(), 6);  // written anew
  EXPECT_GE(made, 6);
}

}  // namespace
}  // namespace firn::io
