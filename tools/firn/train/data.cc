// A function for each kind of data: it asks the description for its keys and gives what reads the
// data later, so that a mistake in a description is found before anything is read.
#include "tools/firn/train/data.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "io/cifar.h"
#include "io/csv.h"
#include "io/digits.h"
#include "io/hdf5_dataset.h"
#include "io/image.h"
#include "io/image_folder.h"
#include "io/mnist.h"
#include "io/transforms/normalize.h"
#include "io/transforms/resize.h"
#include "tensor/error.h"
#include "tensor/from.h"
#include "tensor/operators.h"
#include "tensor/ops.h"

namespace firn::cli {
namespace {

bool IsTrain(const Config& config) {
  return config.Choice("part", {"train", "test"}, "train") == "train";
}

// {.train, .mean, .stddev}, and what else one has.
template <class Options>
Options ImageOptions(const Config& config) {
  Options options;
  options.mean = config.Number("mean", 0);
  options.stddev = config.Number("stddev", 1);
  if (!(options.stddev > 0)) config.Refuse("stddev", "expected a number above 0");
  return options;
}

TrainingData Classes(io::DatasetPtr samples, int64_t classes) {
  return {.samples = std::move(samples), .outputs = classes, .classes = true};
}

DataSource Digits(const Config& config) {
  auto options = ImageOptions<io::DigitsOptions>(config);
  using Part = io::DigitsOptions::Part;
  options.part = IsTrain(config) ? Part::kTrain : Part::kTest;
  return {[options] { return Classes(io::Digits(options), 10); }};
}

DataSource Mnist(const Config& config) {
  auto options = ImageOptions<io::MnistOptions>(config);
  options.train = IsTrain(config);
  const std::string folder = config.Path(config.RequiredText("folder"));
  return {[options, folder] { return Classes(io::Mnist(folder, options), 10); }};
}

DataSource Cifar10(const Config& config) {
  auto options = ImageOptions<io::CifarOptions>(config);
  options.train = IsTrain(config);
  const std::string folder = config.Path(config.RequiredText("folder"));
  return {[options, folder] { return Classes(io::Cifar10(folder, options), 10); }};
}

DataSource Cifar100(const Config& config) {
  auto options = ImageOptions<io::CifarOptions>(config);
  options.train = IsTrain(config);
  options.coarse_labels = config.Flag("coarse", false);
  const std::string folder = config.Path(config.RequiredText("folder"));
  return {[options, folder] {
    return Classes(io::Cifar100(folder, options), options.coarse_labels ? 20 : 100);
  }};
}

// Columns of a table, which keep their order.
Tensor Columns(const Tensor& table, const std::vector<int64_t>& columns) {
  return IndexSelect(table, 1, FromVector(columns));
}

DataSource Csv(const Config& config) {
  const std::string file = config.Path(config.RequiredText("file"));
  const int64_t target = config.RequiredInteger("target", 0, 1 << 20);
  const bool classes = config.Choice("task", {"classes", "numbers"}, "classes") == "classes";
  io::CsvOptions options;
  options.skip_lines = config.Integer("skip_lines", 0, 0);
  const std::string separator = config.Text("separator", ",");
  if (separator.size() != 1) config.Refuse("separator", "expected one character");
  options.separator = separator[0];
  const std::vector<int64_t> inputs = config.Integers("inputs", {});
  return {[=] {
    TrainingData data;
    io::CsvOptions read = options;
    if (classes) data.names = read.categories[target] = io::LoadCsvWords(file, target, options);
    if (!inputs.empty()) {
      read.columns = inputs;
      read.columns.push_back(target);
    }
    const Tensor table = io::LoadCsv(file, read);
    const int64_t at = inputs.empty() ? target : table.size(1) - 1;
    std::vector<int64_t> others;
    for (int64_t i = 0; i < table.size(1); ++i) {
      if (i != at) others.push_back(i);
    }
    if (others.empty()) {
      RaiseStatus(InvalidArgument(file, ": expected columns beside the target, got none"), "data");
    }
    const Tensor y = Columns(table, {at});
    data.classes = classes;
    data.outputs = classes ? static_cast<int64_t>(data.names.size()) : 1;
    data.samples =
        io::FromTensors(Columns(table, others), classes ? y.To(DType::kI64).Reshape({-1}) : y);
    return data;
  }};
}

DataSource Images(const Config& config) {
  const std::string folder = config.Path(config.RequiredText("folder"));
  const std::vector<int64_t> size = config.Integers("size", {32, 32});
  const bool fits =
      size.size() == 2 && size[0] >= 1 && size[1] >= 1 && size[0] <= 4096 && size[1] <= 4096;
  if (!fits) config.Refuse("size", "expected height and width, two numbers from 1 to 4096");
  const bool grey = config.Choice("color", {"rgb", "grey"}, "rgb") == "grey";
  io::ImageFolderOptions options;
  options.image.color = grey ? io::ImageColor::kGrey : io::ImageColor::kRgb;
  options.transform =
      io::Compose({io::Resize({.height = size[0], .width = size[1]}), io::ToFloat()});
  return {[folder, options] {
            const auto images = io::ImageFolder(folder, options);
            TrainingData data = Classes(images, static_cast<int64_t>(images->classes().size()));
            data.names = images->classes();
            return data;
          },
          true};
}

// How many classes there are: one more than the largest label.
int64_t CountClasses(const io::Dataset& samples, const std::string& file) {
  int64_t largest = -1;
  for (int64_t i = 0; i < samples.size(); ++i) {
    const int64_t label = samples.Get(i).target.Item<int64_t>();
    if (label < 0 || label >= 1'000'000) {
      RaiseStatus(
          InvalidArgument(file, ": sample ", i, ": expected a class from 0 to 999999, got ", label),
          "data");
    }
    largest = std::max(largest, label);
  }
  return largest + 1;
}

DataSource Hdf5(const Config& config) {
  const std::string file = config.Path(config.RequiredText("file"));
  io::Hdf5DatasetOptions options;
  options.input = config.Text("input", options.input);
  options.target = config.Text("target", options.target);
  const double scale = config.Number("scale", 1);
  return {[file, options, scale] {
    const io::DatasetPtr raw = io::Hdf5Dataset(file, options);
    const Tensor first = raw->Get(0).target;
    TrainingData data;
    data.classes = !IsFloating(first.dtype());
    data.samples = io::Map(raw, [scale, classes = data.classes](const io::Sample& s) {
      const Tensor target = s.target.To(classes ? DType::kI64 : DType::kF32);
      return io::Sample{s.input.To(DType::kF32) * scale, classes ? target : target.Reshape({-1})};
    });
    data.outputs = data.classes ? CountClasses(*raw, file) : first.num_elements();
    return data;
  }};
}

struct Kind {
  const char* name;
  DataSource (*parse)(const Config& config);
};
constexpr Kind kKinds[] = {
    {"digits", Digits}, {"mnist", Mnist},   {"cifar10", Cifar10}, {"cifar100", Cifar100},
    {"csv", Csv},       {"images", Images}, {"hdf5", Hdf5},
};

}  // namespace

DataSource ParseData(const Config& config) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  const std::string name = config.RequiredChoice("kind", names);
  return std::find_if(std::begin(kKinds), std::end(kKinds),
                      [&](const Kind& kind) { return name == kind.name; })
      ->parse(config);
}

}  // namespace firn::cli
