// The CRC runs over the name, a NUL, index, need_grad, dtype, rank and sizes as little-endian
// 64-bit numbers, and the elements.
#include "firn/io/hdf5/internal/h5_checksum.h"

#include <cstring>

#include "firn/io/internal/crc32.h"

namespace firn::io::internal {
namespace {

uint32_t Extend(uint32_t crc, const void* data, size_t bytes) { return Crc32(crc, data, bytes); }

uint32_t Extend(uint32_t crc, int64_t number) { return Extend(crc, &number, sizeof(number)); }

}  // namespace

uint32_t EntryChecksumStart(const std::string& name, int64_t index, bool need_grad,
                            const TensorSpec& spec) {
  uint32_t crc = Extend(0, name.c_str(), name.size() + 1);
  crc = Extend(crc, index);
  crc = Extend(crc, need_grad ? 1 : 0);
  // By name: the numbers of the enumeration are no part of the format.
  crc = Extend(crc, DTypeName(spec.dtype), std::strlen(DTypeName(spec.dtype)));
  crc = Extend(crc, spec.shape.rank());
  for (const int64_t size : spec.shape) crc = Extend(crc, size);
  return crc;
}

uint32_t EntryChecksum(const std::string& name, int64_t index, bool need_grad,
                       const Tensor& tensor) {
  const uint32_t crc = EntryChecksumStart(name, index, need_grad, tensor.spec());
  return tensor.num_elements() == 0 ? crc : Extend(crc, tensor.impl()->data, tensor.spec().bytes());
}

uint32_t EntryChecksum(const std::string& name, int64_t index, bool need_grad,
                       const TensorSpec& spec, uint32_t elements) {
  return Crc32Combine(EntryChecksumStart(name, index, need_grad, spec), elements,
                      static_cast<size_t>(spec.bytes()));
}

uint32_t FileChecksum(absl::Span<const uint32_t> entries) {
  uint32_t crc = Extend(0, static_cast<int64_t>(entries.size()));
  for (const uint32_t entry : entries) crc = Extend(crc, int64_t{entry});
  return crc;
}

}  // namespace firn::io::internal
