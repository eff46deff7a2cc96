#include "firn/nn/zoo/network.h"

#include <limits>
#include <map>
#include <string>

#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::zoo {

Normalization ImagenetColours() { return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}; }

Input Image(int64_t side, int64_t channels) { return {"image", {channels, side, side}}; }

// The shorter side before the middle is cut out, for torchvision's first weights of the network.
static int64_t ResizeOf(const std::string& name, int64_t side) {
  static const auto* const own = new std::map<std::string, int64_t>{{"convnext_tiny", 236},
                                                                    {"convnext_small", 230},
                                                                    {"convnext_base", 232},
                                                                    {"swin_t", 232},
                                                                    {"vit_l_16", 242},
                                                                    {"swin_s", 246},
                                                                    {"swin_b", 238},
                                                                    {"mnasnet0_75", 232},
                                                                    {"mnasnet1_3", 232},
                                                                    {"shufflenet_v2_x1_5", 232},
                                                                    {"shufflenet_v2_x2_0", 232},
                                                                    {"resnext101_64x4d", 232}};
  if (const auto of = own->find(name); of != own->end()) return of->second;
  static const auto* const larger =
      new std::map<int64_t, int64_t>{{224, 256}, {240, 256}, {299, 342}, {300, 320}, {380, 384}};
  const auto found = larger->find(side);
  return found == larger->end() ? side : found->second;
}

// EfficientNet B0 to B7 and Swin.
static bool IsBicubic(const std::string& name) {
  return name.starts_with("efficientnet_b") || name.starts_with("swin_");
}

Network OfTorchvision(Network network) {
  if (network.origin.empty()) network.origin = "torchvision.models." + network.name;
  if (network.inputs.empty()) network.inputs = {Image(224)};
  if (network.resize == 0) network.resize = ResizeOf(network.name, network.inputs[0].shape[1]);
  network.bicubic = IsBicubic(network.name);
  if (network.colours.mean.empty()) network.colours = ImagenetColours();
  network.classes = 1000;
  network.class_set = "imagenet";
  return network;
}

int64_t ClassesOr(const Options& options, int64_t published) {
  if (options.classes < 0) {
    RaiseStatus(InvalidArgument("expected a number of classes, 0 for the published one, got ",
                                options.classes),
                "zoo");
  }
  return options.classes == 0 ? published : options.classes;
}

double DropoutOr(const Options& options, double published) {
  if (!(options.dropout <= 1)) {
    RaiseStatus(InvalidArgument("expected a dropout of at most 1, negative for the published one, "
                                "got ",
                                options.dropout),
                "zoo");
  }
  return options.dropout < 0 ? published : options.dropout;
}

int64_t ChannelsOr(const Options& options, int64_t published) {
  if (options.channels < 0) {
    RaiseStatus(InvalidArgument("expected a number of channels, 0 for the published one, got ",
                                options.channels),
                "zoo");
  }
  return options.channels == 0 ? published : options.channels;
}

void CheckOptions(const Network& network, const Options& options) {
  const Shape& input = network.inputs.at(0).shape;
  if (!network.any_channels && options.channels != 0 &&
      (input.rank() != 3 || options.channels != input[0])) {
    RaiseStatus(InvalidArgument(network.name, " takes inputs ", input.ToString(),
                                ", not images of ", options.channels, " channels"),
                "zoo");
  }
  if (!network.has_small_stem && options.small_images) {
    RaiseStatus(InvalidArgument(network.name, " has no first layer for small images"), "zoo");
  }
}

void ExpectPositive(const char* option, double value, const char* where) {
  if (value > 0 && value < std::numeric_limits<double>::infinity()) return;
  RaiseStatus(InvalidArgument("expected a positive ", option, ", got ", value), where);
}

void ExpectNoClasses(const Options& options, const std::string& network) {
  if (options.classes == 0) return;
  RaiseStatus(InvalidArgument(network, " has no classes to choose, got ", options.classes), "zoo");
}

void RaiseNoNetwork(const std::string& name, const std::vector<std::string>& family) {
  RaiseStatus(
      InvalidArgument("there is no network '", name, "'", internal::InsteadOf(name, family)),
      "zoo");
}

}  // namespace firn::zoo
