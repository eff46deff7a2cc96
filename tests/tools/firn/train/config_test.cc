// Errors in a configuration name the file, the place, what was expected and what came.
#include "tools/firn/train/config.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"
#include "tools/firn/train/train_config.h"

namespace firn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Config Read(const std::string& text) { return Config::Parse(text, "train.json"); }

template <class F>
std::string Error(const std::string& text, F ask) {
  return firn::testing::ErrorOf([&] { ask(Read(text)); });
}

TEST(ConfigTest, GivesWhatIsThereAndDefaultsForTheRest) {
  const Config c = Read(
      R"({"n": 3, "x": 0.5, "b": true, "t": "word", "l": [1, -2], "o": {"y": 7}, "w": ["", "NA"]})");
  EXPECT_EQ(c.Integer("n", 0), 3);
  EXPECT_EQ(c.Number("n", 0), 3);
  EXPECT_EQ(c.Number("x", 0), 0.5);
  EXPECT_TRUE(c.Flag("b", false));
  EXPECT_EQ(c.RequiredText("t"), "word");
  EXPECT_EQ(c.Choice("t", {"word", "other"}, "other"), "word");
  EXPECT_THAT(c.Integers("l", {}), ElementsAre(1, -2));
  EXPECT_THAT(c.Texts("w", {}), ElementsAre("", "NA"));
  EXPECT_THAT(c.Texts("v", {"default"}), ElementsAre("default"));
  EXPECT_EQ(c.Object("o").RequiredInteger("y", 0, 9), 7);
  EXPECT_EQ(c.Integer("m", 5), 5);
  EXPECT_EQ(c.Object("p").Number("y", 2), 2);
  EXPECT_FALSE(c.Has("q"));
  c.Finish();
}

TEST(ConfigTest, NamesFilePlaceExpectedAndGot) {
  const auto number = [](const Config& c) { c.Object("optimizer").Number("lr", 1); };
  EXPECT_EQ(Error(R"({"optimizer": {"lr": "fast"}})", number),
            R"(config: train.json: $.optimizer.lr: expected a number, got the text "fast")");
  EXPECT_THAT(Error(R"({"optimizer": [1]})", number),
              HasSubstr("$.optimizer: expected an object, got a list"));
  const auto integer = [](const Config& c) { c.Integer("n", 1, 0, 9); };
  for (const char* wrong : {"2.5", "-1", "10", "1e3", "18446744073709551615", "null", "\"2\""}) {
    EXPECT_THAT(Error(std::string(R"({"n": )") + wrong + "}", integer),
                HasSubstr("$.n: expected a whole number from 0 to 9, got "))
        << wrong;
  }
  EXPECT_THAT(Error(R"({"b": 1})", [](const Config& c) { c.Flag("b", true); }),
              HasSubstr("$.b: expected true or false, got 1"));
  EXPECT_THAT(Error(R"({"t": {}})", [](const Config& c) { c.Text("t", ""); }),
              HasSubstr("$.t: expected text, got an object"));
  EXPECT_THAT(Error(R"({"l": [1, "x"]})", [](const Config& c) { c.Integers("l", {}); }),
              HasSubstr(R"($.l[1]: expected a whole number, got the text "x")"));
  EXPECT_THAT(Error(R"({"w": ["", 1]})", [](const Config& c) { c.Texts("w", {}); }),
              HasSubstr("$.w[1]: expected text, got 1"));
  EXPECT_THAT(Error(R"({"w": "NA"})", [](const Config& c) { c.Texts("w", {}); }),
              HasSubstr(R"($.w: expected a list of texts, got the text "NA")"));
  EXPECT_THAT(Error("[1]", [](const Config&) {}), HasSubstr("$: expected an object, got a list"));
}

TEST(ConfigTest, SuggestsTheNearestName) {
  const auto choice = [](const Config& c) { c.Choice("name", {"adam", "sgd"}, "sgd"); };
  EXPECT_THAT(Error(R"({"name": "adm"})", choice),
              HasSubstr(R"(expected one of adam, sgd, got the text "adm" (did you mean 'adam'?))"));
  EXPECT_THAT(Error(R"({"name": ""})", choice), HasSubstr("expected one of adam, sgd"));
  EXPECT_THAT(Error(R"({"name": "completely other"})", choice), Not(HasSubstr("did you mean")));
  const auto finish = [](const Config& c) {
    c.Object("optimizer").Number("weight_decay", 0);
    c.Finish();
  };
  EXPECT_THAT(
      Error(R"({"optimizer": {"wieght_decay": 1}})", finish),
      HasSubstr(R"($.optimizer: there is no key "wieght_decay" (did you mean 'weight_decay'?))"));
  EXPECT_THAT(Error(R"({"optimiser": {}})", finish),
              HasSubstr(R"($: there is no key "optimiser" (did you mean 'optimizer'?))"));
  EXPECT_THAT(Error(R"({"modle": {}})", [](const Config& c) { c.RequiredObject("model"); }),
              HasSubstr("$.model: expected an object, got nothing (is it 'modle'?)"));
}

