// Pooled sizes. With ceil_mode the last window may hang over the end, but must start inside the
// image or its leading padding (PyTorch's rule).

#include "firn/tensor/problems/pool_problem.h"

#include <algorithm>

namespace firn {
namespace {

using internal::kMaxImage;

absl::Status CheckPadding(int64_t padding, int64_t kernel, const char* axis) {
  FIRN_RETURN_IF(padding < 0 || padding > kernel / 2,
                 InvalidArgument("padding ", axis, " ", padding, " (want 0 to half the kernel, ",
                                 kernel / 2, ")"));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> AxisSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                                 int64_t dilation, bool ceil_mode, const char* axis) {
  FIRN_RETURN_IF(in < 0 || in > kMaxImage,
                 InvalidArgument("image ", axis, " ", in, " (want 0 to ", kMaxImage, ")"));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("kernel", axis, kernel, 1));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("stride", axis, stride, 1));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("dilation", axis, dilation, 1));
  FIRN_RETURN_IF_ERROR(CheckPadding(padding, kernel, axis));
  const int64_t reach = dilation * (kernel - 1) + 1;
  const int64_t space = in + 2 * padding - reach;
  FIRN_RETURN_IF(space < 0, InvalidArgument("the window covers ", reach, " in ", axis,
                                            ", x with padding has ", in + 2 * padding));
  int64_t out = space / stride + 1;
  if (ceil_mode && space % stride != 0 && out * stride < in + padding) ++out;
  return out;
}

}  // namespace

absl::Status inner::CheckWindows(const PoolAttrs& a) {
  const int dims =
      std::max({1, a.kernel.count(), a.stride.count(), a.padding.count(), a.dilation.count()});
  FIRN_ASSIGN_OR_RETURN(const Sizes kernel, internal::CheckedOption("kernel", a.kernel, 1, dims));
  FIRN_RETURN_IF_ERROR(internal::CheckedOption("stride", a.stride, 1, dims).status());
  FIRN_RETURN_IF_ERROR(internal::CheckedOption("dilation", a.dilation, 1, dims).status());
  FIRN_ASSIGN_OR_RETURN(const Sizes padding, internal::FittedOption("padding", a.padding, dims));
  for (int i = 0; i < dims; ++i) {
    FIRN_RETURN_IF_ERROR(CheckPadding(padding[i], kernel[i], internal::AxisName(i, dims)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Sizes> inner::PoolOutputSize(const Sizes& image, const PoolAttrs& a) {
  const int dims = image.count();
  if (a.is_adaptive()) {
    for (const int64_t side : image.span()) {
      FIRN_RETURN_IF(side < 1, InvalidArgument("x has an empty image, ", image.ToString()));
    }
    return internal::CheckedOption("output_size", a.adaptive, 1, dims);
  }
  FIRN_ASSIGN_OR_RETURN(const Sizes kernel, internal::FittedOption("kernel", a.kernel, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes stride, internal::FittedOption("stride", a.stride, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes padding, internal::FittedOption("padding", a.padding, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes dilation, internal::FittedOption("dilation", a.dilation, dims));
  Sizes out = image;
  for (int i = 0; i < dims; ++i) {
    FIRN_ASSIGN_OR_RETURN(const int64_t size,
                          AxisSize(image[i], kernel[i], stride[i], padding[i], dilation[i],
                                   a.ceil_mode, internal::AxisName(i, dims)));
    out.set(i, size);
  }
  return out;
}

}  // namespace firn
