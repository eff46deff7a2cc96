// Checks of options that have a number for each spatial dimension, and shapes of images.

#include "firn/tensor/problems/images.h"

#include "absl/strings/str_cat.h"
#include "firn/device/inner.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

std::string Bounds(int64_t low) {
  return absl::StrCat(" (want ", low, " to ", internal::kMaxOption, ")");
}

absl::StatusOr<int64_t> CountAlong(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                                   int64_t dilation, const char* axis) {
  FIRN_RETURN_IF_ERROR(internal::CheckOption("kernel", axis, kernel, 1));
  FIRN_RETURN_IF(
      in < 0 || in > internal::kMaxImage,
      InvalidArgument("image ", axis, " ", in, " (want 0 to ", internal::kMaxImage, ")"));
  const int64_t reach = dilation * (kernel - 1) + 1;
  FIRN_RETURN_IF(in + 2 * padding < reach,
                 InvalidArgument("the kernel covers ", reach, " in ", axis, ", x with padding has ",
                                 in + 2 * padding));
  return (in + 2 * padding - reach) / stride + 1;
}

}  // namespace

absl::Status inner::internal::CheckOption(std::string_view name, std::string_view axis,
                                          int64_t value, int64_t low) {
  FIRN_RETURN_IF(value < low || value > kMaxOption,
                 InvalidArgument(name, axis.empty() ? "" : " ", axis, " ", value, Bounds(low)));
  return absl::OkStatus();
}

absl::StatusOr<Sizes> inner::internal::FittedOption(std::string_view name, const Sizes& value,
                                                    int dims) {
  FIRN_RETURN_IF(
      !value.Fits(dims),
      InvalidArgument(name, " ", value.ToString(), " has ", value.count(), " numbers (want 1",
                      dims == 1 ? "" : absl::StrCat(" or ", dims), ")"));
  return value.Over(dims);
}

absl::StatusOr<Sizes> inner::internal::CheckedOption(std::string_view name, const Sizes& value,
                                                     int64_t low, int dims) {
  FIRN_ASSIGN_OR_RETURN(const Sizes all, FittedOption(name, value, dims));
  for (const int64_t v : all.span()) {
    FIRN_RETURN_IF(v < low || v > kMaxOption,
                   InvalidArgument(name, " ", all.ToString(), Bounds(low)));
  }
  return all;
}

absl::StatusOr<Sizes> inner::internal::CountWindows(const Sizes& image, const Sizes& kernel,
                                                    const Sizes& stride, const Sizes& padding,
                                                    const Sizes& dilation) {
  const int dims = image.count();
  Sizes counts = image;
  for (int i = 0; i < dims; ++i) {
    FIRN_ASSIGN_OR_RETURN(
        const int64_t count,
        CountAlong(image[i], kernel[i], stride[i], padding[i], dilation[i], AxisName(i, dims)));
    counts.set(i, count);
  }
  return counts;
}

const char* inner::internal::AxisName(int i, int dims) {
  constexpr const char* kNames[] = {"depth", "height", "width"};
  return kNames[i + Sizes::kMost - dims];
}

Sizes inner::ImageOf(const Shape& shape) { return Sizes(shape.span().subspan(2)); }

absl::StatusOr<Shape> inner::ShapeOfImages(int64_t batch, int64_t channels, const Sizes& image) {
  Dims dims;
  dims.push_back(batch);
  dims.push_back(channels);
  for (const int64_t size : image.span()) dims.push_back(size);
  return Shape::Make(dims.span());
}

bool inner::LacksBatch(const Tensor& x, int dims, std::string_view op) {
  if (!x.defined() || x.rank() == dims + 2) return false;
  if (x.rank() == dims + 1) return true;
  RaiseStatus(InvalidArgument("x must have ", dims + 2, " dimensions, or ", dims + 1,
                              " without a batch; got ", x.spec().ToString()),
              op);
}

}  // namespace firn
