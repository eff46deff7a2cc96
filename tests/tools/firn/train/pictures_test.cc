// firn train shows pictures to a published network as it was trained, and firn forward can do so,
// too.
#include <filesystem>
#include <string>

#include "firn/firn.h"
#include "firn/nn/zoo/zoo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/firn_command.h"
#include "tests/tools/firn/train/training.h"
#include "tools/firn/train/train_config.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

// A folder with three pictures of each of two classes, and a configuration in it.
std::string WritePictures(const std::string& name, json config) {
  config["output"] = "run";
  const std::string path = WriteConfig(name, config);
  ManualSeed(3);
  for (const char* of : {"cat", "dog"}) {
    const std::string folder = fs::path(path).parent_path().string() + "/photos/" + of;
    fs::create_directories(folder);
    const Shape shapes[] = {{3, 60, 43}, {3, 50, 90}, {3, 30, 30}};
    for (int i = 0; i < 3; ++i) {
      io::WriteImage(folder + "/" + std::to_string(i) + ".png",
                     Floor(Rand(shapes[i]) * 256).To(DType::kU8));
    }
  }
  return path;
}
json Pictures(const json& more = {}) {
  json data = {{"kind", "images"}, {"folder", "photos"}};
  if (!more.is_null()) data.update(more);
  return data;
}

TrainingData Read(const std::string& path) {
  return ParseTrainConfig(Config::Load(path)).data.read();
}
std::string PictureOf(const std::string& path, const std::string& name) {
  return fs::path(path).parent_path().string() + "/photos/" + name;
}

// What torchvision's transforms for these weights make of a picture.
Tensor Published(const std::string& file, int64_t shorter, int64_t side, bool bicubic = false) {
  const zoo::Normalization colours = zoo::ImagenetColours();
  const auto how = bicubic ? io::Interpolation::kBicubic : io::Interpolation::kBilinear;
  return io::Compose({io::Resize({.shorter = shorter, .interpolation = how}),
                      io::CenterCrop({.height = side, .width = side}),
                      io::Normalize({.mean = colours.mean, .stddev = colours.stddev})})(
      io::ReadImage(file, {.color = io::ImageColor::kRgb}));
}

TEST(TrainPicturesTest, PublishedNetworksSeeWhatTheyWereTrainedOn) {
  const std::string path = WritePictures(
      "published", {{"data", Pictures()}, {"model", {{"name", "mobilenet_v3_small"}}}});
  const TrainingData data = Read(path);
  ASSERT_EQ(data.samples->size(), 6);
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor want = Published(PictureOf(path, "cat/" + std::to_string(i) + ".png"), 256, 224);
    EXPECT_EQ(data.samples->Get(i).input.ToVector<float>(), want.ToVector<float>()) << i;
  }
  EXPECT_THAT(data.pictures, HasSubstr("resized to 256 pixels at the shorter side (bilinear), then "
                                       "the middle 224 x 224 cut out (firn forward --crop 256)"));
  EXPECT_THAT(data.pictures, HasSubstr("as published for mobilenet_v3_small"));
  EXPECT_EQ(data.info.mean, zoo::ImagenetColours().mean);
}

TEST(TrainPicturesTest, CubicsAndAnotherSizeInProportion) {
  ASSERT_TRUE(zoo::Find("swin_t").bicubic);
  const int64_t resize = zoo::Find("swin_t").resize;
  const std::string path = WritePictures(
      "cubic", {{"data", Pictures({{"size", {56, 56}}})}, {"model", {{"name", "swin_t"}}}});
  const Tensor want = Published(PictureOf(path, "cat/1.png"), resize / 4, 56, true);
  EXPECT_EQ(Read(path).samples->Get(1).input.ToVector<float>(), want.ToVector<float>());
}

// Each side of 30x30 and 60x43 has to cover the longer side of the size as well.
TEST(TrainPicturesTest, SizesThatAreNotSquareAreCovered) {
  const std::string path = WritePictures("oblong", {{"data", Pictures({{"size", {28, 56}}})},
                                                    {"model", {{"name", "mobilenet_v3_small"}}}});
  const io::DatasetPtr samples = Read(path).samples;
  // 28 * 256 / 224 = 32, so that 32 x 64 is covered.
  const Shape covers[] = {{89, 64}, {35, 64}, {64, 64}};
  const zoo::Normalization colours = zoo::ImagenetColours();
  for (int i = 0; i < 3; ++i) {
    const Tensor want =
        io::Compose({io::Resize({.height = covers[i][0], .width = covers[i][1]}),
                     io::CenterCrop({.height = 28, .width = 56}),
                     io::Normalize({.mean = colours.mean, .stddev = colours.stddev})})(
            io::ReadImage(PictureOf(path, "cat/" + std::to_string(i) + ".png"),
                          {.color = io::ImageColor::kRgb}));
    EXPECT_EQ(samples->Get(i).input.ToVector<float>(), want.ToVector<float>()) << i;
  }
}

