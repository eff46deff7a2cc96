// Training on tables from the command line: words, missing cells, numbers that are no classes.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"
#include "tests/tools/firn/train/training.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TrainTest, TrainsOnATableOfWords) {
  json config = {{"data", {{"kind", "csv"}, {"file", "t.csv"}, {"skip_lines", 1}, {"target", 2}}},
                 {"model", {{"name", "mlp"}, {"hidden", {8}}}},
                 {"optimizer", {{"name", "adam"}, {"lr", 0.05}}},
                 {"epochs", 20},
                 {"batch", 8},
                 {"patience", 5},
                 {"keep", "best"},
                 {"output", "run"}};
  const std::string path = WriteConfig("csv", config);
  std::string table = "x,y,side\n";
  for (int i = 0; i < 60; ++i) {
    table += std::to_string(i % 7 - 3.5) + "," + std::to_string(i % 5) + "," +
             (i % 7 < 3    ? "left"
              : i % 7 == 3 ? "middle"
                           : "right") +
             "\n";
  }
  const std::string folder = fs::path(path).parent_path();
  io::WriteFile(folder + "/t.csv", table);
  EXPECT_GT(Trained(path)["metric"], 0.8);
  EXPECT_EQ(io::ReadFile(folder + "/run/classes.txt"), "left\nmiddle\nright\n");
}

// A table with a heading, words, large numbers and cells that are missing.
TEST(TrainTest, TrainsOnMessyTables) {
  json config = {{"data",
                  {{"kind", "csv"},
                   {"file", "t.csv"},
                   {"target", "price"},
                   {"task", "numbers"},
                   {"inputs", {"size", "color", "year"}},
                   {"one_hot", {"color"}},
                   {"missing", "mean"},
                   {"standardize", true}}},
                 {"model", {{"name", "mlp"}, {"hidden", {8}}}},
                 {"optimizer", {{"name", "adam"}, {"lr", 0.05}}},
                 {"epochs", 40},
                 {"batch", 8},
                 {"output", "run"}};
  const std::string path = WriteConfig("messy", config);
  const std::string folder = fs::path(path).parent_path();
  std::string table =
      "\xEF\xBB\xBF"
      "color, size ,year,price\r";
  for (int i = 0; i < 80; ++i) {
    table += std::string(i % 2 == 0 ? "red" : "\"blue\"") + "," +
             (i % 9 == 0 ? "NA" : std::to_string(10000 + 100 * (i % 7))) + "," +
             std::to_string(2000 + i % 4) + "," + std::to_string(i % 7 + i % 2) + "\r";
  }
  io::WriteFile(folder + "/t.csv", table);
  const json first = Trained(path);
  EXPECT_LT(first["validation_loss"], 1);
  // The numbers of the training part are in the files, and the graph has them too.
  const StateDict state = io::Load(folder + "/run/parameters.h5");
  EXPECT_EQ(state["inputs.mean"].size(0), 4);
  EXPECT_NEAR(state["inputs.mean"].Select(0, 0).Item(), 10300, 60);
  StaticGraph graph = io::LoadGraph(folder + "/run/model.firn");
  const auto price = [&](float size, float red, float year) {
    return graph(FromVector(std::vector<float>{size, 1 - red, red, year}, {1, 4})).Item();
  };
  EXPECT_NEAR(price(10600, 0, 2001), 7, 1.5);
  EXPECT_EQ(price(std::nanf(""), 1, 2001),
            price(state["inputs.mean"].Select(0, 0).Item<float>(), 1, 2001));
  // Going on has the same numbers.
  config["epochs"] = 41;
  io::WriteFile(path, config.dump());
  EXPECT_EQ(Trained(path)["resumed_at"], first["step"]);

  const auto error = [&](const json& changes) {
    json other = config;
    other["data"].update(changes);
    fs::remove_all(folder + "/run");
    io::WriteFile(path, other.dump());
    const Outcome o = Firn({"train", path});
    EXPECT_EQ(o.status, 1);
    EXPECT_THAT(o.err, Not(HasSubstr("CsvOptions")));
    return o.err;
  };
  EXPECT_THAT(error({{"missing", "error"}}),
              HasSubstr("t.csv: line 2, column 1 (\"size\"): expected a number, got \"NA\" "
                        "(\"missing\" says what missing cells become: \"drop\""));
  EXPECT_THAT(error({{"one_hot", json::array()}}),
              HasSubstr("expected a number, got \"red\" (\"one_hot\" reads words of inputs"));
  EXPECT_THAT(error({{"target", "prise"}}),
              HasSubstr("no column named \"prise\" (the key \"inputs\" or \"target\" names it); "
                        "the nearest is \"price\""));
  EXPECT_THAT(error({{"target", "prise"}, {"inputs", {"siez"}}, {"one_hot", json::array()}}),
              HasSubstr("no column named \"siez\""));
  EXPECT_THAT(error({{"standardize", false}}),
              HasSubstr("$.data.missing: the mean is one of those"));
  EXPECT_THAT(error({{"missing", 16777217}}),
              HasSubstr("$.data.missing: expected a number that f32 does not round, got 16777217"));
  EXPECT_THAT(error({{"missing", 1e300}}), HasSubstr("f32 does not round, got 1e+300"));
  EXPECT_THAT(error({{"target", "size"}, {"inputs", {"year"}}, {"one_hot", json::array()}}),
              HasSubstr("column \"size\": a cell of the target is missing"));
  EXPECT_THAT(error({{"inputs", {"size", 3}}}),
              HasSubstr("the target by its place and by its name"));
  EXPECT_THAT(error({{"inputs", {-1}}}), HasSubstr("$.data.inputs[0]: expected a column, by its"));
  io::WriteFile(folder + "/other.csv", "color,size,year,price\nred,1,2,3\ngreen,1,2,3\n");
  json other = config["data"];
  other["file"] = "other.csv";
  config["validation"] = other;
  EXPECT_THAT(error(json::object()), HasSubstr("one_hot (also its words), standardize or missing"));
}

