// Both mix row i of the batch with row i - 1, as torchvision's roll(1, 0) does, targets by the same
// share as images.
#include "firn/io/data/transforms/mix.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

void Check(const MixOptions& options, const char* who) {
  if (options.classes < 0) {
    RaiseStatus(InvalidArgument("classes is ", options.classes, " (want >= 0)"), who);
  }
  if (!std::isfinite(options.alpha) || !(options.alpha > 0)) {
    RaiseStatus(InvalidArgument("alpha is ", options.alpha, " (want a positive number)"), who);
  }
}

std::string Describe(const Tensor& t) {
  return t.defined() ? t.spec().ToString() : "an undefined tensor";
}

Tensor CheckedBatch(const Sample& batch, bool images, const char* who) {
  if (batch.size() > 2) {
    RaiseStatus(InvalidArgument("expected batches of an input and a target, got ",
                                absl::StrJoin(batch.variables(), ", ")),
                who);
  }
  const Tensor& input = batch.input;
  const bool fits = input.defined() && input.dtype() == DType::kF32 && input.device().is_cpu() &&
                    (images ? input.rank() == 4 : input.rank() >= 2) && input.num_elements() > 0;
  if (!fits) {
    RaiseStatus(InvalidArgument("expected a batch f32 ",
                                images ? "[N, channels, height, width]" : "[N, ...]",
                                " on the CPU, got ", Describe(input)),
                who);
  }
  return input.Detach().Contiguous();
}

// Targets as shares f32 [N, classes].
Tensor Shares(const Tensor& target, int64_t n, int64_t classes, const char* who) {
  const bool here = target.defined() && target.device().is_cpu();
  const bool shares = here && target.dtype() == DType::kF32 && target.rank() == 2 &&
                      target.size(0) == n && (classes == 0 || target.size(1) == classes);
  if (shares) return target.Detach().Contiguous();
  if (!here || target.dtype() != DType::kI64 || target.rank() != 1 || target.size(0) != n ||
      classes == 0) {
    RaiseStatus(
        InvalidArgument("expected targets i64 [", n, "] and the number of classes, or f32 [", n,
                        ", classes], got ", Describe(target), " and classes ", classes),
        who);
  }
  Tensor out = internal::NewTensor(DType::kF32, Shape{n, classes}, who);
  float* to = out.mutable_host_view<float>().data();
  std::fill_n(to, n * classes, 0.0f);
  const Tensor labels = target.Contiguous();
  const int64_t* label = labels.host_view<int64_t>().data();
  for (int64_t i = 0; i < n; ++i) {
    if (label[i] < 0 || label[i] >= classes) {
      RaiseStatus(InvalidArgument("target ", i, " is ", label[i], " (want 0 to ", classes - 1, ")"),
                  who);
    }
    to[i * classes + label[i]] = 1;
  }
  return out;
}

int64_t Before(int64_t i, int64_t n) { return i == 0 ? n - 1 : i - 1; }

Tensor Mixed(const Tensor& rows, double share, const char* who) {
  Tensor out = internal::NewTensor(DType::kF32, rows.shape(), who);
  const int64_t n = rows.size(0), size = rows.num_elements() / n;
  const auto own = static_cast<float>(share), other = static_cast<float>(1 - share);
  const float* from = rows.host_view<float>().data();
  float* to = out.mutable_host_view<float>().data();
  for (int64_t i = 0; i < n; ++i) {
    const float* __restrict a = from + i * size;
    const float* __restrict b = from + Before(i, n) * size;
    float* __restrict row = to + i * size;
    for (int64_t k = 0; k < size; ++k) row[k] = own * a[k] + other * b[k];
  }
  return out;
}

struct Box {
  int64_t top, bottom, left, right;
};

Box DrawBox(RandomGenerator& random, double share, int64_t height, int64_t width) {
  const int64_t x = internal::Below(random, width), y = internal::Below(random, height);
  const double half = 0.5 * std::sqrt(1 - share);
  const auto half_width = static_cast<int64_t>(half * static_cast<double>(width));
  const auto half_height = static_cast<int64_t>(half * static_cast<double>(height));
  return {std::max<int64_t>(y - half_height, 0), std::min(y + half_height, height),
          std::max<int64_t>(x - half_width, 0), std::min(x + half_width, width)};
}

// The batch with `box` of each image from the one before.
Tensor Pasted(const Tensor& images, const Box& box, const char* who) {
  Tensor out = internal::NewTensor(DType::kF32, images.shape(), who);
  const int64_t n = images.size(0), planes = images.size(1);
  const int64_t height = images.size(2), width = images.size(3);
  const float* from = images.host_view<float>().data();
  float* to = out.mutable_host_view<float>().data();
  std::copy_n(from, images.num_elements(), to);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < planes; ++p) {
      for (int64_t y = box.top; y < box.bottom; ++y) {
        const int64_t row = (p * height + y) * width + box.left, size = planes * height * width;
        std::copy_n(from + Before(i, n) * size + row, box.right - box.left, to + i * size + row);
      }
    }
  }
  return out;
}

}  // namespace

BatchTransform MixUp(const MixOptions& options) {
  const char* const who = "mix_up";
  Check(options, who);
  return [options, who](const Sample& batch, RandomGenerator& random) -> Sample {
    const Tensor input = CheckedBatch(batch, false, who);
    const Tensor target = Shares(batch.target, input.size(0), options.classes, who);
    const double share = internal::SymmetricBeta(random, options.alpha);
    return {Mixed(input, share, who), Mixed(target, share, who), {}, batch.names};
  };
}

BatchTransform CutMix(const MixOptions& options) {
  const char* const who = "cut_mix";
  Check(options, who);
  return [options, who](const Sample& batch, RandomGenerator& random) -> Sample {
    const Tensor input = CheckedBatch(batch, true, who);
    const Tensor target = Shares(batch.target, input.size(0), options.classes, who);
    const int64_t height = input.size(2), width = input.size(3);
    const Box box = DrawBox(random, internal::SymmetricBeta(random, options.alpha), height, width);
    const auto area = static_cast<double>((box.bottom - box.top) * (box.right - box.left));
    const double share = 1 - area / static_cast<double>(height * width);
    return {Pasted(input, box, who), Mixed(target, share, who), {}, batch.names};
  };
}

}  // namespace firn::io
