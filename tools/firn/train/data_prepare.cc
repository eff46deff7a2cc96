#include "tools/firn/train/data_prepare.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

constexpr int64_t kMostClasses = 1'000'000;

bool IsId(double x, int64_t count) {
  return x >= 0 && x < static_cast<double>(count) && x == std::floor(x);
}

// The sizes without ones in front.
Shape PlacesOf(const Tensor& target) {
  const absl::Span<const int64_t> sizes = target.shape().span();
  return Shape(sizes.subspan(static_cast<size_t>(
      std::find_if(sizes.begin(), sizes.end(), [](int64_t n) { return n != 1; }) - sizes.begin())));
}

std::vector<double> NumbersOf(const Tensor& target) {
  if (target.num_elements() == 1) return {target.Item<double>()};
  return target.To(DType::kF64).ToVector<double>();
}

// There is one class more than the largest label.
TargetOfData LookAtClasses(int64_t samples, const TargetOf& target_of, const std::string& where) {
  const Shape places = PlacesOf(target_of(0));
  double largest = -1;
  for (int64_t i = 0; i < samples; ++i) {
    const Tensor target = target_of(i);
    const auto refuse = [&](const auto&... what) {
      RaiseStatus(InvalidArgument(where, ": sample ", i, ": expected ", what...), "data");
    };
    if (PlacesOf(target) != places) {
      refuse("a class for each of ", places.ToString(), ", as sample 0 has, got ",
             target.spec().ToString());
    }
    if (target.num_elements() == 0) refuse("classes, got ", target.spec().ToString());
    for (const double label : NumbersOf(target)) {
      if (!IsId(label, kMostClasses)) {
        refuse("a class from 0 to ", kMostClasses - 1, ", got ", label);
      }
      largest = std::max(largest, label);
    }
  }
  return {static_cast<int64_t>(largest) + 1, true, places};
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
  if (classes) return LookAtClasses(samples, target_of, where);
  return {first.num_elements(), false};
}

Tensor PreparedTarget(const Tensor& target, bool classes) {
  const Tensor y = target.To(classes ? DType::kI64 : DType::kF32);
  return classes ? y.Reshape(PlacesOf(y)) : y.Reshape({-1});
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
  data.places = target.places;
  data.samples = io::Map(raw, [scale = task.scale, classes = data.classes](const io::Sample& s) {
    Tensor x = s.input.To(DType::kF32);
    if (scale != 1) x = x * scale;
    if (x.rank() == 0) x = x.Reshape({1});
    return io::Sample{x, PreparedTarget(s.target, classes)};
  });
  return data;
}

io::DatasetPtr AsIds(const io::DatasetPtr& samples, int64_t count) {
  return io::Map(samples, [count](const io::Sample& s) {
    for (const double id : NumbersOf(s.input)) {
      if (IsId(id, count)) continue;
      RaiseStatus(InvalidArgument("an input has ", id, ": expected ids from 0 to ", count - 1,
                                  ", for that many words or levels the network has"),
                  "data");
    }
    return io::Sample{s.input.To(DType::kI64), s.target};
  });
}

}  // namespace firn::cli
