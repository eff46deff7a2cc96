// Training with data from every kind of file: those that firn dataset writes, and arrays.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "firn/io/image/image.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

void Done(const std::vector<std::string>& arguments) {
  const Outcome o = Firn(arguments);
  ASSERT_EQ(o.status, 0) << o.err;
}

std::string Folder(const std::string& name) {
  fs::remove_all(io::TempPath(name));
  fs::create_directories(io::TempPath(name));
  return io::TempPath(name);
}

// A run with this data in a new output.
Outcome Train(const std::string& folder, const json& data, const json& more = {}) {
  json config = {{"data", data},
                 {"model", {{"name", "mlp"}, {"hidden", {16}}}},
                 {"optimizer", {{"name", "adam"}, {"lr", 0.05}}},
                 {"epochs", 10},
                 {"batch", 8},
                 {"output", "run"}};
  if (!more.is_null()) config.update(more);
  fs::remove_all(folder + "/run");
  io::WriteFile(folder + "/train.json", config.dump());
  return Firn({"train", folder + "/train.json", "--json", "--quiet"});
}
json Trained(const std::string& folder, const json& data, const json& more = {}) {
  const Outcome o = Train(folder, data, more);
  EXPECT_EQ(o.status, 0) << o.err;
  return o.status == 0 ? json::parse(o.out) : json();
}

// 24 dark and 24 bright pictures of different sizes.
void AddPictures(const std::string& folder) {
  for (int i = 0; i < 24; ++i) {
    fs::create_directories(folder + "/dark");
    fs::create_directories(folder + "/light");
    const Shape shape{3, 6 + i % 3, 5};
    io::WriteImage(folder + "/dark/" + std::to_string(i) + ".png", Full(shape, i).To(DType::kU8));
    io::WriteImage(folder + "/light/" + std::to_string(i) + ".png",
                   Full(shape, 200 + i).To(DType::kU8));
  }
}

TEST(TrainDataTest, WhatDatasetCreateAndConvertWriteIsTrainedWith) {
  const std::string folder = Folder("datasets");
  AddPictures(folder + "/photos");
  Done({"dataset", "create", folder + "/photos", folder + "/table", "--width", "4", "--height", "4",
        "--shuffle", "--validation", "25"});
  const json table = {{"kind", "dataset"}, {"path", "table/train.csv"}};
  const json validation = {{"kind", "dataset"}, {"path", "table/validation.csv"}};
  EXPECT_EQ(Trained(folder, table, {{"validation", validation}})["metric"], 1);
  EXPECT_EQ(io::Load(folder + "/run/parameters.h5")["fc2.bias"].size(0), 2);

  for (const char* format : {"npy", "h5"}) {
    SCOPED_TRACE(format);
    Done({"dataset", "convert", folder + "/table/train.csv", folder + "/cache", "--to", format,
          "--force"});
    const json cache = {{"kind", "dataset"}, {"path", "cache"}};
    const json result = Trained(folder, cache, {{"validation", validation}});
    EXPECT_EQ(result["metric"], 1);
    EXPECT_EQ(result["step"], 50);  // 36 rows in batches of 8
    EXPECT_EQ(Trained(folder, cache)["metric"], 1);
  }
  // Bytes that are not normalised give another network.
  const json first = Trained(folder, table, {{"epochs", 1}});
  json raw = table;
  raw["normalize"] = false;
  EXPECT_NE(Trained(folder, raw, {{"epochs", 1}})["loss"], first["loss"]);
  raw["scale"] = 1 / 255.0;
  EXPECT_NEAR(Trained(folder, raw, {{"epochs", 1}})["loss"].get<double>(),
              first["loss"].get<double>(), 1e-5);
}

TEST(TrainDataTest, NamesWhatADataSetLacks) {
  const std::string folder = Folder("lacking");
  io::WriteFile(folder + "/t.csv", "a__0,a__1,b,note\n1,2,0,some text\n3,4,1,other text\n");
  const auto error = [&](json data) {
    data.update({{"kind", "dataset"}, {"path", "t.csv"}});
    return Train(folder, data, {{"validation_share", 0}}).err;
  };
  EXPECT_THAT(error({}), HasSubstr("t.csv: expected a variable called x, got a, b, note"));
  EXPECT_THAT(error({{"input", "a"}, {"target", "c"}}), HasSubstr("a variable called c, got a, b"));
  EXPECT_THAT(error({{"input", "a"}, {"target", "a"}}),
              HasSubstr("$.data.target: expected another variable"));
  EXPECT_THAT(error({{"input", "a"}, {"target", "b"}, {"format", "cvs"}}),
              HasSubstr("did you mean 'csv'?"));
  // Parts of the data that a run does not use may be wrong.
  EXPECT_EQ(error({{"input", "a"}, {"target", "b"}}), "");
  EXPECT_EQ(error({{"input", "a"}, {"target", "b"}, {"task", "numbers"}}), "");
  EXPECT_THAT(Train(folder, {{"kind", "dataset"}, {"path", "nowhere.csv"}}).err,
              HasSubstr("nowhere.csv: expected a data set (csv, hdf5, "));

  for (const char* label : {"-1", "0.5", "1000000"}) {
    io::WriteFile(folder + "/t.csv", std::string("a__0,a__1,b\n1,2,0\n3,4,") + label + "\n");
    EXPECT_THAT(error({{"input", "a"}, {"target", "b"}}),
                HasSubstr("t.csv: sample 1: expected a class from 0 to 999999, got "))
        << label;
  }
  io::WriteFile(folder + "/t.csv", "a__0,a__1,b\n");
  EXPECT_THAT(error({{"input", "a"}, {"target", "b"}}), HasSubstr("there are no samples"));
}

TEST(TrainDataTest, ArraysOfNumPyAreTrainedWith) {
  const std::string folder = Folder("arrays");
  ManualSeed(4);
  const Tensor x = Randn({64, 3});
  const Tensor sum = Sum(x, {1}, true), label = Gt(sum, 0).To(DType::kI32);
  io::WriteNpy(folder + "/x.npy", x.To(DType::kF64));
  io::WriteNpy(folder + "/sum.npy", sum);
  io::WriteNpy(folder + "/label.npy", label);
  io::WriteNpz(folder + "/all.npz", {{"x", x}, {"y", label}, {"of_no_rows", Ones({2})}});

  const json files = {{"kind", "npy"}, {"input", "x.npy"}, {"target", "label.npy"}};
  EXPECT_GT(Trained(folder, files, {{"validation_share", 0.25}})["metric"], 0.9);
  const json both = {{"kind", "dataset"}, {"path", "all.npz"}};
  EXPECT_GT(Trained(folder, both, {{"validation_share", 0.25}})["metric"], 0.9);
  json numbers = files;
  numbers["target"] = "sum.npy";
  EXPECT_LT(Trained(folder, numbers)["loss"], 0.5);
  numbers["task"] = "classes";
  EXPECT_THAT(Train(folder, numbers).err,
              HasSubstr("sum.npy: sample 0: expected a class from 0 to 999999, got "));
  io::WriteNpy(folder + "/label.npy", Zeros({10, 1}, DType::kI32));
  EXPECT_THAT(Train(folder, files).err, HasSubstr("label.npy: expected as many rows as "));
}

}  // namespace
}  // namespace firn::cli
