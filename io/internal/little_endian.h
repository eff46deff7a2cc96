#ifndef FIRN_IO_INTERNAL_LITTLE_ENDIAN_H_
#define FIRN_IO_INTERNAL_LITTLE_ENDIAN_H_

// Numbers as most formats have them, the lowest byte first, whatever the machine's order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace firn::io::internal {

// The number of `bytes` bytes, 0 to 8, that begin at `at`.
inline uint64_t LittleEndian(const void* at, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(at);
  uint64_t value = 0;
  while (bytes-- > 0) value = value << 8 | p[bytes];
  return value;
}
inline uint64_t LittleEndian(std::string_view bytes) {
  return LittleEndian(bytes.data(), bytes.size());
}

// Appends a number as that many bytes, of which those beyond the eighth are 0.
inline void AppendLittleEndian(std::string* out, uint64_t value, size_t bytes) {
  for (; bytes > 0; --bytes, value >>= 8) *out += static_cast<char>(value & 255);
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_LITTLE_ENDIAN_H_
