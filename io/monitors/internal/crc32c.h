#ifndef FIRN_IO_MONITORS_INTERNAL_CRC32C_H_
#define FIRN_IO_MONITORS_INTERNAL_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace firn::io::internal {

// CRC-32C (Castagnoli's polynomial; RFC 3720, B.4) of some bytes.
uint32_t Crc32c(std::string_view bytes);

// The masked form in TFRecord files: rotated and shifted by a constant, so that checksums of data
// which contain checksums stay useful.
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace firn::io::internal

#endif  // FIRN_IO_MONITORS_INTERNAL_CRC32C_H_
