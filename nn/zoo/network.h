#ifndef FIRN_NN_ZOO_NETWORK_H_
#define FIRN_NN_ZOO_NETWORK_H_

// The facts that a family of published networks gives about each of them. A family is a header and
// a .cc of this folder: its class, and at the start of a line the function by which zoo.h finds it:
//
//   std::vector<Network> ResnetNetworks();

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/nn/module.h"

namespace firn::zoo {

// The options of any network of the zoo. A family's own options have more.
struct Options {
  int64_t classes = 0;  // of the last layer; 0: as published
  // The probability of every dropout, and with which residual branches are left out; negative: as
  // published.
  double dropout = -1;
  int64_t channels = 0;       // of images; 0: as published. Only for networks with any_channels
  bool small_images = false;  // a first layer for about 32x32 pixels. Only where has_small_stem
};

// Colours of images are 0 to 1 and then (x - mean) / stddev, in the order red, green, blue.
struct Normalization {
  std::vector<double> mean = {}, stddev = {};
};
// The colours that networks for ImageNet expect, torchvision's and most others.
Normalization ImagenetColours();

// One input, without the batch.
struct Input {
  std::string name = {};
  Shape shape = {};
  int64_t count = 0;  // i64 indices below it; 0: numbers, f32
};

struct Network {
  std::string name = {};    // "resnet50"
  std::string paper = {};   // "He et al., Deep residual learning for image recognition, 2015"
  std::string family = {};  // "Resnet"; zoo::Find tells it
  std::string origin = {};  // whose names the parameters have: "torchvision.models.resnet50"
  std::vector<Input> inputs = {};
  int64_t classes = 0;         // of the published one; 0: its results are not classes
  std::string class_set = {};  // such as "imagenet", or nothing: see zoo::ClassNames
  // An image's shorter side before the middle is cut out of it; 0: that of the input.
  int64_t resize = 0;
  Normalization colours = {};  // nothing: the numbers as they are
  int64_t parameters = 0;      // of the published one
  // The published number for one sample, for products and convolutions, in thousands of millions;
  // 0: unpublished.
  double giga_multiply_adds = 0;
  bool any_channels = false, has_small_stem = false;  // which of Options it takes
  // How an image is resized: by Keys' cubics with a = -0.5 (io::Interpolation::kBicubic), else
  // bilinear; both with antialias.
  bool bicubic = false;
  bool of_pixels_or_boxes = false;  // the result scores classes, but is not [n, classes]
  // Throws for options that it does not take, such as classes for a network without classes.
  std::function<std::unique_ptr<nn::Module>(const Options& options)> make = {};
};

// {"image", [3, side, side]}.
Input Image(int64_t side, int64_t channels = 3);

// Fills in the common facts of torchvision's ImageNet classifiers, if `network` leaves them open:
// origin, an image of 224x224 pixels and its colours, 1000 classes.
Network OfTorchvision(Network network);

// The published number unless the options have one. Throws for a negative one.
int64_t ClassesOr(const Options& options, int64_t published);
int64_t ChannelsOr(const Options& options, int64_t published);
// The same; negative: the published one. Throws above 1.
double DropoutOr(const Options& options, double published);
// Throws for options that the network does not take.
void CheckOptions(const Network& network, const Options& options);
// Throws unless an option of `where` is a positive number.
void ExpectPositive(const char* option, double value, const char* where);
// Throws if the options choose classes, which `network` does not have.
void ExpectNoClasses(const Options& options, const std::string& network);

// Throws the error for an unknown name in a family, with the nearest ones.
[[noreturn]] void RaiseNoNetwork(const std::string& name, const std::vector<std::string>& family);

// A family's entry for the network of that name. Throws if there is none.
template <class T>
const T& FindPublished(const std::map<std::string, T>& family, const std::string& name) {
  const auto found = family.find(name);
  if (found != family.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, published] : family) names.push_back(known);
  RaiseNoNetwork(name, names);
}

// make() of a class with Options: MakerOf<Resnet>(ResnetOf, "resnet50").
template <class M, class F>
std::function<std::unique_ptr<nn::Module>(const Options&)> MakerOf(F of, std::string name) {
  return [of, name = std::move(name)](const Options& options) {
    return std::make_unique<M>(of(name, options));
  };
}

// An entry of a family whose networks are torchvision's classifiers.
template <class O>
struct PublishedClassifier {
  O options;
  int64_t parameters = 0;
  double giga_multiply_adds = 0;
  int64_t side = 224;      // of the image
  std::string paper = {};  // where it is another than the family's
};
template <class O>
using PublishedClassifiers = std::map<std::string, PublishedClassifier<O>>;

// The rows of such a family: ClassifiersOf<Alexnet>(All(), AlexnetOf, kPaper).
template <class M, class F>
std::vector<Network> ClassifiersOf(const PublishedClassifiers<typename M::Options>& family, F of,
                                   const std::string& paper) {
  std::vector<Network> networks;
  for (const auto& [name, published] : family) {
    networks.push_back(OfTorchvision({.name = name,
                                      .paper = published.paper.empty() ? paper : published.paper,
                                      .inputs = {Image(published.side)},
                                      .parameters = published.parameters,
                                      .giga_multiply_adds = published.giga_multiply_adds,
                                      .make = MakerOf<M>(of, name)}));
  }
  return networks;
}

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_NETWORK_H_
