#include "tools/firn/train/data_prepare.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

constexpr int64_t kMostClasses = 1'000'000;

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

}  // namespace

ArrayTask ParseArrayTask(const Config& config, const std::string& otherwise) {
  const double scale = config.Number("scale", 1);
  if (!FitsF32(scale) || scale == 0) {
    config.Refuse("scale", "expected a number beside 0 that f32 can hold");
  }
  return {config.Choice("task", {"classes", "numbers"}, otherwise), scale};
}

TargetOfData LookAtTargets(int64_t samples, const TargetOf& target_of, const std::string& name,
                           const std::string& where) {
  const Tensor first = target_of(0);
  const bool classes = name.empty() ? !IsFloating(first.dtype()) : name == "classes";
  return {classes ? CountClasses(samples, target_of, where) : first.num_elements(), classes};
}

Tensor PreparedTarget(const Tensor& target, bool classes) {
  const Tensor y = target.To(classes ? DType::kI64 : DType::kF32);
  return classes ? y.Reshape({}) : y.Reshape({-1});
}

TrainingData PrepareArrays(const io::DatasetPtr& raw, const TargetOf& target_of,
                           const ArrayTask& task, const std::string& where) {
  TrainingData data;
  data.samples = raw;
  if (raw->size() == 0) return data;  // the training refuses it
  const TargetOfData target = LookAtTargets(raw->size(), target_of, task.name, where);
  data.info.scale = task.scale;
  if (raw->Get(0).input.dtype() == DType::kU8) data.info.pixel_scale = task.scale;
  data.classes = target.classes;
  data.outputs = target.outputs;
  data.samples = io::Map(raw, [scale = task.scale, classes = data.classes](const io::Sample& s) {
    Tensor x = s.input.To(DType::kF32);
    if (scale != 1) x = x * scale;
    if (x.rank() == 0) x = x.Reshape({1});
    return io::Sample{x, PreparedTarget(s.target, classes)};
  });
  return data;
}

}  // namespace firn::cli
