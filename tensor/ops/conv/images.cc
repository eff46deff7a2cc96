// Checks of options that have a number for each spatial dimension, and shapes of images.

#include "tensor/ops/conv/images.h"

#include "absl/strings/str_cat.h"
#include "device/inner.h"
#include "tensor/error.h"

namespace firn {
namespace {

std::string Bounds(int64_t low) {
  return absl::StrCat(" (want ", low, " to ", internal::kMaxOption, ")");
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
