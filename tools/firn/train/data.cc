// A function for each kind of data (those of sets of small pictures are here): it asks the
// description for its keys and returns a function that reads the data later, so that a mistake in a
// description is found before anything is read.
#include "tools/firn/train/data.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "firn/io/data/cifar.h"
#include "firn/io/data/digits.h"
#include "firn/io/data/mnist.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

bool IsTrain(const Config& config) {
  return config.Choice("part", {"train", "test"}, "train") == "train";
}

// {.train, .mean, .stddev}, and further keys of some kinds.
template <class Options>
Options ImageOptions(const Config& config) {
  Options options;
  options.mean = config.Number("mean", 0);
  options.stddev = config.Number("stddev", 1);
  if (!FitsF32(options.mean)) config.Refuse("mean", "expected a number that f32 can hold");
  if (!(options.stddev > 0 && FitsF32(options.stddev))) {
    config.Refuse("stddev", "expected a number above 0 that f32 can hold");
  }
  return options;
}

// Data made of pictures, whose pixels become numbers from 0 to 1 and are then normalised.
TrainingData Classes(io::DatasetPtr samples, int64_t classes, double mean = 0, double stddev = 1) {
  TrainingData data{.samples = std::move(samples), .outputs = classes, .classes = true};
  data.info.pixel_scale = 1.0 / 255;
  if (mean != 0 || stddev != 1) {
    data.info.mean = {mean};
    data.info.stddev = {stddev};
  }
  return data;
}

DataSource Digits(const Config& config) {
  auto options = ImageOptions<io::DigitsOptions>(config);
  using Part = io::DigitsOptions::Part;
  options.part = IsTrain(config) ? Part::kTrain : Part::kTest;
  return {[options] { return Classes(io::Digits(options), 10, options.mean, options.stddev); }};
}

DataSource Mnist(const Config& config) {
  auto options = ImageOptions<io::MnistOptions>(config);
  options.train = IsTrain(config);
  const std::string folder = config.Path(config.RequiredText("folder"));
  return {[options, folder] {
    return Classes(io::Mnist(folder, options), 10, options.mean, options.stddev);
  }};
}

DataSource Cifar10(const Config& config) {
  auto options = ImageOptions<io::CifarOptions>(config);
  options.train = IsTrain(config);
  const std::string folder = config.Path(config.RequiredText("folder"));
  return {[options, folder] {
    return Classes(io::Cifar10(folder, options), 10, options.mean, options.stddev);
  }};
}

DataSource Cifar100(const Config& config) {
  auto options = ImageOptions<io::CifarOptions>(config);
  options.train = IsTrain(config);
  options.coarse_labels = config.Flag("coarse", false);
  const std::string folder = config.Path(config.RequiredText("folder"));
  return {[options, folder] {
    return Classes(io::Cifar100(folder, options), options.coarse_labels ? 20 : 100, options.mean,
                   options.stddev);
  }};
}

struct Kind {
  const char* name;
  DataSource (*parse)(const Config& config);  // null: ParseImages, which asks for the network, too
};
constexpr Kind kKinds[] = {
    {"digits", Digits},     {"mnist", Mnist},    {"cifar10", Cifar10},
    {"cifar100", Cifar100}, {"csv", ParseCsv},   {"dataset", ParseDataset},
    {"hdf5", ParseHdf5},    {"images", nullptr}, {"npy", ParseNpy},
};

}  // namespace

Shape TargetOfData::result() const {
  std::vector<int64_t> sizes = {outputs};
  sizes.insert(sizes.end(), places.begin(), places.end());
  return Shape(sizes);
}

DataSource ParseData(const Config& config, const zoo::Network* network) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  const std::string name = config.RequiredChoice("kind", names);
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const Kind& k) { return name == k.name; });
  return kind->parse == nullptr ? ParseImages(config, network) : kind->parse(config);
}

}  // namespace firn::cli
