// Rows of .npy files that are read when asked for, also of one larger than memory.
#include "firn/io/data/npy_dataset.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using firn::testing::ErrorOf;
using firn::testing::StatusOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& name, const Tensor& tensor) {
  const std::string path = TempPath(name);
  WriteNpy(path, tensor);
  return path;
}

// A .npy header of 128 bytes.
std::string Header(const std::string& text) {
  std::string header = "\x93NUMPY";
  header += std::string("\1\0", 2) + std::string("\x76\0", 2) + text;
  header.resize(127, ' ');
  return header + "\n";
}

TEST(NpyDatasetTest, ReadsRowsAndBatches) {
  const std::string x = Write("x.npy", FromVector(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}));
  const std::string y = Write("y.npy", FromVector(std::vector<int64_t>{7, 8, 9}));
  const DatasetPtr data = NpyDataset(x, {.target = y});
  ASSERT_EQ(data->size(), 3);
  EXPECT_THAT(data->Get(1).input.ToVector<float>(), ElementsAre(3, 4));
  EXPECT_EQ(data->Get(2).target.Item<int64_t>(), 9);
  EXPECT_EQ(data->Get(2).target.shape(), Shape());
  const Sample batch = data->GetBatch({2, 0});
  EXPECT_EQ(batch.input.shape(), (Shape{2, 2}));
  EXPECT_THAT(batch.input.ToVector<float>(), ElementsAre(5, 6, 1, 2));
  EXPECT_THAT(batch.target.ToVector<int64_t>(), ElementsAre(9, 7));
  EXPECT_FALSE(NpyDataset(x)->Get(0).target.defined());
  EXPECT_EQ(data->NameOf(2), x + ", row 2");
  EXPECT_THAT(ErrorOf([&] { data->Get(3); }), HasSubstr("index 3 is outside [0, 3)"));
  EXPECT_THAT(ErrorOf([&] { data->GetBatch({0, -1}); }), HasSubstr("index -1"));
}

TEST(NpyDatasetTest, WidensAndSwapsElements) {
  const std::string path = TempPath("big_endian.npy");
  WriteFile(path, Header("{'descr': '>u2', 'fortran_order': False, 'shape': (2, 2), }") +
                      std::string("\0\1\0\2\1\0\377\377", 8));
  const DatasetPtr data = NpyDataset(path);
  EXPECT_EQ(data->Get(0).input.dtype(), DType::kI32);
  EXPECT_THAT(data->Get(1).input.ToVector<int>(), ElementsAre(256, 65535));
  EXPECT_THAT(data->GetBatch({1, 0}).input.ToVector<int>(), ElementsAre(256, 65535, 1, 2));
}

TEST(NpyDatasetTest, RefusesFilesThatAreNoRows) {
  const std::string x = Write("x.npy", Zeros({3, 2}));
  EXPECT_THAT(ErrorOf([&] { NpyDataset(x, {.target = Write("t.npy", Zeros({2}))}); }),
              HasSubstr("t.npy: expected as many rows as " + x + " has, 3, got 2"));
  EXPECT_THAT(ErrorOf([&] { NpyDataset(Write("one.npy", Tensor(1.0))); }),
              HasSubstr("one.npy: expected an array of rows, got a single number"));
  // Undamaged files that are no data set.
  EXPECT_EQ(StatusOf([&] { NpyDataset(Write("one.npy", Tensor(1.0))); }).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(StatusOf([&] { NpyDataset(x, {.target = Write("t.npy", Zeros({2}))}); }).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ErrorOf([&] { NpyDataset(TempPath("none.npy")); }), HasSubstr("none.npy"));
  EXPECT_THAT(ErrorOf([&] { NpyDataset(x, {.max_row_bytes = 7}); }),
              HasSubstr("a row of shape [2] has more than the 7 bytes allowed"));
  const auto refused = [](const std::string& text, const std::string& elements) {
    const std::string path = TempPath("odd.npy");
    WriteFile(path, Header(text) + elements);
    return ErrorOf([&] { NpyDataset(path); });
  };
  EXPECT_THAT(refused("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1), }", "ab"),
              HasSubstr("expected an array in row-major (C) order, got Fortran's"));
  EXPECT_THAT(refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }", "abc"),
              HasSubstr("offset 128, elements: expected 4 bytes for shape [2, 2], got 3"));
  EXPECT_THAT(
      refused("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000000,), }", "abc"),
      HasSubstr("bytes for shape [100000000000000000], got 3"));
  EXPECT_THAT(refused("{'descr': '|u1', 'fortran_order': False, 'shape': (9000000000, 0), }", ""),
              HasSubstr("expected rows of at least one element"));
}

TEST(NpyDatasetTest, SaysWhichRowCannotBeRead) {
  const std::string path = TempPath("bools.npy");
  WriteFile(path, Header("{'descr': '|b1', 'fortran_order': False, 'shape': (3, 1), }") +
                      std::string("\1\2\0", 3));
  const DatasetPtr data = NpyDataset(path);
  EXPECT_TRUE(data->Get(0).input.Item<bool>());
  EXPECT_THAT(ErrorOf([&] { data->Get(1); }), HasSubstr("bools.npy: offset 129, row 1: "));
  std::filesystem::resize_file(path, 130);  // while it trains
  EXPECT_THAT(ErrorOf([&] { data->Get(2); }), HasSubstr("bools.npy: offset 130, row 2: expected"));
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(NpyDatasetTest, AFileOf20GigabytesTakesTheMemoryOfAFewRows) {
  const std::string path = TempPath("large.npy");
  WriteFile(path, Header("{'descr': '|u1', 'fortran_order': False, 'shape': (20000, 1000000), }"));
  std::filesystem::resize_file(path, 128 + 20'000'000'000);  // sparse: it takes no room on disk
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(128 + 19'999'999'999);
    file.put('!');
  }
  const DatasetPtr data = NpyDataset(path);
  ASSERT_EQ(data->size(), 20000);
  EXPECT_EQ(data->Get(19999).input.ToVector<int>().back(), '!');
  DataLoader loader(data, {.batch = 4, .shuffle = true, .prefetch = 2, .ahead = 4});
  const int64_t before = ResidentBytes();
  int64_t most = 0, bytes = 0;
  for (const Sample& batch : loader) {
    bytes += batch.input.num_elements();
    most = std::max(most, ResidentBytes() - before);
    if (bytes >= 1'000'000'000) break;
  }
  std::filesystem::remove(path);
  // Nine batches of 4 MB are there at once. Sanitizers keep 256 MB of what was freed.
  EXPECT_LT(most, 400'000'000);
}

}  // namespace
}  // namespace firn::io
