// Rows of arrays as samples, in memory and out of the file.
#include "firn/io/data/hdf5_dataset.h"

#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/hdf5/h5_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;

using internal::AddDataset;
using internal::AddNumbers;

class Hdf5DatasetTest : public internal::H5ReaderTest {};

// Whether rows come from memory or out of the file.
class Hdf5RowsTest : public Hdf5DatasetTest, public ::testing::WithParamInterface<bool> {};

TEST_P(Hdf5RowsTest, OfTwoArraysAreSamples) {
  const std::string path = TempPath("data.h5");
  Save(path, {{"train.x", FromVector(std::vector<float>{1, 2, 3, 4}, {2, 2})},
              {"train.y", FromValues<int64_t>({7, 8})},
              {"one", FromVector(std::vector<float>{1}, {})}});
  const auto open = [&](const char* input, const char* target) {
    return Hdf5Dataset(path, {.input = input, .target = target, .in_memory = GetParam()});
  };
  const DatasetPtr data = open("train.x", "train.y");
  ASSERT_EQ(data->size(), 2);
  EXPECT_EQ(data->Get(1).input.ToVector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(data->Get(1).target.shape(), Shape());
  EXPECT_EQ(data->Get(1).target.Item<int64_t>(), 8);
  EXPECT_THAT(firn::testing::ErrorOf([&] { data->Get(2); }), HasSubstr("outside [0, 2)"));
  EXPECT_FALSE(open("train.x", "")->Get(0).target.defined());
  const auto error = [&](const char* input, const char* target) {
    return firn::testing::ErrorOf([&] { open(input, target); });
  };
  EXPECT_THAT(error("x", "y"),
              HasSubstr("data.h5: expected an array called x, got none; there are "));
  EXPECT_THAT(error("train.x", "y"), HasSubstr("called y, got none; there are "));
  EXPECT_THAT(error("train.x", "y"), HasSubstr("train.y"));
  EXPECT_THAT(error("one", ""), HasSubstr("one: expected an array of rows"));
  EXPECT_EQ(firn::testing::StatusOf([&] { open("one", ""); }).code(),
            absl::StatusCode::kUnimplemented);
  Save(path, {{"x", FromValues({1.f, 2.f})}, {"y", FromValues({1.f})}});
  EXPECT_THAT(error("x", "y"), HasSubstr("expected as many rows in y as in x, 2, got 1"));
}

// Every way in which a file may keep an array, each with rows at the border of a chunk.
TEST_P(Hdf5RowsTest, AreTheSameHoweverTheFileKeepsThem) {
  const std::string path = Make([](hid_t file) {
    AddNumbers(file, "contiguous", {7, 2, 3});
    AddNumbers(file, "compact", {7, 2, 3}, {.compact = true});
    AddNumbers(file, "chunks", {7, 2, 3}, {.chunk = {3, 2, 2}});
    AddNumbers(file, "packed", {7, 2, 3}, {.chunk = {2, 1, 3}, .shuffle = true, .deflate = true});
    AddNumbers(file, "rows", {7, 2, 3}, {.chunk = {1, 2, 3}, .deflate = true});
    AddNumbers(file, "large", {7, 2, 3}, {.chunk = {16, 4, 4}, .extensible = true});
  });
  for (const char* name : {"contiguous", "compact", "chunks", "packed", "rows", "large"}) {
    const DatasetPtr data =
        Hdf5Dataset(path, {.input = name, .target = "contiguous", .in_memory = GetParam()});
    ASSERT_EQ(data->size(), 7) << name;
    for (const int64_t i : {6, 0, 5, 3, 6}) {
      const Tensor want = Arange(6 * i, 6 * i + 6).To(DType::kF32).Reshape({2, 3});
      EXPECT_TRUE(data->Get(i).input.Equals(want)) << name << " " << i;
    }
    const Sample batch = data->GetBatch({5, 1, 6, 1});
    EXPECT_EQ(batch.input.shape(), (Shape{4, 2, 3}));
    EXPECT_TRUE(batch.input.Equals(batch.target)) << name;
    DataLoader loader(data, {.batch = 2, .shuffle = true, .prefetch = 3});
    for (auto [x, y] : loader) EXPECT_TRUE(x.Equals(y)) << name;
  }
}

TEST_P(Hdf5RowsTest, OfSeveralArraysHaveTheirNames) {
  const std::string path = Make([](hid_t file) {
    AddNumbers(file, "image", {4, 2, 3});
    AddNumbers(file, "boxes", {4, 2});
    AddNumbers(file, "labels", {4, 1});
    AddNumbers(file, "few", {3, 1});
  });
  const auto open = [&](const std::vector<std::string>& variables) {
    return Hdf5Dataset(path, {.variables = variables, .in_memory = GetParam()});
  };
  const DatasetPtr data = open({"labels", "image", "boxes"});
  EXPECT_THAT(data->variables(), ::testing::ElementsAre("labels", "image", "boxes"));
  const auto [labels, image, boxes] = data->GetBatch({3, 1}).As<3>();
  EXPECT_THAT(labels.ToVector<float>(), ::testing::ElementsAre(3, 1));
  EXPECT_EQ(image.shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(boxes.ToVector<float>(), ::testing::ElementsAre(6, 7, 2, 3));
  EXPECT_THAT(data->Get(2)["boxes"].ToVector<float>(), ::testing::ElementsAre(4, 5));
  EXPECT_THAT(ErrorOf([&] {
                open({"image", "few"});
              }),
              HasSubstr("expected as many rows in few as in image, 4, got 3"));
  EXPECT_THAT(ErrorOf([&] { open({"image", "image"}); }), HasSubstr("called image"));
}

TEST_P(Hdf5RowsTest, AreConverted) {
  const std::string path = Make([](hid_t file) {
    const std::vector<uint16_t> values = {1, 2, 65535, 4};
    AddDataset(file, "x", H5T_STD_U16BE, {2, 2}, H5T_NATIVE_UINT16, values.data());
  });
  const DatasetPtr data = Hdf5Dataset(path, {.target = "", .in_memory = GetParam()});
  EXPECT_THAT(data->Get(1).input.ToVector<int64_t>(), ::testing::ElementsAre(65535, 4));
  EXPECT_EQ(data->Get(0).input.dtype(), Load(path, {})->Find("x")->dtype());
}

INSTANTIATE_TEST_SUITE_P(Hdf5DatasetTest, Hdf5RowsTest, ::testing::Bool(),
                         [](const auto& in) { return in.param ? "InMemory" : "InTheFile"; });

TEST_F(Hdf5DatasetTest, RowsInTheFileAreBounded) {
  const std::string path = Make([](hid_t file) {
    AddNumbers(file, "x", {8, 4});
    AddNumbers(file, "chunks", {8, 4}, {.chunk = {8, 4}});
    AddNumbers(file, "empty", {3, 0});
  });
  const auto error = [&](const char* input, int64_t row_bytes, int64_t total) {
    return firn::testing::ErrorOf([&] {
      Hdf5Dataset(path, {.input = input,
                         .target = "",
                         .in_memory = false,
                         .max_row_bytes = row_bytes,
                         .limits = {.max_total_bytes = total}});
    });
  };
  EXPECT_EQ(error("x", 16, 16), "");
  EXPECT_THAT(error("x", 15, 16), HasSubstr("a row of shape [4] has more than the 15 bytes"));
  EXPECT_EQ(error("chunks", 16, 128), "");
  EXPECT_THAT(error("chunks", 16, 127), HasSubstr("chunks of 8 rows take more than the 127 bytes"));
  EXPECT_THAT(error("empty", 16, 16), HasSubstr("expected rows of at least one element"));
}

// After the file has lost its content, rows come from memory, or reading is an error.
TEST_F(Hdf5DatasetTest, ChunksAroundTheLastRowsStayWithinTheLimit) {
  for (const bool two_fit : {true, false}) {
    const std::string path = Make([](hid_t file) {
      AddNumbers(file, "x", {100, 100}, {.chunk = {10, 100}, .deflate = true});
    });
    const DatasetPtr data =
        Hdf5Dataset(path, {.target = "",
                           .in_memory = false,
                           .limits = {.max_total_bytes = (two_fit ? 2 : 1) * 10 * 100 * 4}});
    EXPECT_EQ(data->Get(0).input.ToVector<float>()[99], 99);
    EXPECT_EQ(data->Get(15).input.ToVector<float>()[0], 1500);
    std::filesystem::resize_file(path, 16);
    EXPECT_EQ(data->Get(19).input.ToVector<float>()[99], 1999);
    const std::string error =
        firn::testing::ErrorOf([&] { EXPECT_EQ(data->Get(9).input.ToVector<float>()[99], 999); });
    EXPECT_EQ(error.empty(), two_fit) << error;
    EXPECT_THAT(firn::testing::ErrorOf([&] { data->Get(99); }), HasSubstr("file.h5"));
  }
}

TEST_F(Hdf5DatasetTest, AFileOf20GigabytesIsReadRowByRow) {
  const std::string path = Make([](hid_t file) {
    const std::vector<hsize_t> sizes = {20'000, 1'000'000};
    const hid_t space = H5Screate_simple(2, sizes.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);  // sparse: it takes no room on disk
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    const hid_t x = H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const std::vector<hsize_t> last = {19'999, 999'999}, one = {1, 1};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, last.data(), nullptr, one.data(), nullptr);
    const hid_t memory = H5Screate_simple(2, one.data(), nullptr);
    const uint8_t mark = 33;
    EXPECT_GE(H5Dwrite(x, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, &mark), 0);
    for (const hid_t id : {space, memory}) H5Sclose(id);
    H5Pclose(creation);
    H5Dclose(x);
  });
  ASSERT_GT(std::filesystem::file_size(path), 19'000'000'000u);
  const DatasetPtr data = Hdf5Dataset(path, {.target = "", .in_memory = false});
  EXPECT_EQ(data->size(), 20'000);
  EXPECT_EQ(data->Get(19'999).input.ToVector<int>().back(), 33);
  EXPECT_EQ(data->Get(0).input.ToVector<int>().front(), 0);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace firn::io
