// Classifies an image by a published network, and prints the five classes that it gives the highest
// scores:
//
//   bazel run //examples:zoo -- --model=mobilenet_v2 --weights=mobilenet_v2.safetensors
//   --image=$PWD/photo.jpg
//
// The file of weights may be PyTorch's (.pt), a .safetensors or another one of io::Load. Without a
// file the network has random parameters.

#include "firn/nn/zoo/zoo.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "firn/firn.h"

ABSL_FLAG(std::string, model, "resnet18", "a network of `firn zoo list` that classifies images");
ABSL_FLAG(std::string, weights, "", "a file of its parameters");
ABSL_FLAG(std::string, image, "", "a picture");

using namespace firn;  // NOLINT: an example

// Prepares the image as in the network's training: takes its middle and normalises the colours.
Tensor Seen(const zoo::Network& network, const std::string& path) {
  const Shape& size = network.inputs[0].shape;  // [3, height, width]
  std::vector<io::Transform> steps = {
      io::Resize({.shorter = std::max(network.resize, size[1]),
                  .interpolation = network.bicubic ? io::Interpolation::kBicubic
                                                   : io::Interpolation::kBilinear}),
      io::CenterCrop({.height = size[1], .width = size[2]}), io::ToFloat()};
  if (!network.colours.mean.empty()) {
    steps.push_back(
        io::Normalize({.mean = network.colours.mean, .stddev = network.colours.stddev}));
  }
  const io::Transform transform = io::Compose(steps);
  const Tensor image = io::ReadImage(path, {.color = io::ImageColor::kRgb});
  return transform(image).Unsqueeze(0);
}

void Classify(const std::string& model, const std::string& weights, const std::string& image) {
  const zoo::Network& network = zoo::Find(model);
  if (network.class_set != "imagenet") {
    throw std::invalid_argument(model + " does not tell the classes of ImageNet");
  }
  const std::unique_ptr<nn::Layer> net = zoo::Make(model);
  if (weights.empty()) {
    std::cout << "without --weights: the network is a new one\n";
  } else {
    std::cout << net->LoadStateDict(io::Load(weights), {.source = weights});
  }
  net->Eval();
  const NoGradScope no_grad;
  const Tensor likely = Softmax((*net)(Seen(network, image)), 1);
  const auto best = Topk(likely, 5);
  const std::vector<float> values = best.values.ToVector<float>();
  const std::vector<int64_t> classes = best.indices.ToVector<int64_t>();
  const std::vector<std::string>& names = zoo::ClassNames(network.class_set);
  for (size_t i = 0; i < values.size(); ++i) {
    std::printf("%6.3f  %s\n", values[i], names[static_cast<size_t>(classes[i])].c_str());
  }
}

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  try {
    Classify(absl::GetFlag(FLAGS_model), absl::GetFlag(FLAGS_weights), absl::GetFlag(FLAGS_image));
  } catch (const std::exception& e) {
    std::cerr << "zoo: " << e.what() << "\n";
    return 1;
  }
}
