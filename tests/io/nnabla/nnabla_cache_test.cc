// Caches that are written and read again, in both formats, and the errors of damaged ones.
// tests/fuzz changes whole folders at random.
#include "firn/io/nnabla/nnabla_cache.h"

#include <atomic>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/inner.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/rows.h"
#include "firn/io/hdf5/hdf5.h"
#include "firn/io/npy/internal/npy_array.h"
#include "firn/io/npy/npy.h"
#include "firn/io/npy/npy_status.h"
#include "firn/tensor/from.h"
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
using testing::StatusOf;

// Row i: x u8 [2, 3] of i and following numbers, y f32 [1] of i / 2.
DatasetPtr Numbers(int64_t n) {
  return NameSamples(FromFunction(n, [](int64_t i) {
    std::vector<uint8_t> pixels;
    for (int64_t k = 0; k < 6; ++k) pixels.push_back(static_cast<uint8_t>(i + k));
    return Sample{FromVector(pixels, {2, 3}), FromValues({static_cast<float>(i) / 2})};
  }));
}

std::string Folder(const std::string& name) {
  const std::string folder = TempPath(name);
  std::filesystem::remove_all(folder);
  return folder;
}

void ExpectNumbers(const Dataset& rows, const std::vector<int64_t>& numbers) {
  ASSERT_EQ(rows.size(), static_cast<int64_t>(numbers.size()));
  const DatasetPtr want = Numbers(250);
  for (int64_t i = rows.size() - 1; i >= 0; --i) {
    const Sample row = rows.Get(i), there = want->Get(numbers[static_cast<size_t>(i)]);
    ASSERT_EQ(row.size(), 2u);
    ASSERT_TRUE(row[0].Equals(there[0])) << i;
    ASSERT_TRUE(row[1].Equals(there[1])) << i;
  }
}

std::vector<int64_t> UpTo(int64_t n) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(i);
  return numbers;
}

class NnablaCacheTest : public ::testing::TestWithParam<NnablaCacheFormat> {
 protected:
  std::string end() const { return GetParam() == NnablaCacheFormat::kNpy ? ".npy" : ".h5"; }
};
INSTANTIATE_TEST_SUITE_P(Formats, NnablaCacheTest,
                         ::testing::Values(NnablaCacheFormat::kNpy, NnablaCacheFormat::kHdf5));

TEST_P(NnablaCacheTest, WritesWhatItReads) {
  const std::string folder = Folder("cache");
  std::vector<int64_t> seen;
  WriteNnablaCache(folder, Numbers(250),
                   {.format = GetParam(), .threads = 3, .progress = [&](int64_t rows) {
                      seen.push_back(rows);
                    }});
  EXPECT_THAT(seen, ElementsAre(100, 200, 250));
  EXPECT_EQ(ReadFile(folder + "/cache_index.csv"),
            absl::StrCat("cache_00000000_00000099", end(), ",100\ncache_00000100_00000199", end(),
                         ",100\ncache_00000200_00000249", end(), ",50\n"));
  EXPECT_EQ(std::filesystem::exists(folder + "/cache_info.csv"), end() == ".npy");
  EXPECT_THAT(ReadFile(folder + "/order.csv"), HasSubstr("\n249,249\n"));
  const auto cache = OpenNnablaCache(folder, {.normalize = false});
  EXPECT_THAT(cache->variables(), ElementsAre("x", "y"));
  EXPECT_THAT(cache->file_rows(), ElementsAre(100, 100, 50));
  ExpectNumbers(*cache, UpTo(250));
  EXPECT_THAT(ErrorOf([&] { cache->Get(250); }), HasSubstr("row 250 is outside [0, 250)"));
  EXPECT_THAT(ErrorOf([&] { cache->Get(-1); }), HasSubstr("row -1"));
}

