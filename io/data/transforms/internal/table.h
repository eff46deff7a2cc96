#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_TABLE_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_TABLE_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// The new value of each byte.
using ByteTable = std::array<uint8_t, 256>;

// Every element of an image u8 looked up in the table of its channel, or in the only one.
Tensor Mapped(const Tensor& image, absl::Span<const ByteTable> tables, const char* who);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_TABLE_H_
