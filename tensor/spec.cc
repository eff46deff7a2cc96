// Specs: constructors that keep the `contiguous` flag true to the strides, and printing.

#include "firn/tensor/spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/check.h"
#include "firn/device/inner.h"
#include "firn/tensor/order.h"

namespace firn {

TensorSpec TensorSpec::Contiguous(DType dtype, const Shape& shape, Device device) {
  TensorSpec s{dtype, device, shape, {}};
  s.layout.strides = ContiguousStrides(shape);
  return s;
}

TensorSpec TensorSpec::Blocked(DType dtype, const Shape& shape, Device device, int block) {
  if (block == 0) return Contiguous(dtype, shape, device);
  FIRN_DCHECK(shape.rank() >= 3 && shape[1] % block == 0);
  TensorSpec s{dtype, device, shape, {}};
  s.layout.channel_block = block;
  s.layout.contiguous = false;
  return s;
}

TensorSpec TensorSpec::Strided(DType dtype, const Shape& shape, Device device,
                               const Dims& strides) {
  TensorSpec s{dtype, device, shape, {}};
  s.layout.strides = strides;
  s.layout.contiguous = IsContiguous(shape, strides);
  return s;
}

std::string TensorSpec::ToString() const {
  // No stream: that of small programs (tools/bundled) would be the only one.
  std::string text =
      absl::StrCat(DTypeName(dtype), " ", shape.ToString(), " on ", device.ToString());
  if (layout.blocked() && layout.channel_block == shape[1]) {
    absl::StrAppend(&text, " (channels last)");
  } else if (layout.blocked()) {
    absl::StrAppend(&text, " (channels in blocks of ", layout.channel_block, ")");
  } else if (!layout.contiguous) {
    absl::StrAppend(&text, " (strides [", absl::StrJoin(layout.strides.span(), ", "), "])");
  }
  return text;
}

int32_t inner::ChannelsLastBlock(const Shape& shape) {
  if (shape.rank() < 3 || shape.num_elements() == 0) return 0;
  const int64_t channels = shape[1], pixels = shape.num_elements() / shape[0] / channels;
  const bool same = channels == 1 || pixels == 1 || channels > INT32_MAX;
  return same ? 0 : static_cast<int32_t>(channels);
}

Dims inner::StridesOf(const TensorSpec& spec) {
  if (!spec.layout.blocked()) return spec.layout.strides;
  const Shape& shape = spec.shape;
  FIRN_DCHECK(spec.layout.channel_block == shape[1]);
  Dims strides(shape.rank());
  strides[1] = 1;
  int64_t step = shape[1];
  for (int i = shape.rank() - 1; i >= 2; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  strides[0] = step;
  return strides;
}

bool inner::IsContiguous(const Shape& shape, const Dims& strides) {
  if (shape.num_elements() == 0) return true;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

int32_t inner::OrderOf(const TensorSpec& spec) {
  if (spec.layout.contiguous || spec.layout.blocked()) return 0;
  constexpr int kBits = 3;  // of a dimension's number
  static_assert(kMaxRank <= 1 << kBits && kMaxRank * kBits < 31);
  const Shape& shape = spec.shape;
  const Dims& strides = spec.layout.strides;
  int order[kMaxRank], placed = 0;
  for (int d = 0; d < shape.rank(); ++d) {  // the largest stride first
    if (shape[d] == 1) continue;
    int at = placed++;
    for (; at > 0 && strides[order[at - 1]] < strides[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  int64_t step = 1;
  int32_t digits = 0;
  for (int place = placed - 1; place >= 0; --place) {
    const int d = order[place];
    if (strides[d] != step) return 0;
    step *= shape[d];
    digits |= d << (place * kBits);
  }
  return -digits - 1;
}

OffsetRange inner::ReachOf(const Shape& shape, const Dims& strides) {
  OffsetRange r;
  if (shape.num_elements() == 0) return r;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t span = (shape[i] - 1) * strides[i];
    (span < 0 ? r.low : r.high) += span;
  }
  return r;
}

}  // namespace firn