TEST_P(NnablaCacheTest, NormalisesBytesAndChoosesVariables) {
  const std::string folder = Folder("normal");
  WriteNnablaCache(folder, Numbers(3), {.format = GetParam()});
  const Tensor x = OpenNnablaCache(folder)->Get(1)[0];
  EXPECT_EQ(x.dtype(), DType::kF32);
  EXPECT_EQ(x.ToVector<float>()[1], 2.f / 255);
  const auto only = OpenNnablaCache(folder, {.variables = {"y"}});
  EXPECT_THAT(only->Get(1)[0].ToVector<float>(), ElementsAre(0.5));
  EXPECT_EQ(only->Get(1).size(), 1u);
  EXPECT_THAT(ErrorOf([&] { OpenNnablaCache(folder, {.variables = {"z"}}); }),
              HasSubstr("called z, got x, y"));
  // Pictures that NNabla has normalised are f64.
  WriteNnablaCache(folder, NameSamples(FromTensors(Ones({2, 3}, DType::kF64))),
                   {.format = GetParam(), .replace = true});
  EXPECT_EQ(OpenNnablaCache(folder)->Get(0)[0].dtype(), DType::kF32);
  EXPECT_EQ(OpenNnablaCache(folder, {.normalize = false})->Get(0)[0].dtype(), DType::kF64);
}

TEST_P(NnablaCacheTest, ShufflesAndKeepsTheOrder) {
  const std::string folder = Folder("shuffled");
  WriteFile(TempPath("original.csv"), "x,y\n");
  WriteNnablaCache(folder, Numbers(250),
                   {.format = GetParam(),
                    .rows_per_file = 64,
                    .shuffle = true,
                    .seed = 3,
                    .original = TempPath("original.csv")});
  EXPECT_EQ(ReadFile(folder + "/original.csv"), "x,y\n");
  std::vector<int64_t> order;
  std::string lines = ReadFile(folder + "/order.csv");
  for (size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
    order.push_back(std::stoll(lines.substr(lines.find(',', at) + 1)));
  }
  EXPECT_NE(order, UpTo(250));
  ExpectNumbers(*OpenNnablaCache(folder, {.normalize = false}), order);
}

TEST_P(NnablaCacheTest, LoadersReadItFileByFile) {
  const std::string folder = Folder("blocks");
  WriteNnablaCache(folder, Numbers(250), {.format = GetParam(), .rows_per_file = 50});
  const auto cache = OpenNnablaCache(folder);
  std::vector<double> seen[2];
  for (const int threads : {0, 2}) {
    DataLoader loader(
        Pick(cache),
        {.batch = 25, .order = ShuffleBlocks(cache->file_rows(), 2), .prefetch = threads});
    for (auto [x, y] : loader) {
      for (const double v : y.ToVector<double>()) seen[threads / 2].push_back(v);
    }
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0].size(), 250u);
}

TEST_P(NnablaCacheTest, ACacheIsReplacedOnlyWhenAskedTo) {
  const std::string folder = Folder("replaced");
  WriteNnablaCache(folder, Numbers(250), {.format = GetParam()});
  const auto names = List(folder);
  EXPECT_EQ(StatusOf([&] { WriteNnablaCache(folder, Numbers(3), {.format = GetParam()}); }).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(List(folder), names);
  WriteFile(folder + "/cache_of_mine.npy", "stays");
  const NnablaCacheFormat other =
      GetParam() == NnablaCacheFormat::kNpy ? NnablaCacheFormat::kHdf5 : NnablaCacheFormat::kNpy;
  WriteNnablaCache(folder, Numbers(3), {.format = other, .replace = true});
  EXPECT_EQ(List(folder).size(), other == NnablaCacheFormat::kNpy ? 5u : 4u);
  EXPECT_EQ(ReadFile(folder + "/cache_of_mine.npy"), "stays");
  ExpectNumbers(*OpenNnablaCache(folder, {.normalize = false}), UpTo(3));
}

TEST_P(NnablaCacheTest, FilesOfNoCacheStay) {
  const std::string folder = Folder("of_mine"), original = folder + "/original.csv";
  std::filesystem::create_directories(folder);
  WriteFile(original, "x\n1\n");
  for (const bool replace : {false, true}) {
    const absl::Status status = StatusOf(
        [&] { WriteNnablaCache(folder, Numbers(3), {.format = GetParam(), .replace = replace}); });
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("original.csv: is no part of a cache"));
    EXPECT_THAT(List(folder), ElementsAre("original.csv"));
  }
  // A cache does not replace the table from which it is made, either.
  std::filesystem::rename(original, TempPath("t.csv"));
  WriteNnablaCache(folder, Numbers(3), {.format = GetParam(), .original = TempPath("t.csv")});
  const WriteNnablaCacheOptions again = {
      .format = GetParam(), .original = original, .replace = true};
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, CsvRows(original), again); }),
              HasSubstr("original.csv would be replaced"));
  EXPECT_EQ(ReadFile(original), "x\n1\n");
  EXPECT_EQ(OpenNnablaCache(folder)->size(), 3);
}

