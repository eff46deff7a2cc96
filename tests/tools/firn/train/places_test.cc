// Networks of the zoo that score classes in each place of a sample, pixels or tokens, and networks
// of points.
#include <filesystem>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "firn/io/image/image.h"
#include "firn/io/npy/npy.h"
#include "gmock/gmock.h"
#include "tests/tools/firn/train/training.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

// A folder with arrays x.npy and y.npy, and a configuration that trains `model` with them.
struct Example {
  Example(const std::string& name, const Tensor& x, const Tensor& y, const json& model)
      : config{{"data", {{"kind", "npy"}, {"input", "x.npy"}, {"target", "y.npy"}}},
               {"model", model},
               {"optimizer", {{"name", "adam"}, {"lr", 0.02}}},
               {"validation_share", 0.25},
               {"epochs", 8},
               {"batch", 4},
               {"output", "run"}},
        path(WriteConfig(name, config)),
        folder(fs::path(path).parent_path()) {
    io::WriteNpy(folder + "/x.npy", x);
    io::WriteNpy(folder + "/y.npy", y);
  }
  // Changes the configuration, and removes what a run with another one has left.
  const std::string& Configured(const json& more = json::object()) {
    json changed = config;
    changed.merge_patch(more);
    fs::remove_all(folder + "/run");
    io::WriteFile(path, changed.dump());
    return path;
  }
  std::string Error(const json& more = json::object()) {
    return Firn({"train", Configured(more), "--quiet"}).err;
  }
  Tensor Result(const Tensor& x) const {
    StaticGraph graph = io::LoadGraph(folder + "/run/model.firn");
    return graph(x);
  }

  json config;
  std::string path, folder;
};

// A run, and one that is resumed after two epochs, end with equal bits. Returns
// its result.
json TrainedInTwoParts(Example& e) {
  const json whole = Trained(e.Configured());
  const std::string parameters = io::ReadFile(e.folder + "/run/parameters.h5");
  Trained(e.Configured({{"epochs", 2}}));
  io::WriteFile(e.path, e.config.dump());
  const json rest = Trained(e.path);
  EXPECT_GT(rest["resumed_at"], 0);
  EXPECT_EQ(rest["loss"], whole["loss"]);
  EXPECT_TRUE(io::ReadFile(e.folder + "/run/parameters.h5") == parameters);
  return whole;
}

const json kSmallUnet = {{"name", "unet"}, {"channels", 4}, {"levels", 2}, {"dropout", 0}};

// Which pixels are bright.
Example Pixels(const std::string& name, int64_t images = 16) {
  ManualSeed(3);
  const Tensor x = Randn({images, 1, 8, 8});
  return Example(name, x, Gt(x, 0).To(DType::kU8).Reshape({images, 8, 8}), kSmallUnet);
}

TEST(PlacesTest, SegmentationLearnsAClassForEachPixel) {
  Example e = Pixels("pixels", 64);
  const double before = Trained(e.Configured({{"optimizer", {{"lr", 0}}}, {"epochs", 1}}))["loss"];
  const json got = TrainedInTwoParts(e);
  EXPECT_LT(got["loss"], before / 2);
  EXPECT_GT(got["metric"], 0.8);  // of pixels
  EXPECT_LT(Trained(e.Configured({{"frozen", true}}))["loss"], before / 2);

  // The metric is that of the network that was written.
  Trained(e.Configured({{"validation", e.config["data"]}, {"validation_share", nullptr}}));
  const Tensor x = io::ReadNpy(e.folder + "/x.npy"), y = io::ReadNpy(e.folder + "/y.npy");
  io::Accuracy accuracy;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const Tensor scores = e.Result(x[Range(i, i + 1)]);
    EXPECT_EQ(scores.shape(), (Shape{1, 2, 8, 8}));
    accuracy.Update(scores, y[Range(i, i + 1)].To(DType::kI64));
  }
  EXPECT_GT(accuracy.Value(), 0.8);
}

// A table of files, as of NNabla: each mask is a grey picture whose numbers are the classes.
TEST(PlacesTest, MasksMayBePictures) {
  Example e = Pixels("masks");
  const Tensor y = io::ReadNpy(e.folder + "/y.npy");
  std::string table = "x:image,y:mask\n";
  for (int64_t i = 0; i < 16; ++i) {
    const Tensor mask = y[Range(i, i + 1)];
    const std::string name = std::to_string(i) + ".png";
    io::WriteImage(e.folder + "/x" + name, mask * 200);
    io::WriteImage(e.folder + "/y" + name, mask);
    table += "x" + name + ",y" + name + "\n";
  }
  io::WriteFile(e.folder + "/t.csv", table);
  e.config["data"] = {
      {"kind", "dataset"}, {"path", "t.csv"}, {"normalize", false}, {"scale", 1 / 255.0}};
  EXPECT_GT(Trained(e.Configured())["metric"], 0.9);
}

// Layers give scores of places, too.
TEST(PlacesTest, LayersLearnAClassForEachPixel) {
  Example e = Pixels("pixel_layers");
  e.config["model"] = {{"name", "layers"},
                       {"layers",
                        {{{"layer", "Conv2d"}, {"out", 4}, {"kernel", 3}, {"padding", "same"}},
                         {{"layer", "Relu"}},
                         {{"layer", "Conv2d"}, {"out", 2}, {"kernel", 1}}}}};
  EXPECT_GT(Trained(e.Configured())["metric"], 0.8);
  e.config["model"]["layers"].push_back({{"layer", "Flatten"}});
  EXPECT_THAT(e.Error(), HasSubstr("the network gives [128] for a sample, expected [2, 8, 8]: "
                                   "scores of 2 classes for each of the places [8, 8]"));
}

