// Pictures in a folder for each class. A published network sees them as in its own training, since
// its weights are worth little on stretched pictures of other colours.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/transforms/normalize.h"
#include "firn/io/image/image.h"
#include "firn/nn/zoo/network.h"
#include "tools/firn/fit_picture.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

// Whether the network comes with a description of the pictures that it was trained with.
bool Describes(const zoo::Network* network) {
  return network != nullptr && (network->resize > 0 || !network->colours.mean.empty()) &&
         network->inputs[0].shape[0] == 3;
}

// The published side before the middle is cut out, in proportion to the size here.
int64_t ShorterOf(const zoo::Network& network, const PictureFit& fit) {
  const Shape& published = network.inputs[0].shape;
  const int64_t side = std::min(published[1], published[2]);
  const int64_t before = std::max(network.resize, side);
  return (2 * before * std::min(fit.height, fit.width) + side) / (2 * side);
}

}  // namespace

DataSource ParseImages(const Config& config, const zoo::Network* network) {
  const std::string folder = config.Path(config.RequiredText("folder"));
  const bool grey = config.Choice("color", {"rgb", "grey"}, "rgb") == "grey";
  const bool described = Describes(network) && !grey;
  const bool published = config.Choice("preprocessing", {"network", "stretch"},
                                       described ? "network" : "stretch") == "network";
  if (published && !described) {
    config.Refuse("preprocessing",
                  grey ? "expected \"stretch\": that of a network is for pictures in colours"
                       : "expected \"stretch\": the model is no network of `firn zoo list` with a "
                         "published preprocessing");
  }
  std::vector<int64_t> size = {32, 32};
  if (published) size = {network->inputs[0].shape[1], network->inputs[0].shape[2]};
  size = config.Integers("size", size);
  const bool fits =
      size.size() == 2 && size[0] >= 1 && size[1] >= 1 && size[0] <= 4096 && size[1] <= 4096;
  if (!fits) config.Refuse("size", "expected height and width, two numbers from 1 to 4096");
  PictureFit fit = {.height = size[0], .width = size[1]};
  zoo::Normalization colours;
  if (published) {
    fit.shorter = ShorterOf(*network, fit);
    fit.bicubic = network->bicubic;
    colours = network->colours;
  }
  std::string text = FitText(fit);
  if (!colours.mean.empty()) {
    absl::StrAppend(&text, "; colours of 0 to 1 lose ", absl::StrJoin(colours.mean, " "),
                    " and are divided by ", absl::StrJoin(colours.stddev, " "));
  }
  if (published) absl::StrAppend(&text, ", as published for ", network->name);
  io::ImageFolderOptions options;
  options.image.color = grey ? io::ImageColor::kGrey : io::ImageColor::kRgb;
  options.skip_unread = config.Flag("skip_unread", false);
  options.transform = io::Compose(
      {FitPicture(fit), colours.mean.empty()
                            ? io::ToFloat()
                            : io::Normalize({.mean = colours.mean, .stddev = colours.stddev})});
  return {[folder, options, colours, text] {
            const auto images = io::ImageFolder(folder, options);
            TrainingData data{.samples = images,
                              .outputs = static_cast<int64_t>(images->classes().size()),
                              .classes = true,
                              .names = images->classes()};
            data.info.pixel_scale = 1.0 / 255;
            data.info.mean = colours.mean;
            data.info.stddev = colours.stddev;
            data.pictures = text;
            return data;
          },
          true};
}

}  // namespace firn::cli