TEST_P(NnablaCacheTest, AnErrorOfARowLeavesNoCache) {
  const std::string folder = Folder("failed");
  const DatasetPtr bad = NameSamples(FromFunction(250, [](int64_t i) {
    return Sample{i == 120 ? Ones({3}) : Ones({2}), {}};
  }));
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, bad, {.format = GetParam()}); }),
              HasSubstr("row 120: expected x to be f32 [2] on cpu as in row 100, got f32 [3]"));
  EXPECT_EQ(StatusOf([&] { OpenNnablaCache(folder); }).code(), absl::StatusCode::kNotFound);
  // One column does not get numbers of another, either.
  const DatasetPtr swapped = FromFunction(3, [](int64_t i) {
    return Sample::Named({{i == 2 ? "y" : "x", Ones({1})}, {i == 2 ? "x" : "y", Ones({1})}});
  });
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, swapped, {.format = GetParam()}); }),
              HasSubstr("row 2: expected the tensors x, y, got y, x"));
}

TEST_P(NnablaCacheTest, RefusesOptionsThatMakeNoSense) {
  const std::string folder = Folder("options");
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, nullptr); }), HasSubstr("rows are null"));
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, Numbers(1), {.rows_per_file = 0}); }),
              HasSubstr("rows_per_file is 0"));
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, Numbers(1), {.threads = 0}); }),
              HasSubstr("threads is 0"));
  const DatasetPtr dotted = NameSamples(FromTensors(Ones({2, 3})), "x.a");
  EXPECT_EQ(ErrorOf([&] { WriteNnablaCache(folder, dotted, {.format = GetParam()}); }).empty(),
            GetParam() == NnablaCacheFormat::kNpy);
  const DatasetPtr lines = NameSamples(FromTensors(Ones({2, 3})), "x\ny");
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, lines); }), HasSubstr("has lines"));
  const DatasetPtr latin = NameSamples(FromTensors(Ones({2, 3})), "caf\xE9");
  EXPECT_THAT(ErrorOf([&] { WriteNnablaCache(folder, latin); }), HasSubstr("no UTF-8"));
}