TEST(TrainPicturesTest, TheOldStretchCanBeHad) {
  const std::string stretched = "stretched to 32 x 32 (bilinear; firn forward --resize)";
  const json cases[] = {
      {{"data", Pictures({{"preprocessing", "stretch"}})},
       {"model", {{"name", "mobilenet_v3_small"}}}},
      {{"data", Pictures({{"color", "grey"}})}, {"model", {{"name", "resnet18"}}}},
      {{"data", Pictures()}, {"model", {{"name", "small_resnet"}}}},
      {{"data", Pictures()}, {"model", {{"name", "mlp"}}}},
  };
  for (const json& config : cases) {
    const std::string path = WritePictures("stretched", config);
    const TrainingData data = Read(path);
    EXPECT_EQ(data.pictures, stretched) << config;
    EXPECT_TRUE(data.info.mean.empty());
    const bool grey = config["data"].contains("color");
    const auto color = grey ? io::ImageColor::kGrey : io::ImageColor::kRgb;
    const Tensor want = io::Compose({io::Resize({.height = 32, .width = 32}), io::ToFloat()})(
        io::ReadImage(PictureOf(path, "cat/0.png"), {.color = color}));
    EXPECT_EQ(data.samples->Get(0).input.ToVector<float>(), want.ToVector<float>());
  }
}

TEST(TrainPicturesTest, MistakesAreNamed) {
  const auto error = [](const json& config) {
    const std::string path = WritePictures("mistakes", config);
    return Firn({"train", path, "--quiet"}).err;
  };
  const json published = {{"name", "mobilenet_v3_small"}};
  EXPECT_THAT(error({{"data", Pictures({{"preprocessing", "strech"}})}, {"model", published}}),
              HasSubstr("$.data.preprocessing: "));
  EXPECT_THAT(
      error({{"data", Pictures({{"preprocessing", "network"}})}, {"model", {{"name", "mlp"}}}}),
      HasSubstr("$.data.preprocessing: expected \"stretch\": the model is no network of"));
  EXPECT_THAT(error({{"data", Pictures({{"preprocessing", "network"}, {"color", "grey"}})},
                     {"model", published}}),
              HasSubstr("is for pictures in colours"));
  const json small = {{"size", {32, 32}}};
  json other = small;
  other["preprocessing"] = "stretch";
  EXPECT_THAT(
      error({{"data", Pictures(small)}, {"validation", Pictures(other)}, {"model", published}}),
      HasSubstr("pictures of the validation are stretched to 32 x 32"));
}

// A run of no epochs: its network gives the same scores for a file by firn forward.
TEST(TrainPicturesTest, ForwardDoesTheSame) {
  const std::string path = WritePictures("forward", {{"data", Pictures({{"size", {32, 32}}})},
                                                     {"model", {{"name", "mobilenet_v3_small"}}},
                                                     {"epochs", 0},
                                                     {"validation_share", 0}});
  const Outcome trained = Firn({"train", path, "--json"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("firn: pictures are resized to 37 pixels"));
  EXPECT_THAT(json::parse(trained.out)["pictures"].get<std::string>(), HasSubstr("--crop 37)"));

  const std::string graph = fs::path(path).parent_path().string() + "/run/model.firn";
  const std::string photo = PictureOf(path, "dog/1.png");
  StaticGraph net = io::LoadGraph(graph);
  const Tensor scores = net(Unsqueeze(Published(photo, 37, 32), 0));
  const Outcome said = Firn({"forward", graph, photo, "--crop", "37", "--numbers", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json row = json::parse(said.out)["rows"][0];
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(row["y__" + std::to_string(k)], scores.ToVector<double>()[k], 1e-5);
  }
  EXPECT_THAT(Firn({"forward", graph, photo, "--crop", "31"}).err,
              HasSubstr("expected at least 32 pixels for the shorter side"));
  EXPECT_EQ(Firn({"forward", graph, photo, "--crop", "37", "--resize"}).status, 2);
  EXPECT_EQ(Firn({"forward", graph, photo, "--bicubic"}).status, 2);
}

}  // namespace
}  // namespace firn::cli