TEST(ConfigTest, RefusesTextThatIsNoConfiguration) {
  const auto nothing = [](const Config&) {};
  EXPECT_THAT(Error("", nothing), HasSubstr("train.json: offset "));
  EXPECT_THAT(Error(R"({"a": 1,})", nothing), HasSubstr("train.json: offset 9"));
  EXPECT_THAT(Error(R"({"a": 1e999})", nothing), HasSubstr("train.json"));
  EXPECT_THAT(Error(R"({"a": 1, "b": {"c": 1, "c": 2}})", nothing),
              HasSubstr(R"(the key "c" stands twice in an object)"));
  // A key may stand in several objects.
  EXPECT_EQ(Error(R"({"a": {"c": 1}, "b": {"c": 1}})", nothing), "");
}

TEST(ConfigTest, RefusesDepthAndSizeBeforeItIsTaken) {
  const auto nested = [](size_t depth) {
    return R"({"a": )" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  const auto nothing = [](const Config&) {};
  EXPECT_EQ(Error(nested(31), nothing), "");
  EXPECT_THAT(Error(nested(32), nothing), HasSubstr("nested more than 32 levels deep"));
  EXPECT_THAT(Error(nested(500'000), nothing), HasSubstr("nested more than 32 levels deep"));
  EXPECT_THAT(Error(std::string((1 << 20) + 1, ' '), nothing), HasSubstr("at most 1048576 bytes"));

  const std::string path = io::TempPath("large.json");
  io::WriteFile(path, "{}");
  std::filesystem::resize_file(path, uint64_t{1} << 40);  // sparse
  EXPECT_THAT(firn::testing::ErrorOf([&] { Config::Load(path); }),
              HasSubstr("at most 1048576 bytes"));
  std::filesystem::remove(path);
  EXPECT_THAT(firn::testing::ErrorOf([&] { Config::Load(::testing::TempDir()); }),
              HasSubstr(::testing::TempDir()));
  EXPECT_THAT(firn::testing::ErrorOf([] { Config::Load("/nowhere.json"); }),
              HasSubstr("/nowhere.json"));
}

TEST(ConfigTest, PathsAreThoseOfItsFolder) {
  EXPECT_EQ(Config::Parse("{}", "/a/b/train.json").Path("../data"), "/a/data");
  EXPECT_EQ(Config::Parse("{}", "/a/b/train.json").Path("/data"), "/data");
  EXPECT_EQ(Config::Parse("{}", "train.json").Path("run"), "run");
}

constexpr char kNetwork[] = R"({
  "data": {"kind": "csv", "file": "iris.csv", "target": 4, "inputs": [0, 1], "separator": ";"},
  "validation_share": 0.2,
  "model": {"name": "mlp", "hidden": [32, 16]},
  "optimizer": {"name": "adamw", "lr": 0.01, "beta1": 0.8, "amsgrad": true, "semantics": "nnabla"},
  "schedule": {"name": "one_cycle", "max_lr": 0.1, "warmup": 1, "unit": "step"},
  "loss": "cross_entropy", "epochs": 3, "batch": 16, "seed": 4, "frozen": true, "patience": 2,
  "checkpoint_every": 10, "keep": "best", "output": "run"})";
constexpr char kImages[] = R"({
  "data": {"kind": "images", "folder": "photos", "size": [24, 32], "color": "grey"},
  "validation": {"kind": "images", "folder": "more", "size": [24, 32], "color": "grey"},
  "model": {"name": "resnet18"}, "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9},
  "accumulate": 2, "clip_grad_norm": 0.5, "ema": 0.99, "precision": "bf16",
  "schedule": {"name": "multi_step", "milestones": [3, 4]}, "output": "run"})";
constexpr char kGraph[] = R"({
  "data": {"kind": "hdf5", "file": "x.h5", "input": "a", "target": "b", "scale": 0.1},
  "model": {"graph": "step.firn"}, "epochs": 2, "output": "/tmp/run"})";

std::string ParseError(const std::string& text) {
  return firn::testing::ErrorOf([&] { ParseTrainConfig(Read(text)); });
}

