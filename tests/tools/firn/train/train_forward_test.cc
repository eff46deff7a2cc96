// firn forward runs the graphs of firn train on the numbers of training; the graph file alone says
// how to make them.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"
#include "tests/tools/firn/train/training.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json Forward(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "forward");
  arguments.push_back("--json");
  const Outcome o = Firn(arguments);
  EXPECT_EQ(o.status, 0) << o.err;
  return o.status == 0 ? json::parse(o.out) : json();
}

std::string FolderOf(const std::string& config) { return fs::path(config).parent_path(); }

TEST(TrainForwardTest, PicturesAreWhatTheyWereInTraining) {
  const std::string config = WriteConfig(
      "digits", {{"data", {{"kind", "digits"}, {"part", "train"}, {"mean", 0.3}, {"stddev", 0.4}}},
                 {"model", {{"name", "mlp"}, {"hidden", {32}}}},
                 {"optimizer", {{"name", "adam"}, {"lr", 0.01}}},
                 {"epochs", 3},
                 {"output", "run"}});
  Trained(config);
  const std::string graph = FolderOf(config) + "/run/model.firn";
  const io::GraphInfo info = io::LoadGraphInfo(graph);
  EXPECT_NEAR(info.pixel_scale.value_or(0), 1.0 / 255, 1e-9);
  EXPECT_EQ(info.mean, std::vector<double>{0.3});
  EXPECT_EQ(info.stddev, std::vector<double>{0.4});
  EXPECT_EQ(info.classes.size(), 10u);
  EXPECT_EQ(info.classes[9], "9");

  // The test part, normalised by a program, and by forward as a file says.
  using Options = io::DigitsOptions;
  const auto normalised = io::Digits({.part = Options::Part::kTest, .mean = 0.3, .stddev = 0.4});
  const auto stored = io::Digits({.part = Options::Part::kTest});
  StaticGraph net = io::LoadGraph(graph);
  std::vector<io::Sample> samples;
  int64_t right = 0;
  for (int64_t i = 0; i < stored->size(); ++i) {
    samples.push_back(stored->Get(i));
    const Tensor scores = net(Unsqueeze(normalised->Get(i).input, 0));
    right += Argmax(scores, 1).Item<int64_t>() == samples.back().target.Item<int64_t>() ? 1 : 0;
  }
  const io::Sample all = io::Stack(samples);
  const std::string file = FolderOf(config) + "/test.h5";
  io::Save(file, {{"x", all.input}, {"y", all.target}});
  const json said = Forward({graph, file});
  EXPECT_EQ(said["samples"], 297);
  EXPECT_NEAR(said["accuracy"], static_cast<double>(right) / 297, 1e-12);
  EXPECT_GT(said["accuracy"], 0.6);

  const Tensor pixels = Round(samples[0].input * 255).To(DType::kU8);
  io::WriteImage(FolderOf(config) + "/digit.png", pixels);
  const Tensor x = (pixels.To(DType::kF32) / 255 - 0.3) / 0.4;
  const Tensor scores = net(Unsqueeze(x, 0));
  const json row = Forward({graph, FolderOf(config) + "/digit.png", "--numbers"})["rows"][0];
  EXPECT_EQ(row["class"], std::to_string(Argmax(scores, 1).Item<int64_t>()));
  for (int64_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(row["y__" + std::to_string(k)], scores.ToVector<double>()[static_cast<size_t>(k)],
                1e-4);
  }
}

