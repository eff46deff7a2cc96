// Pooled sizes. With ceil_mode the last window may hang over the end, but must start inside the
// image or its leading padding (PyTorch's rule).

#include "tensor/ops/pool/pool_window.h"

namespace firn {
namespace {

// Of an image's side: an attribute may say anything, and padding is added to it.
constexpr int64_t kMaxSide = int64_t{1} << 62;

absl::StatusOr<int64_t> AxisSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                                 int64_t dilation, bool ceil_mode, const char* axis) {
  FIRN_RETURN_IF(in < 0 || in > kMaxSide,
                 InvalidArgument("image ", axis, " ", in, " (want 0 to ", kMaxSide, ")"));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("kernel", axis, kernel, 1));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("stride", axis, stride, 1));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("dilation", axis, dilation, 1));
  FIRN_RETURN_IF(padding < 0 || padding > kernel / 2,
                 InvalidArgument("padding ", axis, " ", padding, " (want 0 to half the kernel, ",
                                 kernel / 2, ")"));
  const int64_t reach = dilation * (kernel - 1) + 1;
  const int64_t space = in + 2 * padding - reach;
  FIRN_RETURN_IF(space < 0, InvalidArgument("the window covers ", reach, " in ", axis,
                                            ", x with padding has ", in + 2 * padding));
  int64_t out = space / stride + 1;
  if (ceil_mode && space % stride != 0 && out * stride < in + padding) ++out;
  return out;
}

}  // namespace

absl::StatusOr<Size2> inner::PoolOutputSize(Size2 image, const PoolAttrs& a) {
  if (a.is_adaptive()) {
    FIRN_RETURN_IF_ERROR(internal::CheckOption("output_size", a.adaptive, 1));
    FIRN_RETURN_IF(image.h < 1 || image.w < 1, InvalidArgument("x has an empty image"));
    return a.adaptive;
  }
  Size2 out;
  FIRN_ASSIGN_OR_RETURN(out.h, AxisSize(image.h, a.kernel.h, a.stride.h, a.padding.h, a.dilation.h,
                                        a.ceil_mode, "height"));
  FIRN_ASSIGN_OR_RETURN(out.w, AxisSize(image.w, a.kernel.w, a.stride.w, a.padding.w, a.dilation.w,
                                        a.ceil_mode, "width"));
  return out;
}

}  // namespace firn