TEST_P(NnablaCacheTest, RefusesIndicesThatTheFilesDoNotMatch) {
  const std::string folder = Folder("index");
  WriteNnablaCache(folder, Numbers(30), {.format = GetParam()});
  const std::string file = "cache_00000000_00000029" + end();
  const auto error = [&](const std::string& index) {
    WriteFile(folder + "/cache_index.csv", index);
    const int64_t before = CpuAllocator().stats().live_bytes;
    CpuAllocator().ResetPeak();
    const std::string message = ErrorOf([&] { OpenNnablaCache(folder)->Get(0); });
    EXPECT_LT(CpuAllocator().stats().peak_bytes - before, 1 << 20);
    return message;
  };
  EXPECT_EQ(error(file + ",30\n"), "");
  EXPECT_THAT(error(file + ",29\n"), HasSubstr("expected an array of 29 rows"));
  EXPECT_THAT(error(file + ",4000000000000000000\n"), HasSubstr("rows, got a file of"));
  EXPECT_THAT(
      error(file + ",30\n" + file + ",9223372036854775807\n"),
      HasSubstr("cache_index.csv: line 2, column 1 (counted from 0): expected a number of"));
  EXPECT_THAT(error(file + ",-1\n"), HasSubstr("expected a number of rows, got \"-1\""));
  EXPECT_THAT(error(file + ",3x\n"), HasSubstr("got \"3x\""));
  EXPECT_THAT(error(file + "\n"), HasSubstr("line 1, expected 2 columns, got 1"));
  EXPECT_THAT(error("none.npy,30\n"), HasSubstr("none.npy"));
  for (const std::string& name : {"../index/" + file, folder + "/" + file, std::string("..\\x"),
                                  std::string(".."), std::string()}) {
    EXPECT_THAT(error(name + ",30\n"), HasSubstr("the name of a file in this folder"));
  }
}

TEST(NnablaCacheHdf5Test, ThreadsReadAFileOnce) {
  const std::string folder = Folder("once");
  const int64_t bytes = int64_t{1} << 24;
  WriteNnablaCache(folder, NameSamples(FromTensors(Ones({16, bytes / 64}))),
                   {.format = NnablaCacheFormat::kHdf5});
  for (int round = 0; round < 5; ++round) {
    const auto cache = OpenNnablaCache(folder);
    const int64_t before = CpuAllocator().stats().live_bytes;
    CpuAllocator().ResetPeak();
    std::latch all(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        all.arrive_and_wait();
        EXPECT_EQ(cache->Get(t)[0].size(0), bytes / 64);
      });
    }
    for (std::thread& thread : threads) thread.join();
    // The file, and a row of each thread.
    EXPECT_LT(CpuAllocator().stats().peak_bytes - before, bytes * 7 / 4);
  }
}

TEST(NnablaCacheHdf5Test, NothingMayExpandWhereNothingIsAllowedTo) {
  const std::string folder = Folder("no_expansion");
  WriteNnablaCache(folder, Numbers(3), {.format = NnablaCacheFormat::kHdf5});
  EXPECT_EQ(OpenNnablaCache(folder, {.limits = {.max_expansion = 0}})->size(), 3);
}

// Made by NNabla 1.39's CreateCache(shuffle=True) from original.csv, whose picture i is [0, 20, 40,
// ...] + i: by create(normalize=False) into .npy, by create(normalize=True) into .h5.
TEST(NnablaCacheDataTest, ReadsWhatNnablaWrote) {
  const std::vector<int64_t> order = {4, 3, 1, 2, 0};
  for (const std::string format : {"npy", "h5"}) {
    const auto cache = OpenNnablaCache("tests/io/nnabla/data/nnabla_cache_" + format,
                                       {.variables = {"x", "v", "y"}});
    EXPECT_THAT(cache->file_rows(), ElementsAre(3, 2));
    for (size_t i = 0; i < order.size(); ++i) {
      const Sample row = cache->Get(static_cast<int64_t>(i));
      const auto k = static_cast<float>(order[i]);
      ASSERT_EQ(row[0].spec().ToString(), "f32 [1, 3, 4] on cpu");
      for (size_t p = 0; p < 12; ++p) {
        EXPECT_NEAR(row[0].ToVector<float>()[p], (static_cast<float>(20 * p) + k) / 255, 1.2e-7);
      }
      EXPECT_THAT(row[1].ToVector<float>(), ElementsAre(std::stof(absl::StrCat(k / 10)), -k));
      EXPECT_THAT(row[2].ToVector<int64_t>(), ElementsAre(order[i] % 3));
    }
    EXPECT_EQ(OpenNnablaCache("tests/io/nnabla/data/nnabla_cache_" + format,
                              {.variables = {"x"}, .normalize = false})
                  ->Get(0)[0]
                  .dtype(),
              format == "npy" ? DType::kU8 : DType::kF64);
  }
}