constexpr int64_t kWords = 7;

// Texts in which each id is one more than that before it, and what follows each.
Example Texts(const std::string& name, json model) {
  ManualSeed(4);
  const Tensor x = (Randint(0, kWords, {16, 1}) + Arange(int64_t{0}, 6, 1)) % kWords;
  Example e(name, x, (x + 1) % kWords, model);
  return e;
}

TEST(PlacesTest, LanguageModelsLearnWhatFollows) {
  const json models[] = {
      {{"name", "lstm_lm_small"}, {"vocabulary", kWords}, {"hidden", 16}, {"layers", 1}},
      {{"name", "gpt2"},
       {"vocabulary", kWords},
       {"positions", 6},
       {"hidden", 16},
       {"heads", 2},
       {"layers", 1},
       {"dropout", 0}},
      {{"name", "wavenet"},
       {"levels", kWords},
       {"cycles", 1},
       {"layers", 2},
       {"residual", 16},
       {"skip", 16}}};
  for (const json& model : models) {
    const std::string name = model["name"];
    SCOPED_TRACE(name);
    Example e = Texts("text_" + name, model);
    const double before =
        Trained(e.Configured({{"optimizer", {{"lr", 0}}}, {"epochs", 1}}))["loss"];
    const json got = TrainedInTwoParts(e);
    EXPECT_LT(got["loss"], before / 2);
    EXPECT_GT(got["metric"], 0.8);  // of tokens
    const Tensor x = io::ReadNpy(e.folder + "/x.npy")[Range(0, 1)];
    const Shape want = name == "wavenet" ? Shape{1, kWords, 6} : Shape{1, 6, kWords};
    EXPECT_EQ(e.Result(x).shape(), want);  // as the zoo's network gives them
  }
}

TEST(PlacesTest, PointsMayBeRowsOrColumns) {
  ManualSeed(5);
  const Tensor label = Randint(0, 2, {16});
  // Spread along the first axis or the last one.
  const Tensor rows = Randn({16, 12, 3}) *
                      Stack({label + 1, label * 0 + 1, 2 - label}, 1).To(DType::kF32).Unsqueeze(1) *
                      2;
  Example e("points", rows, label, {{"name", "pointnet"}, {"dropout", 0}});
  e.config["optimizer"] = {{"name", "sgd"}, {"lr", 0.02}};
  e.config["validation_share"] = 0;
  e.config["epochs"] = 3;
  const json first = Trained(e.Configured({{"epochs", 1}})), got = Trained(e.Configured());
  EXPECT_LT(got["loss"], first["loss"]);
  EXPECT_EQ(e.Result(rows[Range(0, 1)]).shape(), (Shape{1, 2}));
  io::WriteNpy(e.folder + "/x.npy", rows.Transpose(1, 2));
  EXPECT_EQ(Trained(e.Configured({{"epochs", 1}}))["loss"], first["loss"]);
  io::WriteNpy(e.folder + "/x.npy", Randn({16, 12, 4}));
  EXPECT_THAT(e.Error(), HasSubstr("pointnet does not take samples [12, 4]"));
  io::WriteNpy(e.folder + "/x.npy", Randn({16, 12}));
  EXPECT_THAT(e.Error(), HasSubstr("pointnet takes points [3, count] or [count, 3], a sample is "
                                   "[12]"));
}

TEST(PlacesTest, NamesWhatDoesNotFit) {
  Example e = Pixels("wrong_pixels");
  const auto target = [&](const Tensor& y) {
    io::WriteNpy(e.folder + "/y.npy", y);
    return e.Error();
  };
  EXPECT_THAT(target(Zeros({16, 4, 4}, DType::kI64)),
              HasSubstr("the network gives [1, 8, 8] for a sample, expected [1, 4, 4]"));
  EXPECT_THAT(target(Arange(int64_t{0}, 16, 1)),
              HasSubstr("the network gives [16, 8, 8] for a sample, expected [16]: scores of 16 "
                        "classes"));
  EXPECT_THAT(target(Full({16, 8, 8}, -1, DType::kI64)),
              HasSubstr("y.npy: sample 0: expected a class from 0 to 999999, got -1"));
  io::WriteNpy(e.folder + "/x.npy", Randn({16, 1, 7, 8}));
  EXPECT_THAT(target(Zeros({16, 7, 8}, DType::kI64)),
              HasSubstr("unet does not take samples [1, 7, 8]: "));
  EXPECT_THAT(e.Error({{"model", {{"classes", 3}}}}), HasSubstr("there is no key \"classes\""));
  EXPECT_THAT(e.Error({{"model", {{"levels", 0}}}}), HasSubstr("$.model.levels: expected"));

  Example text = Texts("wrong_ids", {{"name", "lstm_lm_small"}, {"vocabulary", 5}, {"hidden", 4}});
  EXPECT_THAT(text.Error(), HasSubstr("an input has "));
  EXPECT_THAT(text.Error(), HasSubstr("expected ids from 0 to 4"));
  io::WriteNpy(text.folder + "/x.npy", Zeros({16, 6}, DType::kI64));
  EXPECT_THAT(text.Error(), HasSubstr("the network gives [6, 5] for a sample, expected [6, 7]"));
  io::WriteNpy(text.folder + "/x.npy", Full({16, 6}, 0.5));
  EXPECT_THAT(text.Error(), HasSubstr("an input has 0.5: expected ids from 0 to 4"));
  io::WriteNpy(text.folder + "/x.npy", Zeros({16, 6, 2}, DType::kI64));
  EXPECT_THAT(text.Error(), HasSubstr("lstm_lm_small takes ids [length], a sample is [6, 2]"));
}

}  // namespace
}  // namespace firn::cli
