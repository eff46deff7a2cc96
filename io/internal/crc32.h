#ifndef FIRN_IO_INTERNAL_CRC32_H_
#define FIRN_IO_INTERNAL_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace firn::io::internal {

// zlib's crc32_z: the CRC-32 of what `crc` is of, 0 for nothing, and these bytes. Several times as
// fast on processors that multiply polynomials.
uint32_t Crc32(uint32_t crc, const void* data, size_t bytes);

// The sum of what `first` is of with what `second` is of behind it, which has so many bytes; takes
// no longer for many of them.
uint32_t Crc32Combine(uint32_t first, uint32_t second, size_t second_bytes);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_CRC32_H_
