#ifndef FIRN_TENSOR_OPS_SHAPE_PADDING_H_
#define FIRN_TENSOR_OPS_SHAPE_PADDING_H_

// The sources of a padded tensor's elements, for pad and its gradient on every device.

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/shape.h"

namespace firn {

// One dimension of `size` elements, `left` and `right` of them added (or, negative, cut off).
struct PadDim {
  int64_t size = 0, left = 0, right = 0;
  PadMode mode = PadMode::kConstant;

  FIRN_HOST_DEVICE int64_t padded() const { return size + left + right; }

  // The element that position `at` of the result copies, -1 for the constant.
  FIRN_HOST_DEVICE int64_t Source(int64_t at) const {
    const int64_t i = at - left;
    if (i >= 0 && i < size) return i;
    switch (mode) {
      case PadMode::kConstant:
        break;
      case PadMode::kReflect:
        return i < 0 ? -i : 2 * size - 2 - i;
      case PadMode::kSymmetric:
        return i < 0 ? -i - 1 : 2 * size - 1 - i;
      case PadMode::kReplicate:
        return i < 0 ? 0 : size - 1;
      case PadMode::kCircular:
        return i < 0 ? i + size : i - size;
    }
    return -1;
  }

  // The positions of the result that copy element `from`: three ranges, some of them empty.
  struct Range {
    int64_t begin = 0, end = 0;
    FIRN_HOST_DEVICE int64_t length() const { return end - begin; }
  };
  // Those of positions [from, until), all in one border, that copy one of elements [first, last).
  Range CopiesIn(int64_t from, int64_t until, int64_t first, int64_t last) const {
    if (from >= until) return {};
    // Along a border elements rise, fall or are the same.
    const bool rise = Source(from) <= Source(until - 1);
    const auto bisect = [&](int64_t begin, const auto& before) {
      int64_t end = until;
      while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        before(Source(middle)) ? begin = middle + 1 : end = middle;
      }
      return begin;
    };
    const int64_t begin = bisect(from, [&](int64_t i) { return rise ? i < first : i >= last; });
    return {begin, bisect(begin, [&](int64_t i) { return rise ? i < last : i >= first; })};
  }
  struct Ranges {
    Range r[3];
    FIRN_HOST_DEVICE int64_t count() const { return r[0].length() + r[1].length() + r[2].length(); }
    FIRN_HOST_DEVICE int64_t operator[](int64_t i) const {
      for (const Range& range : r) {
        if (i < range.length()) return range.begin + i;
        i -= range.length();
      }
      return -1;
    }
  };
  FIRN_HOST_DEVICE Ranges CopiesOf(int64_t from) const;
};
using PadDims = absl::InlinedVector<PadDim, kMaxRank>;

// One entry a dimension of x, or why these attributes do not fit x.
absl::StatusOr<PadDims> ResolvePadding(const Shape& x, const PadAttrs& attrs);
// The same from the shape of the result.
absl::StatusOr<PadDims> ResolveUnpadding(const Shape& y, const PadAttrs& attrs);

FIRN_HOST_DEVICE inline PadDim::Ranges PadDim::CopiesOf(int64_t from) const {
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

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_PADDING_H_
