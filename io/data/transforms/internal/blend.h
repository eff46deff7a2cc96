#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_BLEND_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_BLEND_H_

#include <cstdint>

namespace firn::io::internal {

// `from` + factor * (`to` - `from`), also for factors outside of 0 to 1. Bytes are computed as by
// Pillow's Image.blend: the fraction is cut off.
inline uint8_t Blend(uint8_t from, uint8_t to, float part) {
  const float v = static_cast<float>(from) + part * static_cast<float>(to - from);
  return static_cast<uint8_t>(v > 0 ? (v < 255 ? v : 255) : 0);
}
// Does what torchvision's _blend does to tensors.
inline float Blend(float from, float to, float part) {
  const float v = part * to + (1 - part) * from;
  return v < 0 ? 0 : v > 1 ? 1 : v;
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_BLEND_H_
