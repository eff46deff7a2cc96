// Small files in CIFAR's form, and the errors for damaged ones.
#include "firn/io/data/cifar.h"

#include <filesystem>
#include <string>
#include <vector>

#include "firn/io/data/cifar_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

std::string Folder() {
  const std::string folder = TempPath("cifar");
  std::filesystem::create_directory(folder);
  return folder;
}

// A record of these labels whose planes are filled by r, g and b.
std::string Record(const std::string& labels, char r, char g, char b) {
  return labels + std::string(1024, r) + std::string(1024, g) + std::string(1024, b);
}

TEST(CifarTest, ReadsTrainingAndTestFiles) {
  for (int i = 1; i <= 5; ++i) {
    const std::string path = Folder() + "/data_batch_" + std::to_string(i) + ".bin";
    const std::string bytes = Record({static_cast<char>(i)}, 51, 102, 0);
    i == 3 ? WriteFile(path + ".gz", Gzip(bytes)) : WriteFile(path, bytes);
  }
  WriteFile(Folder() + "/test_batch.bin", Record("\x09", 1, 2, 3) + Record("\x02", 1, 2, 3));
  const DatasetPtr train = Cifar10(Folder(), {.mean = 0.2});
  ASSERT_EQ(train->size(), 5);
  const Sample s = train->Get(2);
  EXPECT_EQ(s.input.shape(), (Shape{3, 32, 32}));
  EXPECT_EQ(s.target.Item<int64_t>(), 3);
  EXPECT_FLOAT_EQ(s.input.ToVector<float>()[0], 51 / 255.f - 0.2f);
  EXPECT_FLOAT_EQ(s.input.ToVector<float>()[1024], 102 / 255.f - 0.2f);
  EXPECT_EQ(Cifar10(Folder(), {.train = false})->Get(0).target.Item<int64_t>(), 9);
}

TEST(CifarTest, HasFineAndCoarseLabels) {
  WriteFile(Folder() + "/train.bin", Record("\x13\x63", 0, 0, 0));
  EXPECT_EQ(Cifar100(Folder())->Get(0).target.Item<int64_t>(), 99);
  EXPECT_EQ(Cifar100(Folder(), {.coarse_labels = true})->Get(0).target.Item<int64_t>(), 19);
}

TEST(CifarTest, ReadsTheRecordsOfAFile) {
  WriteFile(Folder() + "/one.bin", Record("\x13\x63", 1, 2, 3) + Record("\x01\x02", 4, 5, 6));
  const CifarRecords records = *TryReadCifarRecords(Folder() + "/one.bin", 2);
  EXPECT_EQ(records.labels.ToVector<int>(), (std::vector<int>{99, 2}));
  EXPECT_EQ(records.images.shape(), (Shape{2, 3, 32, 32}));
  EXPECT_EQ(records.images.ToVector<int>()[3 * 1024], 4);
  EXPECT_THAT(std::string(TryReadCifarRecords(Folder() + "/one.bin", 1).status().message()),
              HasSubstr("expected records of 3073 bytes"));
  EXPECT_FALSE(TryReadCifarRecords(Folder() + "/one.bin", 3).ok());
}

TEST(CifarTest, NamesWhatIsWrong) {
  const auto error = [](const std::string& bytes) {
    WriteFile(Folder() + "/test_batch.bin", bytes);
    return std::string(TryCifar10(Folder(), {.train = false}).status().message());
  };
  EXPECT_THAT(error(""), HasSubstr("expected records of 3073 bytes"));
  EXPECT_THAT(
      error(Record("\x01", 0, 0, 0) + "abc"),
      HasSubstr("test_batch.bin: offset 3073, record: expected records of 3073 bytes, got 3"));
  EXPECT_THAT(error(Record("\x01", 0, 0, 0) + Record("\x0a", 0, 0, 0)),
              HasSubstr("offset 3073, label: expected one below 10, got 10"));
  EXPECT_THAT(firn::testing::ErrorOf([] { Cifar100(TempPath("nowhere")); }),
              HasSubstr("nowhere/train.bin"));
  EXPECT_THAT(firn::testing::ErrorOf([] { Cifar10(Folder(), {.coarse_labels = true}); }),
              HasSubstr("coarse_labels"));
  EXPECT_EQ(TryCifar100(TempPath("nowhere")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace firn::io
