// IDX (Y. LeCun, "The MNIST database of handwritten digits", under "File formats"), everything
// big-endian:
//   offset 0   u16  0
//   offset 2   u8   element type: 8 u8, 9 i8, 11 i16, 12 i32, 13 f32, 14 f64
//   offset 3   u8   number of dimensions
//   offset 4   u32  size of each dimension
//   then the elements, row-major, and nothing after them
#include "io/idx.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "io/internal/byte_source.h"
#include "tensor/dtype.h"

namespace firn::io {
namespace {

using internal::ByteSource;
using internal::Damaged;

constexpr int64_t kMagicBytes = 4;

struct Header {
  DType dtype = DType::kU8;  // of the tensor
  int64_t stored_bytes = 1;  // of one element in the file
  Shape shape;
};

absl::Status SetType(const std::string& name, unsigned code, Header* header) {
  switch (code) {
    case 8:
      header->dtype = DType::kU8;
      break;
    case 9:
      header->dtype = DType::kI8;
      break;
    case 11:
      header->dtype = DType::kI32;
      header->stored_bytes = 2;
      return absl::OkStatus();
    case 12:
      header->dtype = DType::kI32;
      break;
    case 13:
      header->dtype = DType::kF32;
      break;
    case 14:
      header->dtype = DType::kF64;
      break;
    default:
      return Damaged(name, 2, "element type",
                     absl::StrCat("expected 8, 9, 11, 12, 13 or 14, got ", code));
  }
  header->stored_bytes = SizeOf(header->dtype);
  return absl::OkStatus();
}

absl::StatusOr<Header> ReadHeader(ByteSource& source) {
  unsigned char magic[kMagicBytes];
  FIRN_RETURN_IF_ERROR(source.Read(magic, kMagicBytes, "magic"));
  if (magic[0] != 0 || magic[1] != 0) {
    return Damaged(
        source.name(), 0, "magic",
        absl::StrCat("expected 0 0, got ", magic[0], " ", magic[1], ": not an IDX file"));
  }
  Header header;
  FIRN_RETURN_IF_ERROR(SetType(source.name(), magic[2], &header));
  if (magic[3] > kMaxRank) {
    return Damaged(source.name(), 3, "number of dimensions",
                   absl::StrCat("expected at most ", kMaxRank, ", got ", magic[3]));
  }
  Dims sizes;
  for (int i = 0; i < magic[3]; ++i) {
    unsigned char be[4];
    FIRN_RETURN_IF_ERROR(source.Read(be, 4, absl::StrCat("size of dimension ", i)));
    sizes.push_back(int64_t{be[0]} << 24 | int64_t{be[1]} << 16 | int64_t{be[2]} << 8 | be[3]);
  }
  absl::StatusOr<Shape> shape = Shape::Make(sizes.span());
  if (!shape.ok()) {
    return Damaged(source.name(), kMagicBytes, "sizes", std::string(shape.status().message()));
  }
  header.shape = *shape;
  return header;
}

// Refuses what the file cannot hold or the limits forbid.
absl::Status CheckSize(const ByteSource& source, const Header& header, const LoadLimits& limits) {
  const int64_t n = header.shape.num_elements();
  const int64_t widest = std::max(header.stored_bytes, SizeOf(header.dtype));
  if (n > limits.max_total_bytes / widest) {
    return ResourceExhausted(source.name(), ": ", n, " elements of ", Name(header.dtype),
                             " are more than the ", limits.max_total_bytes, " bytes allowed");
  }
  const int64_t expected = source.offset() + n * header.stored_bytes;
  if (expected > source.max_size()) {
    return Damaged(source.name(), kMagicBytes, "sizes",
                   absl::StrCat("elements of shape ", header.shape.ToString(), " end at byte ",
                                expected, ", the file has at most ", source.max_size()));
  }
  return absl::OkStatus();
}

// Elements of `Bytes` bytes each from big-endian to the machine's order, in place.
template <size_t Bytes>
void SwapBytes(char* data, int64_t n) {
  if constexpr (std::endian::native == std::endian::little && Bytes > 1) {
    for (int64_t i = 0; i < n; ++i) std::reverse(data + i * Bytes, data + (i + 1) * Bytes);
  }
}

// Turns n 16-bit integers at the front of the array into 32-bit ones; from the end, so that none is
// overwritten before it is read.
void Widen(char* data, int64_t n) {
  for (int64_t i = n - 1; i >= 0; --i) {
    int16_t narrow;
    std::memcpy(&narrow, data + i * 2, 2);
    const int32_t wide = narrow;
    std::memcpy(data + i * 4, &wide, 4);
  }
}

}  // namespace

absl::StatusOr<Tensor> ReadIdx(const std::string& path, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  FIRN_ASSIGN_OR_RETURN(const Header header, ReadHeader(*source));
  FIRN_RETURN_IF_ERROR(CheckSize(*source, header, limits));

  FIRN_ASSIGN_OR_RETURN(
      Tensor tensor,
      AllocateTensor(TensorSpec::Contiguous(header.dtype, header.shape, Device::Cpu()),
                     AllocTag::kOther));
  const int64_t n = header.shape.num_elements();
  char* data = tensor.impl()->data;
  FIRN_RETURN_IF_ERROR(source->Read(data, n * header.stored_bytes, "elements"));
  FIRN_RETURN_IF_ERROR(source->ExpectEnd());
  switch (header.stored_bytes) {
    case 2:
      SwapBytes<2>(data, n);
      Widen(data, n);
      break;
    case 4:
      SwapBytes<4>(data, n);
      break;
    case 8:
      SwapBytes<8>(data, n);
      break;
    default:
      break;
  }
  return tensor;
}

}  // namespace firn::io
