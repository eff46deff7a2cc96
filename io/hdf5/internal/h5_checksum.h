#ifndef FIRN_IO_HDF5_INTERNAL_H5_CHECKSUM_H_
#define FIRN_IO_HDF5_INTERNAL_H5_CHECKSUM_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Attributes that Firn adds to NNabla's two (need_grad, index), which other readers pass over.
// On each dataset: EntryChecksum. On the root group: FileChecksum of the datasets' checksums, in
// the order of index.
inline constexpr char kChecksumAttribute[] = "firn_crc32";

// CRC-32 of everything that is stored about one entry. Requires: `tensor` is dense, on the CPU.
uint32_t EntryChecksum(const std::string& name, int64_t index, bool need_grad,
                       const Tensor& tensor);
// The same, from the CRC-32 of its elements.
uint32_t EntryChecksum(const std::string& name, int64_t index, bool need_grad,
                       const TensorSpec& spec, uint32_t elements);
// The same without its elements, over which Crc32 is then continued.
uint32_t EntryChecksumStart(const std::string& name, int64_t index, bool need_grad,
                            const TensorSpec& spec);

uint32_t FileChecksum(absl::Span<const uint32_t> entries);

}  // namespace firn::io::internal

#endif  // FIRN_IO_HDF5_INTERNAL_H5_CHECKSUM_H_
