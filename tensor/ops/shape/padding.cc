// Padding rules. Reflection and its like reach at most once around: more padding than elements is
// an error, as in PyTorch.

#include "firn/tensor/ops/shape/padding.h"

#include <algorithm>

#include "firn/device/status_macros.h"

namespace firn {
namespace {

absl::Status CheckDim(const PadDim& d, int dim, const Shape& x) {
  FIRN_RETURN_IF(d.size < 0 || d.padded() < 0,
                 InvalidArgument("padding (", d.left, ", ", d.right, ") of dim ", dim,
                                 " leaves a negative size for ", x.ToString()));
  const int64_t most = std::max(d.left, d.right);
  if (d.mode == PadMode::kConstant || most <= 0) return absl::OkStatus();
  FIRN_RETURN_IF(d.size == 0,
                 InvalidArgument("dim ", dim, " of ", x.ToString(), " has no element to pad with"));
  if (d.mode == PadMode::kReplicate) return absl::OkStatus();
  const int64_t limit = d.mode == PadMode::kReflect ? d.size - 1 : d.size;
  FIRN_RETURN_IF(
      most > limit,
      InvalidArgument("padding (", d.left, ", ", d.right, ") of dim ", dim, " is more than the ",
                      limit, " elements there are to pad ", x.ToString(), " with in this mode"));
  return absl::OkStatus();
}

// `sign` 1: `shape` is x's; -1: the result's.
absl::StatusOr<PadDims> Resolve(const Shape& shape, const PadAttrs& attrs, int sign) {
  const std::vector<int64_t>& pad = attrs.pad;
  FIRN_RETURN_IF(attrs.mode > PadMode::kSymmetric,
                 InvalidArgument("no padding mode ", static_cast<int>(attrs.mode)));
  const size_t pairs = pad.size() / 2;
  FIRN_RETURN_IF(pad.size() % 2 != 0 || pairs > static_cast<size_t>(shape.rank()),
                 InvalidArgument(pad.size(), " numbers are no pairs for the dimensions of ",
                                 shape.ToString()));
  PadDims dims(static_cast<size_t>(shape.rank()));
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i] = {.size = shape[static_cast<int>(i)], .left = 0, .right = 0, .mode = attrs.mode};
  }
  for (size_t i = 0; i < pairs; ++i) {
    const size_t at = dims.size() - 1 - i;
    PadDim& d = dims[at];
    d.left = pad[2 * i];
    d.right = pad[2 * i + 1];
    constexpr int64_t kLimit = int64_t{1} << 60;
    FIRN_RETURN_IF(d.left < -kLimit || d.left > kLimit || d.right < -kLimit || d.right > kLimit,
                   InvalidArgument("padding (", d.left, ", ", d.right, ") is outside -", kLimit,
                                   " to ", kLimit));
    if (sign < 0) d.size -= d.left + d.right;
    FIRN_RETURN_IF_ERROR(CheckDim(d, static_cast<int>(at), shape));
  }
  return dims;
}

}  // namespace

absl::StatusOr<PadDims> ResolvePadding(const Shape& x, const PadAttrs& attrs) {
  return Resolve(x, attrs, 1);
}

absl::StatusOr<PadDims> ResolveUnpadding(const Shape& y, const PadAttrs& attrs) {
  return Resolve(y, attrs, -1);
}

}  // namespace firn
