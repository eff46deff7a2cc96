// The checks have one wording, so that every transform refuses in the same way.
#include "firn/io/data/transforms/internal/image.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/pending.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 20;

[[noreturn]] void RefuseImage(const Tensor& image, const char* want, const char* who) {
  RaiseStatus(
      InvalidArgument("expected an image ", want, " [channels, height, width] on the CPU, got ",
                      image.defined() ? image.spec().ToString() : "an undefined tensor"),
      who);
}

}  // namespace

Tensor CheckedImage(const Tensor& image, const char* who) {
  const char* const want = "u8 or f32";
  if (IsPending(image)) RaiseStatus(PendingError(image), who);
  if (!image.defined() || image.rank() != 3) RefuseImage(image, want, who);
  const bool pixels = image.dtype() == DType::kU8 || image.dtype() == DType::kF32;
  if (!pixels || !image.device().is_cpu()) RefuseImage(image, want, who);
  if (image.num_elements() == 0) {
    RaiseStatus(InvalidArgument("expected an image of at least one channel and one pixel, got ",
                                image.spec().ToString()),
                who);
  }
  return image.Detach().Contiguous();
}

Tensor CheckedBytes(const Tensor& image, const char* who) {
  if (!image.defined() || image.dtype() != DType::kU8) RefuseImage(image, "u8", who);
  return CheckedImage(image, who);
}

Tensor CheckedColors(const Tensor& image, const char* who) {
  Tensor checked = CheckedImage(image, who);
  if (checked.size(0) != 1 && checked.size(0) != 3) {
    RaiseStatus(InvalidArgument("expected an image of 1 channel (grey) or 3 (RGB), got ",
                                checked.spec().ToString()),
                who);
  }
  return checked;
}

Tensor NewTensor(DType dtype, const Shape& shape, const char* who) {
  absl::StatusOr<Tensor> made =
      AllocateTensor(TensorSpec::Contiguous(dtype, shape, Device::Cpu()), AllocTag::kOther);
  RaiseIfError(made.status(), who);
  return *std::move(made);
}

Tensor NewImage(const Tensor& like, int64_t height, int64_t width, const char* who) {
  absl::StatusOr<Shape> shape = Shape::Make({like.size(0), height, width});
  RaiseIfError(shape.status(), who);
  return NewTensor(like.dtype(), *shape, who);
}

void RequireSide(int64_t side, const char* name, const char* who) {
  if (side >= 1 && side <= kMaxSide) return;
  RaiseStatus(InvalidArgument(name, " is ", side, " (want 1 to ", kMaxSide, ")"), who);
}

void RequireProbability(double p, const char* who) {
  if (p >= 0 && p <= 1) return;
  RaiseStatus(InvalidArgument("p is ", p, " (want 0 to 1)"), who);
}

void RequireFinite(double value, const char* name, const char* who) {
  if (std::abs(value) <= std::numeric_limits<float>::max()) return;
  RaiseStatus(InvalidArgument(name, " is ", value, " (want a finite f32)"), who);
}

void RequireInterval(const Interval& interval, double least, const char* name, const char* who) {
  RequireFinite(interval.low, name, who);
  RequireFinite(interval.high, name, who);
  if (interval.low <= interval.high && interval.low >= least) return;
  RaiseStatus(InvalidArgument(name, " is ", interval.low, " to ", interval.high,
                              " (want an interval that rises, from ", least, " or more)"),
              who);
}

void RequireNotNegative(double value, const char* name, const char* who) {
  RequireFinite(value, name, who);
  if (value >= 0) return;
  RaiseStatus(InvalidArgument(name, " is ", value, " (want >= 0)"), who);
}

void RequirePixel(const Tensor& image, double value, const char* name, const char* who) {
  if (image.dtype() != DType::kU8 || (value >= 0 && value <= 255)) return;
  RaiseStatus(InvalidArgument(name, " is ", value, " (want 0 to 255 for an image of u8)"), who);
}

}  // namespace firn::io::internal
