// Training from the command line: each kind of data, going on after an interruption, mistakes.
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

json DigitsConfig() {
  return json::parse(
      R"({"data": {"kind": "digits"}, "validation": {"kind": "digits", "part": "test"},
    "model": {"name": "mlp", "hidden": [32]}, "optimizer": {"name": "adam", "lr": 0.01},
    "schedule": {"name": "cosine"}, "epochs": 4, "seed": 1, "output": "run"})");
}

TEST(TrainTest, TrainsOnDigits) {
  const std::string config = WriteConfig("digits", DigitsConfig());
  const Outcome o = Firn({"train", config});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("epoch 4: loss "));
  EXPECT_THAT(o.out, HasSubstr("metric: 0."));
  const std::string run = fs::path(config).parent_path() / "run";
  EXPECT_THAT(o.out, HasSubstr("parameters: " + run + "/parameters.h5"));
  // The graph is the network, for one image.
  StaticGraph graph = io::LoadGraph(run + "/model.firn");
  const auto test = io::Digits({.part = io::DigitsOptions::Part::kTest});
  int right = 0;
  for (int64_t i = 0; i < 50; ++i) {
    const io::Sample s = test->Get(i);
    right += Argmax(graph(s.input.Unsqueeze(0)), 1).Item() == s.target.Item() ? 1 : 0;
  }
  EXPECT_GT(right, 40);
  EXPECT_EQ(io::Load(run + "/parameters.h5").size(), 4u);
}

TEST(TrainTest, ProgressForProgramsIsALineOfJsonAnEpoch) {
  json config = DigitsConfig();
  config["epochs"] = 2;
  const Outcome o = Firn({"train", WriteConfig("lines", config), "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  std::istringstream lines(o.err);
  std::vector<json> epochs;
  for (std::string line; std::getline(lines, line);) epochs.push_back(json::parse(line));
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[1]["epoch"], 1);
  const json result = json::parse(o.out);
  EXPECT_EQ(result["loss"], epochs[1]["loss"]);
  EXPECT_EQ(result["metric"], epochs[1]["metric"]);
  EXPECT_FALSE(result["stopped_early"]);
}

std::string Parameters(const std::string& config) {
  return io::ReadFile(fs::path(config).parent_path() / "run/parameters.h5");
}

TEST(TrainTest, GoesOnWhereItStopped) {
  json config = DigitsConfig();
  config["schedule"] = {{"name", "step"}, {"interval", 1}, {"gamma", 0.7}};
  for (const bool frozen : {false, true}) {
    config["frozen"] = frozen;
    config["epochs"] = 3;
    const std::string alone = WriteConfig("alone", config);
    Trained(alone);
    config["epochs"] = 1;
    const std::string broken = WriteConfig("broken", config);
    Trained(broken);
    config["epochs"] = 3;
    io::WriteFile(broken, config.dump());
    const json rest = Trained(broken);
    EXPECT_EQ(rest["resumed_at"], 24);
    EXPECT_TRUE(Parameters(alone) == Parameters(broken));
    const json nothing_left = Trained(broken);
    EXPECT_EQ(nothing_left["resumed_at"], 72);
    EXPECT_EQ(nothing_left["metric"], rest["metric"]);
    EXPECT_TRUE(Parameters(alone) == Parameters(broken));
  }
}

// Clipped, accumulated, in bf16, with an average of weights and a rate that follows the validation.
TEST(TrainTest, GoesOnWithAllThatAStepMayHave) {
  json config = DigitsConfig();
  config["schedule"] = {{"name", "reduce_on_plateau"}, {"patience", 0}, {"threshold", 0.5}};
  config.update({{"clip_grad_norm", 1}, {"accumulate", 3}, {"ema", 0.9}, {"precision", "bf16"}});
  for (const bool frozen : {false, true}) {
    config["frozen"] = frozen;
    config["epochs"] = 3;
    const std::string alone = WriteConfig("all_alone", config);
    const json whole = Trained(alone);
    EXPECT_EQ(whole["step"], 24);  // 1500 samples in batches of 64, three a step
    EXPECT_LT(whole["lr"], 0.01);
    EXPECT_GT(whole["metric"], 0.5);
    config["epochs"] = 1;
    const std::string broken = WriteConfig("all_broken", config);
    Trained(broken);
    config["epochs"] = 3;
    io::WriteFile(broken, config.dump());
    EXPECT_EQ(Trained(broken)["resumed_at"], 8);
    EXPECT_TRUE(Parameters(alone) == Parameters(broken));
    EXPECT_EQ(Trained(broken)["metric"], whole["metric"]);
  }
}

TEST(TrainTest, EachKeyOfAStepChangesWhatComesOut) {
  json config = DigitsConfig();
  config["epochs"] = 1;
  config["optimizer"] = {{"name", "sgd"}, {"lr", 0.05}};
  const std::string plain = WriteConfig("plain", config);
  Trained(plain);
  const StateDict before =
      io::Load(std::string(fs::path(plain).parent_path()) + "/run/parameters.h5");
  for (const json& more : {json{{"clip_grad_norm", 0.1}}, json{{"accumulate", 2}},
                           json{{"ema", 0.99}}, json{{"precision", "bf16"}}}) {
    json other = config;
    other.update(more);
    const std::string path = WriteConfig("changed", other);
    Trained(path);
    const StateDict after =
        io::Load(std::string(fs::path(path).parent_path()) + "/run/parameters.h5");
    EXPECT_GT(Amax(Abs(after["fc1.weight"] - before["fc1.weight"])).Item(), 1e-5) << more;
  }
  config["optimizer"] = {{"name", "muon"}, {"lr", 0.02}};
  config["epochs"] = 2;
  EXPECT_GT(Trained(WriteConfig("muon", config))["metric"], 0.5);
}

// A run that never began does not keep its folder.
TEST(TrainTest, AMistypedPathDoesNotBlockTheOutput) {
  json config = DigitsConfig();
  config["epochs"] = 1;
  const json right = config["data"];
  config["data"] = {{"kind", "csv"}, {"file", "/no/such/file.csv"}, {"target", "y"}};
  const std::string path = WriteConfig("mistyped", config);
  EXPECT_EQ(Firn({"train", path}).status, 1);
  // This run made its folder; a mistake in the configuration would have stopped it before.
  EXPECT_TRUE(fs::exists(fs::path(path).parent_path() / "run/config.json"));
  config["data"] = right;
  io::WriteFile(path, config.dump());
  EXPECT_EQ(Trained(path)["step"], 24);
}

TEST(TrainTest, SaysWhoseTheNumbersOfTheValidationAre) {
  json config = DigitsConfig();
  config["epochs"] = 1;
  EXPECT_EQ(Trained(WriteConfig("of_weights", config))["validation_of"], "weights");
  config["ema"] = 0.9;
  EXPECT_EQ(Trained(WriteConfig("of_average", config))["validation_of"], "average");
}

TEST(TrainTest, SaysInKeysOfTheFileWhatToTryAfterARunDiverged) {
  json config = DigitsConfig();
  config["optimizer"] = {{"name", "sgd"}, {"lr", 1e30}};
  const Outcome o = Firn({"train", WriteConfig("diverged", config)});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("the run has diverged"));
  EXPECT_THAT(o.err, HasSubstr(R"(warms up ("warmup" of "schedule"), a "clip_grad_norm", and)"));
  EXPECT_THAT(o.err, Not(HasSubstr("optim::")));
  EXPECT_THAT(o.err, Not(HasSubstr("AnomalyScope")));
}

