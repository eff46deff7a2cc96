#ifndef FIRN_IO_INTERNAL_CRC32_H_
#define FIRN_IO_INTERNAL_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace firn::io::internal {

// zlib's crc32_z: the CRC-32 of what `crc` is of, 0 for nothing, and these bytes. Several times as
// fast on processors that multiply polynomials.
uint32_t Crc32(uint32_t crc, const void* data, size_t bytes);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_CRC32_H_
