// Specs: constructors that keep the `contiguous` flag true to the strides, and printing.

#include "tensor/spec.h"

#include <sstream>

#include "absl/strings/str_join.h"
#include "device/check.h"

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
  s.layout.channel_block = static_cast<uint8_t>(block);
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
  std::ostringstream os;
  os << dtype << " " << shape << " on " << device.ToString();
  if (layout.blocked()) {
    os << " (channels in blocks of " << int{layout.channel_block} << ")";
  } else if (!layout.contiguous) {
    os << " (strides [" << absl::StrJoin(layout.strides.span(), ", ") << "])";
  }
  return os.str();
}

bool IsContiguous(const Shape& shape, const Dims& strides) {
  if (shape.num_elements() == 0) return true;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

OffsetRange ReachOf(const Shape& shape, const Dims& strides) {
  OffsetRange r;
  if (shape.num_elements() == 0) return r;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t span = (shape[i] - 1) * strides[i];
    (span < 0 ? r.low : r.high) += span;
  }
  return r;
}

}  // namespace firn
