// Inputs and targets that come as arrays. Their values decide how many classes there are, so all
// targets are read once before training, one at a time; of formats that allow it without the
// inputs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/dataset.h"
#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/data/npy_dataset.h"
#include "firn/io/data/rows.h"
#include "firn/io/formats/formats.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tools/firn/data_files.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

constexpr int64_t kMostClasses = 1'000'000;

// What becomes of the arrays.
struct Task {
  std::string name;  // "classes", "numbers", or "": as the dtype of the targets says
  double scale;      // of the inputs
};
Task ParseTask(const Config& config, const std::string& otherwise) {
  const double scale = config.Number("scale", 1);
  if (!FitsF32(scale) || scale == 0) {
    config.Refuse("scale", "expected a number beside 0 that f32 can hold");
  }
  return {config.Choice("task", {"classes", "numbers"}, otherwise), scale};
}

using TargetOf = std::function<Tensor(int64_t i)>;

// How many classes there are: one more than the largest label.
int64_t CountClasses(int64_t samples, const TargetOf& target_of, const std::string& where) {
  int64_t largest = -1;
  for (int64_t i = 0; i < samples; ++i) {
    const Tensor target = target_of(i);
    const bool number = target.num_elements() == 1;
    const double label = number ? target.Item<double>() : -1;
    if (!(label >= 0 && label < kMostClasses && label == std::floor(label))) {
      RaiseStatus(
          InvalidArgument(where, ": sample ", i, ": expected a class from 0 to ", kMostClasses - 1,
                          ", got ", number ? absl::StrCat(label) : target.spec().ToString()),
          "data");
    }
    largest = std::max(largest, static_cast<int64_t>(label));
  }
  return largest + 1;
}

// `raw` has inputs and targets of any number type.
TrainingData Prepare(const io::DatasetPtr& raw, const TargetOf& target_of, const Task& task,
                     const std::string& where) {
  TrainingData data;
  data.samples = raw;
  if (raw->size() == 0) return data;  // which whoever trains refuses
  const Tensor first = target_of(0);
  data.info.scale = task.scale;
  if (raw->Get(0).input.dtype() == DType::kU8) data.info.pixel_scale = task.scale;
  data.classes = task.name.empty() ? !IsFloating(first.dtype()) : task.name == "classes";
  data.outputs = data.classes ? CountClasses(raw->size(), target_of, where) : first.num_elements();
  data.samples = io::Map(raw, [scale = task.scale, classes = data.classes](const io::Sample& s) {
    Tensor x = s.input.To(DType::kF32), y = s.target.To(classes ? DType::kI64 : DType::kF32);
    if (scale != 1) x = x * scale;
    if (x.rank() == 0) x = x.Reshape({1});
    return io::Sample{x, classes ? y.Reshape({}) : y.Reshape({-1})};
  });
  return data;
}

// Whether inputs that were read from 0 to 1 are pixels from 0 to 255 in their files.
bool AreBytes(const std::string& path, DataOptions options, const std::string& input) {
  options.normalize = false;
  options.variables = {input};
  const io::DatasetPtr rows = OpenData(path, options).rows;
  return rows->size() > 0 && rows->Get(0)[input].dtype() == DType::kU8;
}

}  // namespace

DataSource ParseHdf5(const Config& config) {
  const std::string file = config.Path(config.RequiredText("file"));
  io::Hdf5DatasetOptions options;
  options.input = config.Text("input", options.input);
  options.target = config.Text("target", options.target);
  const Task task = ParseTask(config, "");
  return {[file, options, task] {
    const io::DatasetPtr raw = io::Hdf5Dataset(file, options);
    return Prepare(
        raw, [&](int64_t i) { return raw->Get(i).target; }, task, file);
  }};
}

DataSource ParseNpy(const Config& config) {
  const std::string input = config.Path(config.RequiredText("input"));
  const std::string target = config.Path(config.RequiredText("target"));
  const Task task = ParseTask(config, "");
  return {[input, target, task] {
    const io::DatasetPtr targets = io::NpyDataset(target);
    return Prepare(
        io::NpyDataset(input, {.target = target}), [&](int64_t i) { return targets->Get(i).input; },
        task, target);
  }};
}

DataSource ParseDataset(const Config& config) {
  const std::string path = config.Path(config.RequiredText("path"));
  io::PickOptions pick;
  pick.input = config.Text("input", pick.input);
  pick.target = config.Text("target", pick.target);
  if (pick.input == pick.target)
    config.Refuse("target", "expected another variable than the input");
  DataOptions options;
  options.variables = {pick.input, pick.target};
  options.format = config.Choice("format", DataFormats(), "");
  options.normalize = config.Flag("normalize", true);
  options.round = config.Flag("round", false);
  options.test = config.Choice("part", {"train", "test"}, "train") == "test";
  const Task task = ParseTask(config, "classes");
  return {[=] {
            const Data opened = OpenData(path, options);
            io::DatasetPtr targets = opened.rows;
            if (opened.format == "csv" || opened.format == "nnabla-cache") {
              DataOptions only = options;
              only.variables = {pick.target};
              targets = OpenData(path, only).rows;
            }
            TrainingData data = Prepare(
                io::Pick(opened.rows, pick),
                [&](int64_t i) { return targets->Get(i)[pick.target]; }, task, path);
            data.file_rows = opened.file_rows;
            const io::Format* const file = io::FindFormat(opened.format);
            const bool pictures = file == nullptr || file->holds != io::FileHolds::kTensors;
            if (options.normalize && pictures && !data.info.pixel_scale.has_value() &&
                AreBytes(path, options, pick.input)) {
              data.info.pixel_scale = task.scale / 255;
            }
            return data;
          },
          true};
}

}  // namespace firn::cli