TEST(TrainConfigTest, ReadsWhatTheReadmeLists) {
  for (const char* text : {kNetwork, kImages, kGraph}) EXPECT_EQ(ParseError(text), "");
  const TrainConfig c = ParseTrainConfig(Config::Parse(kNetwork, "/a/train.json"));
  EXPECT_EQ(c.output, "/a/run");
  EXPECT_EQ(c.validation_share, 0.2);
  EXPECT_EQ(c.epochs, 3);
  EXPECT_TRUE(c.frozen && c.keep_best);
  // The whole run has 6 steps, of which the first is warm-up: all of one_cycle's rate.
  EXPECT_GT(c.rates.schedule(2, 3)(2, 0.01), c.rates.schedule(2, 3)(5, 0.01));
  EXPECT_EQ(ParseTrainConfig(Read(kGraph)).graph, "step.firn");
  EXPECT_EQ(ParseTrainConfig(Read(kImages)).rates.schedule(10, 5)(29, 0.1), 0.1);
  EXPECT_NEAR(ParseTrainConfig(Read(kImages)).rates.schedule(10, 5)(30, 0.1), 0.01, 1e-12);
}

TEST(TrainConfigTest, ReadsTheBlocksOfTheReadme) {
  const std::string page = io::ReadFile("tools/firn/train/README.md");
  int blocks = 0;
  const std::string begin = "```json\n";
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const size_t text = at + begin.size();
    EXPECT_EQ(ParseError(page.substr(text, page.find("```", text) - text)), "");
    ++blocks;
  }
  EXPECT_EQ(blocks, 8);
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(TrainConfigTest, RefusesWhatMakesNoSense) {
  const auto error = [](const char* text, const char* what, const char* by) {
    return ParseError(Replaced(text, what, by));
  };
  EXPECT_THAT(error(kNetwork, "\"csv\"", "\"cvs\""),
              HasSubstr("$.data.kind: expected one of digits, "));
  EXPECT_THAT(error(kNetwork, "\"csv\"", "\"cvs\""), HasSubstr("did you mean 'csv'?"));
  EXPECT_THAT(error(kNetwork, "\"beta1\"", "\"beta3\""),
              HasSubstr("$.optimizer: there is no key \"beta3\" (did you mean 'beta1'?)"));
  EXPECT_THAT(error(kNetwork, "0.01", "-0.01"), HasSubstr("$.optimizer: "));
  EXPECT_THAT(error(kNetwork, "\"nnabla\"", "1"),
              HasSubstr("$.optimizer.semantics: expected text"));
  EXPECT_THAT(error(kNetwork, "0.2", "1"),
              HasSubstr("$.validation_share: expected a number from 0"));
  EXPECT_THAT(error(kNetwork, "[32, 16]", "[32, 0]"), HasSubstr("$.model.hidden: expected sizes"));
  EXPECT_THAT(error(kNetwork, "\";\"", "\";;\""),
              HasSubstr("$.data.separator: expected one character"));
  EXPECT_THAT(error(kNetwork, "\"max_lr\"", "\"maxlr\""), HasSubstr("$.schedule: there is no key"));
  EXPECT_THAT(error(kNetwork, "\"batch\": 16", "\"batch\": 0"),
              HasSubstr("$.batch: expected a whole"));
  EXPECT_THAT(error(kNetwork, "[0, 1]", "[0, 4]"),
              HasSubstr("$.data.inputs: the target is one of them"));
  EXPECT_THAT(error(kImages, "[24, 32]", "[24]"),
              HasSubstr("$.data.size: expected height and width"));
  EXPECT_THAT(error(kImages, "[3, 4]", "[4, 3]"), HasSubstr("$.schedule: "));
  EXPECT_THAT(error(kImages, "\"accumulate\": 2", "\"accumulate\": 0"),
              HasSubstr("$.accumulate: expected a whole number from 1"));
  EXPECT_THAT(error(kImages, "0.99", "1"), HasSubstr("$.ema: expected a number from 0 to below 1"));
  EXPECT_THAT(error(kImages, "0.5", "-1"), HasSubstr("$.clip_grad_norm: expected a number from 0"));
  EXPECT_THAT(error(kImages, "bf16", "bf61"), HasSubstr("did you mean 'bf16'?"));
  EXPECT_THAT(error(kGraph, "\"epochs\"", "\"ema\": 0.9, \"epochs\""),
              HasSubstr("$.ema: goes with no saved graph"));
  EXPECT_THAT(error(kGraph, "\"epochs\"", "\"frozen\": true, \"epochs\""),
              HasSubstr("$.frozen: goes with no saved graph"));
  EXPECT_THAT(error(kGraph, "\"output\"", "\"outptu\""), HasSubstr("is it 'outptu'?"));
}

}  // namespace
}  // namespace firn::cli
