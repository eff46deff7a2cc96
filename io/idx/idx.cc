// IDX (Y. LeCun, "The MNIST database of handwritten digits", under "File formats"), everything
// big-endian:
//   offset 0   u16  0
//   offset 2   u8   element type: 8 u8, 9 i8, 11 i16, 12 i32, 13 f32, 14 f64
//   offset 3   u8   number of dimensions
//   offset 4   u32  size of each dimension
//   then the elements, row-major, and nothing after them
#include "firn/io/idx/idx.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/idx/idx_status.h"
#include "firn/io/internal/byte_source.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/allocate.h"

namespace firn::io {
namespace {

using internal::ByteSource;
using internal::StoredType;

constexpr int64_t kMagicBytes = 4;

struct Header {
  StoredType type;
  Shape shape;
};

absl::StatusOr<StoredType> TypeOf(const std::string& name, unsigned code) {
  switch (code) {
    case 8:
      return StoredType{.dtype = DType::kU8, .bytes = 1, .big_endian = true, .is_signed = false};
    case 9:
      return StoredType{.dtype = DType::kI8, .bytes = 1, .big_endian = true};
    case 11:
      return StoredType{.dtype = DType::kI32, .bytes = 2, .big_endian = true};
    case 12:
      return StoredType{.dtype = DType::kI32, .bytes = 4, .big_endian = true};
    case 13:
      return StoredType{.dtype = DType::kF32, .bytes = 4, .big_endian = true};
    case 14:
      return StoredType{.dtype = DType::kF64, .bytes = 8, .big_endian = true};
    default:
      return Damaged(name, 2, "element type",
                     absl::StrCat("expected 8, 9, 11, 12, 13 or 14, got ", code));
  }
}

// Unimplemented for an intact file with too many dimensions; DataLoss if the file does not hold the
// elements that its sizes announce. Elements are read in pieces and dropped.
absl::Status TooManyDimensions(ByteSource& source, const StoredType& type, int rank,
                               const LoadLimits& limits) {
  int64_t bytes = type.bytes;
  bool fits = true;
  for (int i = 0; i < rank; ++i) {
    unsigned char be[4];
    FIRN_RETURN_IF_ERROR(source.Read(be, 4, absl::StrCat("size of dimension ", i)));
    const int64_t size = int64_t{be[0]} << 24 | int64_t{be[1]} << 16 | int64_t{be[2]} << 8 | be[3];
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
  }
  const std::string what = absl::StrCat("expected at most ", kMaxRank, ", got ", rank);
  if (!fits || bytes > source.max_size() - source.offset()) {
    return Damaged(source.name(), 3, "number of dimensions", what);
  }
  FIRN_RETURN_IF(
      bytes > limits.max_total_bytes,
      ResourceExhausted(source.name(), ": ", bytes, " bytes of elements are more than ", "the ",
                        limits.max_total_bytes, " allowed (limits.max_total_bytes)"));
  std::vector<char> piece(64 << 10);
  for (int64_t left = bytes; left > 0;) {
    const int64_t n = std::min(left, static_cast<int64_t>(piece.size()));
    FIRN_RETURN_IF_ERROR(source.Read(piece.data(), n, "elements"));
    left -= n;
  }
  FIRN_RETURN_IF_ERROR(source.ExpectEnd());
  return Unimplemented(source.name(), ": offset 3, number of dimensions: ", what);
}

absl::StatusOr<Header> ReadHeader(ByteSource& source, const LoadLimits& limits) {
  unsigned char magic[kMagicBytes];
  FIRN_RETURN_IF_ERROR(source.Read(magic, 2, "magic"));
  if (magic[0] != 0 || magic[1] != 0) {
    return Damaged(
        source.name(), 0, "magic",
        absl::StrCat("expected 0 0, got ", magic[0], " ", magic[1], ": not an IDX file"));
  }
  FIRN_RETURN_IF_ERROR(source.Read(magic + 2, kMagicBytes - 2, "element type and dimensions"));
  Header header;
  FIRN_ASSIGN_OR_RETURN(header.type, TypeOf(source.name(), magic[2]));
  if (magic[3] > kMaxRank) return TooManyDimensions(source, header.type, magic[3], limits);
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

// Refuses sizes that the file cannot hold or the limits forbid.
absl::Status CheckSize(const ByteSource& source, const Header& header, const LoadLimits& limits) {
  const int64_t n = header.shape.num_elements();
  if (n > limits.max_total_bytes / SizeOf(header.type.dtype)) {
    return ResourceExhausted(source.name(), ": ", n, " elements of ", DTypeName(header.type.dtype),
                             " are more than the ", limits.max_total_bytes,
                             " bytes allowed (limits.max_total_bytes)");
  }
  const int64_t expected = source.offset() + n * header.type.bytes;
  if (expected > source.max_size()) {
    return Damaged(source.name(), kMagicBytes, "sizes",
                   absl::StrCat("elements of shape ", header.shape.ToString(), " end at byte ",
                                expected, ", the file has at most ", source.max_size()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> TryReadIdx(const std::string& path, const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  FIRN_ASSIGN_OR_RETURN(const Header header, ReadHeader(*source, limits));
  FIRN_RETURN_IF_ERROR(CheckSize(*source, header, limits));

  FIRN_ASSIGN_OR_RETURN(
      Tensor tensor,
      AllocateTensor(TensorSpec::Contiguous(header.type.dtype, header.shape, Device::Cpu()),
                     AllocTag::kOther));
  const int64_t n = header.shape.num_elements();
  char* data = tensor.impl()->data;
  FIRN_RETURN_IF_ERROR(source->Read(data, n * header.type.bytes, "elements"));
  FIRN_RETURN_IF_ERROR(source->ExpectEnd());
  FIRN_RETURN_IF_ERROR(internal::ConvertStored(header.type, n, data));
  return tensor;
}

Tensor ReadIdx(const std::string& path, const LoadLimits& limits) {
  return ValueOrRaise(TryReadIdx(path, limits), "read_idx");
}

}  // namespace firn::io