TEST(TrainForwardTest, FoldersOfPicturesKeepTheirNames) {
  const std::string config = WriteConfig(
      "photos",
      {{"data", {{"kind", "images"}, {"folder", "photos"}, {"size", {4, 4}}, {"color", "grey"}}},
       {"model", {{"name", "mlp"}, {"hidden", {4}}}},
       {"epochs", 1},
       {"output", "run"}});
  for (const char* name : {"cat", "dog"}) {
    const std::string folder = FolderOf(config) + "/photos/" + name;
    fs::create_directories(folder);
    for (int i = 0; i < 6; ++i) {
      io::WriteImage(folder + "/" + std::to_string(i) + ".png",
                     Full({3, 6, 5}, 10 * i + (name[0] == 'c' ? 100 : 0)).To(DType::kU8));
    }
  }
  Trained(config);
  const std::string graph = FolderOf(config) + "/run/model.firn";
  EXPECT_THAT(io::LoadGraphInfo(graph).classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(Firn({"forward", graph, FolderOf(config) + "/photos"}).err,
              HasSubstr("photos/cat/0.png: it is u8 [1, 6, 5]"));
  EXPECT_TRUE(Forward({graph, FolderOf(config) + "/photos", "--resize"})["accuracy"].is_number());
}

// Arrays and data sets say what their numbers are in their own ways.
TEST(TrainForwardTest, ScalesOfDataSetsAreKept) {
  const auto info = [](const std::string& name, const json& data, const auto& prepare) {
    const std::string config = WriteConfig(name, {{"data", data},
                                                  {"model", {{"name", "mlp"}, {"hidden", {4}}}},
                                                  {"epochs", 1},
                                                  {"output", "run"}});
    prepare(FolderOf(config));
    Trained(config);
    return io::LoadGraphInfo(FolderOf(config) + "/run/model.firn");
  };
  const Tensor y = FromVector(std::vector<int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
  const auto arrays = [&](DType dtype) {
    return [&y, dtype](const std::string& folder) {
      io::Save(folder + "/a.h5", {{"x", Ones({10, 3}).To(dtype)}, {"y", y}});
    };
  };
  io::GraphInfo got =
      info("u8", {{"kind", "hdf5"}, {"file", "a.h5"}, {"scale", 0.25}}, arrays(DType::kU8));
  EXPECT_EQ(got.pixel_scale, 0.25);
  EXPECT_EQ(got.scale, 0.25);
  got = info("f32", {{"kind", "hdf5"}, {"file", "a.h5"}, {"scale", 0.25}}, arrays(DType::kF32));
  EXPECT_EQ(got.pixel_scale, std::nullopt);
  EXPECT_EQ(got.scale, 0.25);
  got = info("u8set", {{"kind", "dataset"}, {"path", "a.h5"}}, arrays(DType::kU8));
  EXPECT_EQ(got.pixel_scale, 1);  // which is what it was trained with
  const auto pictures = [&](const std::string& folder) {
    std::string table = "x,y\n";
    for (int i = 0; i < 10; ++i) {
      io::WriteImage(folder + "/" + std::to_string(i) + ".png",
                     Full({1, 2, 2}, 20 * i).To(DType::kU8));
      table += std::to_string(i) + ".png," + std::to_string(i % 3) + "\n";
    }
    io::WriteFile(folder + "/t.csv", table);
  };
  got = info("pictures", {{"kind", "dataset"}, {"path", "t.csv"}, {"scale", 2}}, pictures);
  EXPECT_NEAR(got.pixel_scale.value_or(0), 2.0 / 255, 1e-9);
  got = info("bytes", {{"kind", "dataset"}, {"path", "t.csv"}, {"normalize", false}}, pictures);
  EXPECT_EQ(got.pixel_scale, 1);
  EXPECT_EQ(got.scale, 1);
}

TEST(TrainForwardTest, TablesAreReadByTheColumnsOfTraining) {
  const std::string config = WriteConfig("table", {{"data",
                                                    {{"kind", "csv"},
                                                     {"file", "t.csv"},
                                                     {"target", "kind"},
                                                     {"one_hot", {"color"}},
                                                     {"missing", "mean"},
                                                     {"missing_words", {"", "-"}},
                                                     {"standardize", true}}},
                                                   {"model", {{"name", "mlp"}, {"hidden", {8}}}},
                                                   {"optimizer", {{"name", "adam"}, {"lr", 0.05}}},
                                                   {"epochs", 30},
                                                   {"batch", 8},
                                                   {"output", "run"}});
  std::string table = "color,size,kind\n";
  for (int i = 0; i < 80; ++i) {
    const std::string color = i % 2 == 0 ? "red" : "blue";
    const std::string size = i % 9 == 0 ? "-" : std::to_string(1000 + 100 * (i % 7));
    table += color + "," + size + "," + (i % 2 == 0 ? "apple" : "plum") + "\n";
  }
  const std::string folder = FolderOf(config), graph = folder + "/run/model.firn";
  io::WriteFile(folder + "/t.csv", table);
  Trained(config);
  EXPECT_EQ(Forward({graph, folder + "/t.csv"})["accuracy"], 1);

  // Other columns, another order, no labels.
  io::WriteFile(folder + "/new.csv", "note,size,color\nany,1200,blue\ntext,,red\n");
  const json said = Forward({graph, folder + "/new.csv"});
  EXPECT_FALSE(said.contains("accuracy"));
  EXPECT_EQ(said["rows"][0]["class"], "plum");
  EXPECT_EQ(said["rows"][1]["class"], "apple");
  fs::rename(folder + "/new.csv", folder + "/NEW.CSV");
  EXPECT_EQ(Forward({graph, folder + "/NEW.CSV"})["rows"], said["rows"]);

  const auto error = [&](const std::string& text) {
    io::WriteFile(folder + "/new.csv", text);
    const Outcome o = Firn({"forward", graph, folder + "/new.csv"});
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.err, ::testing::Not(HasSubstr("CsvOptions")));
    return o.err;
  };
  EXPECT_THAT(error("size,colour\n1200,blue\n"),
              HasSubstr("no column named \"color\" (the graph "));
  EXPECT_THAT(error("size,color\n1200,green\n"), HasSubstr("green"));
  EXPECT_THAT(error("size,color\nlarge,red\n"), HasSubstr("trained with numbers in this column"));
  EXPECT_THAT(error("size,color,kind\n1200,red,pear\n"), HasSubstr("pear"));
}

TEST(TrainForwardTest, NumbersAreNumbersAndHeadingsMayBeMissing) {
  const std::string config = WriteConfig(
      "numbers",
      {{"data",
        {{"kind", "csv"}, {"file", "t.csv"}, {"target", 0}, {"task", "numbers"}, {"missing", 7}}},
       {"model", {{"name", "mlp"}, {"hidden", {8}}}},
       {"epochs", 1},
       {"output", "run"}});
  std::string table;
  for (int i = 0; i < 20; ++i) table += std::to_string(0.5 * i) + "," + std::to_string(i) + ",1\n";
  const std::string folder = FolderOf(config), graph = folder + "/run/model.firn";
  io::WriteFile(folder + "/t.csv", table + "1,,2\n");
  Trained(config);
  io::WriteFile(folder + "/u.csv", "0,7,2\n0,,2\n");
  const json rows = Forward({graph, folder + "/u.csv"})["rows"];
  EXPECT_EQ(rows[0]["y"], rows[1]["y"]);  // 7 is what a missing cell was
  StaticGraph net = io::LoadGraph(graph);
  EXPECT_NEAR(rows[0]["y"], net(FromVector(std::vector<float>{7, 2}, {1, 2})).Item(), 1e-5);
  EXPECT_EQ(io::LoadGraphInfo(graph).classes.size(), 0u);
}

// Settings that no graph file could keep are refused before training, not after it.
TEST(TrainForwardTest, WhatNoGraphFileKeepsIsRefusedAtOnce) {
  const auto error = [](const json& data) {
    const std::string config =
        WriteConfig("refused", {{"data", data}, {"model", {{"name", "mlp"}}}, {"output", "run"}});
    const Outcome o = Firn({"train", config, "--check"});
    EXPECT_EQ(o.status, 1);
    return o.err;
  };
  EXPECT_THAT(error({{"kind", "hdf5"}, {"file", "a.h5"}, {"scale", 0}}),
              HasSubstr("$.data.scale: expected a number beside 0"));
  EXPECT_THAT(error({{"kind", "digits"}, {"mean", 1e300}}), HasSubstr("$.data.mean"));
  EXPECT_THAT(error({{"kind", "csv"},
                     {"file", "t.csv"},
                     {"target", "kind"},
                     {"missing_words", json::array()}}),
              HasSubstr("$.data.missing_words: expected a list of at least one text"));
  EXPECT_THAT(error({{"kind", "digits"}, {"stddev", 1e300}}), HasSubstr("$.data.stddev"));
}

}  // namespace
}  // namespace firn::cli