TEST(TrainTest, RefusesToGoOnWithAnotherConfiguration) {
  json config = DigitsConfig();
  config["epochs"] = 1;
  const std::string path = WriteConfig("other", config);
  Trained(path);
  config["optimizer"]["lr"] = 0.5;
  io::WriteFile(path, config.dump());
  const Outcome o = Firn({"train", path});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("config.json differs at /optimizer/lr"));
  const std::string elsewhere = io::TempPath("elsewhere");
  fs::remove_all(elsewhere);
  EXPECT_EQ(Firn({"train", path, "--output", elsewhere}).status, 0);
  EXPECT_TRUE(fs::exists(elsewhere + "/parameters.h5"));
}

TEST(TrainTest, TrainsOnNumbers) {
  json config = {{"data", {{"kind", "hdf5"}, {"file", "d.h5"}}},
                 {"model", {{"name", "mlp"}, {"hidden", json::array()}}},
                 {"optimizer", {{"name", "sgd"}, {"lr", 0.1}}},
                 {"loss", "l1"},
                 {"validation_share", 0},
                 {"epochs", 15},
                 {"batch", 10},
                 {"output", "run"}};
  const std::string path = WriteConfig("numbers", config);
  ManualSeed(3);
  const Tensor x = Randn({100, 3});
  StateDict file;
  file.Insert("x", x);
  file.Insert("y", Sum(x, 1));
  io::Save(std::string(fs::path(path).parent_path()) + "/d.h5", file);
  const json result = Trained(path);
  EXPECT_LT(result["loss"], 0.2);
  EXPECT_TRUE(result["metric"].is_null());
  // Targets with fewer numbers do not tell.
  io::Save(std::string(fs::path(path).parent_path()) + "/two.h5",
           {{"x", x}, {"y", Stack({Sum(x, 1), Sum(x, 1)}, 1)}});
  config.erase("validation_share");
  config["validation"] = config["data"];
  config["data"]["file"] = "two.h5";
  config["output"] = "two";
  io::WriteFile(path, config.dump());
  EXPECT_THAT(Firn({"train", path}).err, HasSubstr("the validation has 1 numbers as targets"));
  config["data"] = config["validation"];
  config.erase("validation");
  // A loss for classes is refused before any file is written.
  config["loss"] = "cross_entropy";
  config["output"] = "other";
  io::WriteFile(path, config.dump());
  EXPECT_THAT(Firn({"train", path}).err, HasSubstr("the loss 'cross_entropy' is for classes"));
}

