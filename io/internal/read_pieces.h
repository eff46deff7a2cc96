#ifndef FIRN_IO_INTERNAL_READ_PIECES_H_
#define FIRN_IO_INTERNAL_READ_PIECES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "firn/io/random_access.h"

namespace firn::io::internal {

// file.ReadAt for large reads: by as many threads as an operation may use, each of them piece by
// piece. If `crc` is not null it becomes the CRC-32 of the bytes, which is computed while they are
// in the processor's cache.
absl::Status ReadPieces(const RandomAccess& file, int64_t offset, char* out, int64_t n,
                        const std::string& field, uint32_t* crc = nullptr);

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_READ_PIECES_H_
