// `firn onnx check` and `firn onnx info` on models of our own (tests/io/onnx/make_check_data.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"

namespace firn::cli {
namespace {

using ::firn::io::TempPath;
using ::testing::HasSubstr;

const std::string kData = "tests/io/onnx/data/check";

// All results are those of the onnx package, except for one that was changed and one of texts.
TEST(OnnxTest, ChecksFolders) {
  const Outcome o = Firn({"onnx", "check", kData, "--json"});
  EXPECT_EQ(o.status, 1) << o.err;
  int64_t passed = 0;
  for (const auto& row : nlohmann::json::parse(o.out)) {
    const auto folder = row["folder"].get<std::string>();
    const std::string expected = folder == kData + "/not_right" ? "wrong"
                                 : folder == kData + "/strings" ? "unsupported"
                                                                : "pass";
    EXPECT_EQ(row["verdict"], expected) << row;
    EXPECT_EQ(row["operators"].size(), 1) << row;
    passed += row["verdict"] == "pass" ? 1 : 0;
  }
  EXPECT_EQ(passed, 15);
  EXPECT_EQ(Firn({"onnx", "check", kData + "/gru"}).status, 0);
}

TEST(OnnxTest, CountsByOperatorAndSaysWhatIsWrong) {
  const std::string rows = TempPath("rows.jsonl");
  const Outcome o = Firn({"onnx", "check", kData + "/not_right", kData + "/gru", "--json=" + rows});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("wrong  " + kData +
                               "/not_right: output \"y\": "
                               "6 of 6 elements differ, by 1 at most\n"));
  EXPECT_THAT(o.out, HasSubstr("GRU               1      0            0        0\n"));
  std::ifstream in(rows);
  std::string first, second, third;
  EXPECT_TRUE(std::getline(in, first) && std::getline(in, second) && !std::getline(in, third));
  EXPECT_EQ(nlohmann::json::parse(second)["verdict"], "pass");
}

// Each folder runs in a process of its own: the report says if one crashed, and the others go on.
TEST(OnnxTest, EndsWhatTakesTooLong) {
  const Outcome o = Firn({"onnx", "check", kData + "/gru", "--seconds=0", "--json"});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(nlohmann::json::parse(o.out)[0]["verdict"], "crashed");
}

TEST(OnnxTest, DamageIsWrongAndNoModelIsAMistake) {
  const std::string folder = TempPath("damaged");
  std::filesystem::copy(kData + "/gru", folder, std::filesystem::copy_options::recursive);
  const std::string model = io::ReadFile(folder + "/model.onnx");
  io::WriteFile(folder + "/model.onnx", model.substr(0, model.size() / 2));
  EXPECT_THAT(Firn({"onnx", "check", folder}).out, HasSubstr("wrong  " + folder));
  EXPECT_EQ(Firn({"onnx", "check", kData + "/gru/test_data_set_0"}).status, 2);
  const std::string file = kData + "/gru/model.onnx";
  EXPECT_THAT(Firn({"onnx", "check", file}).err,
              HasSubstr(file + ": expected a folder with model.onnx, got a file"));
  EXPECT_THAT(Firn({"onnx", "check", "nowhere"}).err,
              HasSubstr("nowhere: expected a folder with model.onnx, got a name that nothing has"));
  EXPECT_EQ(Firn({"onnx", "info", folder + "/model.onnx"}).status, 1);
}

TEST(OnnxTest, Info) {
  const Outcome o = Firn({"onnx", "info", kData + "/gru/model.onnx", "--json"});
  EXPECT_EQ(o.status, 0) << o.err;
  const auto info = nlohmann::json::parse(o.out);
  EXPECT_EQ(info["opsets"]["ai.onnx"], 21);
  EXPECT_EQ(info["operators"]["GRU"], 1);
  EXPECT_EQ(info["inputs"][0]["name"], "x");
  EXPECT_EQ(info["inputs"][0]["type"], "FLOAT [3, 2, 4]");
  EXPECT_EQ(info["parameters"], 9 * 4 + 9 * 3 + 18);
  EXPECT_THAT(Firn({"onnx", "info", kData + "/gru/model.onnx"}).out,
              HasSubstr("opsets ai.onnx 21"));
}

}  // namespace
}  // namespace firn::cli
