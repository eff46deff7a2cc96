// Pixels stay bytes in memory, a quarter of their size as floats, and a batch is gathered and
// converted at once. Dividing (not multiplying by a reciprocal) gives the very floats that
// PyTorch's ToTensor gives.
#include "firn/io/data/image_dataset.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/data/image_dataset_status.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

void Convert(const uint8_t* __restrict pixels, int64_t n, const PixelOptions& options,
             float* __restrict out) {
  const auto scale = static_cast<float>(options.scale);
  if (options.mean == 0 && options.stddev == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(pixels[i]) / scale;
    return;
  }
  const auto mean = static_cast<float>(options.mean);
  const auto stddev = static_cast<float>(options.stddev);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = (static_cast<float>(pixels[i]) / scale - mean) / stddev;
  }
}

Tensor NewTensor(DType dtype, const Shape& shape) {
  absl::StatusOr<Tensor> made =
      AllocateTensor(TensorSpec::Contiguous(dtype, shape, Device::Cpu()), AllocTag::kOther);
  RaiseIfError(made.status(), "images");
  return *std::move(made);
}

class ImageDataset final : public Dataset {
 public:
  ImageDataset(Tensor pixels, Tensor labels, const PixelOptions& options)
      : pixels_(std::move(pixels)), labels_(std::move(labels)), options_(options) {}

  int64_t size() const override { return labels_.num_elements(); }

  Sample Get(int64_t i) const override {
    const Shape& s = pixels_.shape();
    return Gather({&i, 1}, {s[1], s[2], s[3]}, {});
  }

  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    const auto n = static_cast<int64_t>(indices.size());
    const Shape& s = pixels_.shape();
    return Gather(indices, {n, s[1], s[2], s[3]}, {n});
  }

 private:
  Sample Gather(absl::Span<const int64_t> indices, const Shape& images, const Shape& labels) const {
    Sample batch{NewTensor(DType::kF32, images), NewTensor(DType::kI64, labels)};
    const int64_t pixels = pixels_.shape()[1] * pixels_.shape()[2] * pixels_.shape()[3];
    const uint8_t* from = pixels_.host_view<uint8_t>().data();
    const int64_t* from_labels = labels_.host_view<int64_t>().data();
    float* to = batch.input.mutable_host_view<float>().data();
    int64_t* to_labels = batch.target.mutable_host_view<int64_t>().data();
    for (const int64_t i : indices) {
      internal::CheckIndex(i, size());
      Convert(from + i * pixels, pixels, options_, to);
      to += pixels;
      *to_labels++ = from_labels[i];
    }
    return batch;
  }

  const Tensor pixels_;
  const Tensor labels_;
  const PixelOptions options_;
};

}  // namespace

absl::StatusOr<DatasetPtr> TryMakeImageDataset(const Tensor& pixels, const Tensor& labels,
                                               const PixelOptions& options) {
  const auto spec = [](const Tensor& t) { return t.defined() ? t.spec().ToString() : "undefined"; };
  const auto usable = [](const Tensor& t, DType dtype, int rank) {
    return t.defined() && t.dtype() == dtype && t.rank() == rank && t.is_contiguous() &&
           t.device().is_cpu();
  };
  FIRN_RETURN_IF(
      !usable(pixels, DType::kU8, 4),
      InvalidArgument("images: expected contiguous u8 [n, channels, height, width], got ",
                      spec(pixels)));
  FIRN_RETURN_IF(
      !usable(labels, DType::kI64, 1) || labels.size(0) != pixels.size(0),
      InvalidArgument("images: expected labels i64 [", pixels.size(0), "], got ", spec(labels)));
  const auto positive = [](double v) { return std::isfinite(v) && v > 0; };
  FIRN_RETURN_IF(!positive(options.scale) || !positive(options.stddev),
                 InvalidArgument("images: scale is ", options.scale, ", stddev ", options.stddev,
                                 " (want positive numbers)"));
  FIRN_RETURN_IF(!std::isfinite(options.mean),
                 InvalidArgument("images: mean is ", options.mean, " (want a finite number)"));
  return std::make_shared<ImageDataset>(pixels, labels, options);
}

DatasetPtr MakeImageDataset(const Tensor& pixels, const Tensor& labels,
                            const PixelOptions& options) {
  return ValueOrRaise(TryMakeImageDataset(pixels, labels, options), "");
}

}  // namespace firn::io