// Words that other tables have for a missing cell may be classes of this one.
TEST(TrainTest, MissingWordsAreThoseThatTheTableHas) {
  json config = {{"data", {{"kind", "csv"}, {"file", "t.csv"}, {"target", 1}}},
                 {"model", {{"name", "mlp"}, {"hidden", json::array()}}},
                 {"epochs", 1},
                 {"output", "run"}};
  const std::string path = WriteConfig("none", config);
  const std::string folder = fs::path(path).parent_path();
  std::string table;
  for (int i = 0; i < 20; ++i) table += std::to_string(i) + (i < 10 ? ",None\n" : ",mild\n");
  io::WriteFile(folder + "/t.csv", table);
  EXPECT_THAT(
      Firn({"train", path}).err,
      HasSubstr("expected a word, got \"None\" (\"missing\" says what missing cells become: "
                "\"drop\", \"mean\" or a number; \"missing_words\" which cells are)"));
  config["data"]["missing_words"] = json::array({""});
  io::WriteFile(path, config.dump());
  Trained(path);
  EXPECT_EQ(io::ReadFile(folder + "/run/classes.txt"), "None\nmild\n");
  io::WriteFile(folder + "/t.csv", table + "?,mild\n,mild\n");
  EXPECT_THAT(Firn({"train", path}).err, HasSubstr("expected a number, got \"?\""));
  config["data"]["missing_words"] = json::array({"", "?"});
  config["data"]["missing"] = "drop";
  config["output"] = "dropped";
  io::WriteFile(path, config.dump());
  EXPECT_EQ(Trained(path)["step"], 1);
}

TEST(TrainTest, PricesAreNoClasses) {
  json config = {{"data", {{"kind", "csv"}, {"file", "t.csv"}, {"target", 1}}},
                 {"model", {{"name", "mlp"}, {"hidden", json::array()}}},
                 {"epochs", 1},
                 {"output", "run"}};
  const std::string path = WriteConfig("prices", config);
  const std::string folder = fs::path(path).parent_path();
  const auto write = [&](int rows, int prices, const char* end) {
    std::string table;
    for (int i = 0; i < rows; ++i) table += "1," + std::to_string(i % prices) + end + "\n";
    io::WriteFile(folder + "/t.csv", table);
  };
  write(200, 150, "");
  EXPECT_THAT(Firn({"train", path}).err,
              HasSubstr("t.csv: column 1 has 150 different words in 200 rows, which are hardly "
                        "classes: expected \"numbers\", or \"most_classes\": 150 beside"));
  write(200, 40, ".25");
  EXPECT_THAT(Firn({"train", path}).err, HasSubstr("$.data.task: "));
  fs::remove_all(folder + "/run");
  write(200, 40, "");
  EXPECT_EQ(Firn({"train", path}).status, 0);
  fs::remove_all(folder + "/run");
  write(200, 150, "");
  config["data"]["most_classes"] = 150;
  io::WriteFile(path, config.dump());
  EXPECT_EQ(Firn({"train", path}).status, 0);
}

}  // namespace
}  // namespace firn::cli
