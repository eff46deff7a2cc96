#include "io/hdf5_dataset.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/parameters.h"
#include "tensor/from.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

TEST(Hdf5DatasetTest, RowsOfTwoArraysAreSamples) {
  const std::string path = TempPath("data.h5");
  Save(path, {{"train.x", FromVector(std::vector<float>{1, 2, 3, 4}, {2, 2})},
              {"train.y", FromValues<int64_t>({7, 8})},
              {"one", FromVector(std::vector<float>{1}, {})}});
  const DatasetPtr data = Hdf5Dataset(path, {.input = "train.x", .target = "train.y"});
  ASSERT_EQ(data->size(), 2);
  EXPECT_EQ(data->Get(1).input.ToVector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(data->Get(1).target.Item<int64_t>(), 8);
  EXPECT_FALSE(Hdf5Dataset(path, {.input = "train.x", .target = ""})->Get(0).target.defined());
  const auto error = [&](const Hdf5DatasetOptions& options) {
    return firn::testing::ErrorOf([&] { Hdf5Dataset(path, options); });
  };
  EXPECT_THAT(error({}), HasSubstr("data.h5: expected an array called x, got none"));
  EXPECT_THAT(error({.input = "one", .target = ""}), HasSubstr("one: expected an array of rows"));
  Save(path, {{"x", FromValues({1.f, 2.f})}, {"y", FromValues({1.f})}});
  EXPECT_THAT(error({}), HasSubstr("expected as many rows in y as in x, 2, got 1"));
}

}  // namespace
}  // namespace firn::io
