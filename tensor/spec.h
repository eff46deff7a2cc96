#ifndef FIRN_TENSOR_SPEC_H_
#define FIRN_TENSOR_SPEC_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "firn/device/device.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/shape.h"

namespace firn {

namespace inner {
// How the elements of a tensor lie in memory. Either strided (any strides, in elements, also zero),
// or *blocked*: dimension 1 (the channels) is cut into groups of `channel_block` which lie
// innermost, [n, c / block, spatial..., block], what oneDNN calls nChw8c and nChw16c; a block of
// all channels is NHWC. Blocked tensors have rank >= 3, a number of channels divisible by the
// block, and are dense.
struct Layout {
  int32_t channel_block = 0;  // 0: strided
  bool contiguous = true;     // strided, row-major without gaps
  Dims strides;               // meaningful when strided

  bool blocked() const { return channel_block != 0; }
};
}  // namespace inner

// Everything about a tensor but its values. A value type.
struct TensorSpec {
  DType dtype = DType::kF32;
  Device device;
  Shape shape;
  inner::Layout layout;

  // Row-major and dense.
  static TensorSpec Contiguous(DType dtype, const Shape& shape, Device device);
  // Channel-blocked; `block` 0 gives Contiguous. Requires: the conditions of Layout.
  static TensorSpec Blocked(DType dtype, const Shape& shape, Device device, int block);
  static TensorSpec Strided(DType dtype, const Shape& shape, Device device,
                            const inner::Dims& strides);

  int64_t num_elements() const { return shape.num_elements(); }
  // How many bytes the elements take when they lie without gaps.
  size_t bytes() const { return static_cast<size_t>(shape.num_elements() * SizeOf(dtype)); }
  // Contiguous or blocked: num_elements() consecutive elements.
  bool dense() const { return layout.contiguous || layout.blocked(); }

  // "f32 [8, 3, 32, 32] on cpu", with the layout when it is not contiguous.
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const TensorSpec& s) {
    return os << s.ToString();
  }
};

namespace inner {
// True if dense tensors of the two specs hold corresponding elements at equal offsets.
inline bool SameDenseLayout(const TensorSpec& a, const TensorSpec& b) {
  return a.dense() && b.dense() && a.layout.channel_block == b.layout.channel_block &&
         a.shape == b.shape;
}

// The block that makes a tensor of this shape NHWC, or 0 where that is its row-major order anyway:
// for one channel, one pixel, and ranks below 3.
int32_t ChannelsLastBlock(const Shape& shape);
inline bool IsChannelsLast(const TensorSpec& spec) {
  return spec.layout.blocked() && spec.layout.channel_block == ChannelsLastBlock(spec.shape);
}

// The strides, in elements, of a tensor that has them: strided or NHWC.
Dims StridesOf(const TensorSpec& spec);

// True if strides describe a row-major dense array; strides of sizes 0 and 1 do not matter.
bool IsContiguous(const Shape& shape, const Dims& strides);

// The lowest and highest element offset that a strided view reaches, both 0 for an empty one.
struct OffsetRange {
  int64_t low = 0, high = 0;
};
OffsetRange ReachOf(const Shape& shape, const Dims& strides);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_SPEC_H_
