// Boxes and masks lie in a Scene, which is passed to the transforms.
#include "firn/io/data/transforms/sample_transform.h"

#include <cstdint>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/scene.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "transform_sample";

std::string Describe(const Tensor& t) { return t.defined() ? t.spec().ToString() : "undefined"; }

Tensor CheckedBoxes(const std::string& name, const Tensor& t) {
  const bool fits = t.defined() && t.device().is_cpu() && t.rank() == 2 && t.size(1) == 4 &&
                    (t.dtype() == DType::kF32 || t.dtype() == DType::kF64);
  if (!fits) {
    RaiseStatus(
        InvalidArgument(name, ": expected boxes f32 or f64 [n, 4] on the CPU, got ", Describe(t)),
        kWho);
  }
  return t.Detach().To(DType::kF64).Contiguous();
}

Tensor CheckedMask(const std::string& name, const Tensor& t, const Tensor& image) {
  const bool fits = t.defined() && t.device().is_cpu() && t.rank() >= 2 &&
                    t.size(-2) == image.size(1) && t.size(-1) == image.size(2);
  if (!fits) {
    RaiseStatus(
        InvalidArgument(name, ": expected a mask [..., ", image.size(1), ", ", image.size(2),
                        "] on the CPU, as large as the image, got ", Describe(t)),
        kWho);
  }
  return t.Detach().Contiguous();
}

// The rows of boxes f64 [n, 4] whose sides are large enough.
Tensor LargeEnough(const Tensor& boxes, double least_side) {
  std::vector<int64_t> kept;
  const double* box = boxes.host_view<double>().data();
  for (int64_t i = 0; i < boxes.size(0); ++i, box += 4) {
    if (box[2] - box[0] >= least_side && box[3] - box[1] >= least_side) kept.push_back(i);
  }
  return FromVector(kept);
}

void KeepRows(const std::string& name, Tensor* t, int64_t rows, const Tensor& kept) {
  if (!t->defined() || t->rank() < 1 || t->size(0) != rows) {
    RaiseStatus(
        InvalidArgument(name, ": expected a row for each of ", rows, " boxes, got ", Describe(*t)),
        kWho);
  }
  *t = IndexSelect(*t, 0, kept);
}

Sample Transformed(const Transform& transform, const TransformSampleOptions& options, Sample sample,
                   RandomGenerator& random) {
  const NoGradScope no_grad;
  Tensor& image = sample[options.image];
  const Tensor before = internal::CheckedImage(image, kWho);
  const bool boxed = !options.boxes.empty();
  internal::Scene scene;
  if (boxed) scene.boxes = {CheckedBoxes(options.boxes, sample[options.boxes])};
  for (const std::string& name : options.masks) {
    scene.masks.push_back(CheckedMask(name, sample[name], before));
  }
  image = transform(before, random, &scene);
  for (size_t k = 0; k < options.masks.size(); ++k) sample[options.masks[k]] = scene.masks[k];
  if (!boxed) return sample;
  const Tensor kept = LargeEnough(scene.boxes[0], options.least_side);
  const int64_t rows = scene.boxes[0].size(0);
  Tensor& boxes = sample[options.boxes];
  boxes = scene.boxes[0].To(boxes.dtype());
  for (const std::string& name : options.labels) KeepRows(name, &sample[name], rows, kept);
  KeepRows(options.boxes, &boxes, rows, kept);
  return sample;
}

}  // namespace

std::function<Sample(Sample sample, RandomGenerator& random)> TransformSample(
    Transform transform, const TransformSampleOptions& options) {
  if (!(options.least_side >= 0)) {
    RaiseStatus(InvalidArgument("least_side is ", options.least_side, " (want >= 0)"), kWho);
  }
  if (options.boxes.empty() && !options.labels.empty()) {
    RaiseStatus(InvalidArgument("labels names ", options.labels[0],
                                ", which goes where boxes go, but boxes names none"),
                kWho);
  }
  return [transform = std::move(transform), options](Sample sample, RandomGenerator& random) {
    return Transformed(transform, options, std::move(sample), random);
  };
}

}  // namespace firn::io