TEST(TrainTest, TrainsOnFoldersOfImages) {
  json config = {
      {"data", {{"kind", "images"}, {"folder", "."}, {"size", {8, 8}}, {"color", "grey"}}},
      {"model", {{"name", "resnet"}}},
      {"optimizer", {{"lr", 0.01}}},
      {"epochs", 3},
      {"batch", 8},
      {"output", "../run"}};
  const std::string path = WriteConfig("images", config);
  const std::string folder = fs::path(path).parent_path();
  const auto digits = io::Digits();
  for (int64_t i = 0; i < 60; ++i) {
    const io::Sample s = digits->Get(i);
    if (s.target.Item() > 1) continue;
    const std::string of_class = folder + (s.target.Item() == 0 ? "/zero" : "/one");
    fs::create_directories(of_class);
    io::WriteImage(of_class + "/" + std::to_string(i) + ".png", (s.input * 255).To(DType::kU8));
  }
  fs::remove_all(fs::path(folder).parent_path() / "run");
  io::WriteFile(folder + "/one/other.webp", "RIFF\4   WEBP");
  EXPECT_THAT(Firn({"train", path}).err, HasSubstr("(skip_unread leaves them out): " + folder));
  config["data"]["skip_unread"] = true;
  io::WriteFile(path, config.dump());
  const json result = Trained(path);
  EXPECT_EQ(result["output"], (fs::path(folder).parent_path() / "run").string());
  EXPECT_EQ(io::ReadFile(result["output"].get<std::string>() + "/classes.txt"), "one\nzero\n");
  EXPECT_THAT(Firn({"train", path, "--quiet"}).err, Not(HasSubstr("epoch")));
}

TEST(TrainTest, TrainsASavedStep) {
  const std::string path = WriteConfig("graph", {{"data", {{"kind", "digits"}}},
                                                 {"epochs", 1},
                                                 {"model", {{"graph", "step.firn"}}},
                                                 {"output", "run"}});
  const std::string folder = fs::path(path).parent_path();
  ManualSeed(2);
  nn::Sequential net{nn::New<nn::Flatten>(), nn::New<nn::Linear>({.in = 64, .out = 10})};
  optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
  StaticGraph step = Freeze(
      [&](const Tensor& x, const Tensor& y) {
        adam.ZeroGrad();
        const Tensor loss = CrossEntropy(net(x), y);
        loss.Backward();
        adam.Step();
        return loss;
      },
      Zeros({50, 1, 8, 8}), Zeros({50}, DType::kI64));
  StateDict names = net.state_dict();
  names.InsertAll("optimizer", adam.state_dict());
  const io::GraphInfo info = {.pixel_scale = 1.0 / 255};
  io::SaveGraph(folder + "/step.firn", step,
                {.names = names, .drop_gradients = true, .info = info});

  EXPECT_EQ(Trained(path)["step"], 30);
  // Three epochs in two goes end as three in one.
  json config = json::parse(io::ReadFile(path));
  config["epochs"] = 3;
  io::WriteFile(path, config.dump());
  const json rest = Trained(path);
  EXPECT_EQ(rest["resumed_at"], 30);
  EXPECT_TRUE(rest["lr"].is_null());
  EXPECT_LT(rest["loss"], 1);
  fs::remove_all(folder + "/run2");
  ASSERT_EQ(Firn({"train", path, "--quiet", "--output", folder + "/run2"}).status, 0);
  EXPECT_TRUE(io::ReadFile(folder + "/run/graph.firn") ==
              io::ReadFile(folder + "/run2/graph.firn"));
  EXPECT_EQ(io::LoadGraphInfo(folder + "/run/graph.firn"), info);
}

TEST(TrainTest, ChecksWithoutTraining) {
  const std::string path = WriteConfig("check", DigitsConfig());
  EXPECT_EQ(Firn({"train", path, "--check"}).status, 0);
  EXPECT_FALSE(fs::exists(fs::path(path).parent_path() / "run"));
}

TEST(TrainTest, Mistakes) {
  EXPECT_EQ(Firn({"train"}).status, 2);
  EXPECT_EQ(Firn({"train", "x.json", "--outptu", "y"}).status, 2);
  EXPECT_EQ(Firn({"train", "/nowhere.json"}).status, 1);
  json config = DigitsConfig();
  config["model"] = {{"name", "lenett"}};
  const Outcome o = Firn({"train", WriteConfig("mistake", config)});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(
      o.err,
      HasSubstr("train.json: $.model.name: expected mlp, layers, file or a network of `firn zoo "
                "list` that gives scores of classes, got \"lenett\"; of "));
  EXPECT_THAT(o.err, HasSubstr("the nearest are lenet"));
  config["model"] = {{"name", "mlp"}};
  config["data"] = {{"kind", "mnist"}, {"folder", "nowhere"}};
  EXPECT_THAT(Firn({"train", WriteConfig("mistake", config)}).err, HasSubstr("mistake/nowhere"));
  config["data"] = {{"kind", "digits"}};
  config["validation"] = {
      {"kind", "csv"}, {"file", "train.json"}, {"target", 0}, {"task", "numbers"}};
  EXPECT_EQ(Firn({"train", WriteConfig("mistake", config)}).status, 1);
}

}  // namespace
}  // namespace firn::cli