TEST(NnablaCacheNpyTest, RefusesDamagedFiles) {
  const std::string folder = Folder("damaged");
  WriteNnablaCache(folder, Numbers(30));
  const std::string path = folder + "/cache_00000000_00000029.npy", whole = ReadFile(path);
  const auto error = [&](const std::string& bytes) {
    WriteFile(path, bytes);
    return ErrorOf([&] { OpenNnablaCache(folder); });
  };
  EXPECT_EQ(error(whole), "");
  for (size_t n = 0; n < whole.size(); ++n) ASSERT_NE(error(whole.substr(0, n)), "") << n;
  EXPECT_THAT(error(whole + "x"), HasSubstr("expected no bytes after the arrays"));
  EXPECT_THAT(error(whole.substr(0, 200)), HasSubstr("(variable \"x\" from byte 0 on): offset"));
  EXPECT_THAT(error(whole.substr(0, 128 + 180)), HasSubstr("(variable \"y\" from byte 308 on)"));
  std::string turned = whole;
  turned.replace(turned.find("False"), 5, "True ");
  EXPECT_THAT(error(turned), HasSubstr("got fortran_order"));

  // A file could claim any number of rows without elements.
  WriteFile(path, *TryFormatNpy(Zeros({100000, 0})));
  WriteFile(folder + "/cache_info.csv", "x\n");
  WriteFile(folder + "/cache_index.csv", "cache_00000000_00000029.npy,100000\n");
  EXPECT_THAT(ErrorOf([&] { OpenNnablaCache(folder); }),
              HasSubstr("100000 rows, got a file of 128"));
  WriteFile(folder + "/cache_info.csv", "x\nx\n");
  EXPECT_THAT(ErrorOf([&] { OpenNnablaCache(folder); }), HasSubstr("got \"x\" twice"));
}

TEST(NnablaCacheNpyTest, ReadsRowsOf20GigabytesInTheMemoryOfOne) {
  const std::string folder = Folder("large"), file = folder + "/cache_00000000_00199999.npy";
  std::filesystem::create_directories(folder);
  const std::string header = *internal::FormatNpyHeader(DType::kF32, {200'000, 25'000});
  WriteFile(file, header);
  // Sparse: without blocks on the disk.
  std::filesystem::resize_file(file, header.size() + uintmax_t{20'000'000'000});
  WriteFile(folder + "/cache_info.csv", "x\n");
  WriteFile(folder + "/cache_index.csv", "cache_00000000_00199999.npy,200000\n");
  const int64_t before = CpuAllocator().stats().live_bytes;
  CpuAllocator().ResetPeak();
  const auto cache = OpenNnablaCache(folder);
  for (const int64_t i : {0, 199'999, 77'777}) EXPECT_EQ(cache->Get(i)[0].size(0), 25'000);
  EXPECT_LE(CpuAllocator().stats().peak_bytes - before, 200'000);  // a row has 100,000
  std::filesystem::remove(file);
}

TEST(NnablaCacheNpyTest, AFileThatGoesWhileTrainingIsAnErrorOfItsRows) {
  const std::string folder = Folder("gone");
  WriteNnablaCache(folder, Numbers(30), {.rows_per_file = 10});
  const auto cache = OpenNnablaCache(folder);
  std::filesystem::remove(folder + "/cache_00000010_00000019.npy");
  EXPECT_THAT(ErrorOf([&] { cache->Get(15); }), HasSubstr("cache_00000010_00000019.npy"));
  EXPECT_EQ(cache->Get(25)[1].Item(), 12.5);
}

}  // namespace
}  // namespace firn::io
