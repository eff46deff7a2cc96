// Padding rules. Reflection and its like reach at most once around: more padding than elements is
// an error, as in PyTorch.

#include "tensor/padding.h"

#include <algorithm>

#include "device/status_macros.h"

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
                   InvalidArgument("padding (", d.left, ", ", d.right, ") is too large"));
    if (sign < 0) d.size -= d.left + d.right;
    FIRN_RETURN_IF_ERROR(CheckDim(d, static_cast<int>(at), shape));
  }
  return dims;
}

}  // namespace

PadDim::Ranges PadDim::CopiesOf(int64_t from) const {
  const int64_t end = padded();
  const auto one = [&](int64_t i, bool outside) {  // position i of the virtual, unbounded dimension
    const int64_t at = i + left;
    return outside && at >= 0 && at < end ? Range{at, at + 1} : Range{};
  };
  const Range direct = one(from, true);
  switch (mode) {
    case PadMode::kConstant:
      break;
    case PadMode::kReflect:
      return {{direct, one(-from, from > 0), one(2 * size - 2 - from, from < size - 1)}};
    case PadMode::kSymmetric:
      return {{direct, one(-from - 1, true), one(2 * size - 1 - from, true)}};
    case PadMode::kCircular:
      return {{direct, one(from - size, true), one(from + size, true)}};
    case PadMode::kReplicate: {
      const Range low = from == 0 && left > 0 ? Range{0, left} : Range{};
      const Range high = from == size - 1 && right > 0 ? Range{left + size, end} : Range{};
      const auto inside = [end](Range r) {
        return Range{std::clamp<int64_t>(r.begin, 0, end), std::clamp<int64_t>(r.end, 0, end)};
      };
      return {{direct, inside(low), inside(high)}};
    }
  }
  return {{direct, {}, {}}};
}

absl::StatusOr<PadDims> ResolvePadding(const Shape& x, const PadAttrs& attrs) {
  return Resolve(x, attrs, 1);
}

absl::StatusOr<PadDims> ResolveUnpadding(const Shape& y, const PadAttrs& attrs) {
  return Resolve(y, attrs, -1);
}

}  // namespace firn
