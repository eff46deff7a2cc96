// Elements follow the header, in the order of C or of Fortran. The latter is read as an array of
// the reversed sizes and then transposed.
#include "firn/io/npy/npy.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/crc32.h"
#include "firn/io/internal/read_pieces.h"
#include "firn/io/npy/internal/npy_array.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/value_or_raise.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace internal {
namespace {

// `from` has the elements with the first index running fastest; `to` gets the last one so.
void FromFortran(const Shape& shape, int64_t bytes, const char* from, char* to) {
  const int rank = shape.rank();
  std::vector<int64_t> index(static_cast<size_t>(rank), 0), stride(static_cast<size_t>(rank), 1);
  for (int d = 1; d < rank; ++d) {
    stride[static_cast<size_t>(d)] = stride[static_cast<size_t>(d - 1)] * shape[d - 1];
  }
  int64_t at = 0;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    std::memcpy(to + i * bytes, from + at * bytes, static_cast<size_t>(bytes));
    for (int d = rank - 1; d >= 0; --d) {
      const auto k = static_cast<size_t>(d);
      at += stride[k];
      if (++index[k] < shape[d]) break;
      at -= stride[k] * shape[d];
      index[k] = 0;
    }
  }
}

}  // namespace

absl::StatusOr<Tensor> NewArray(DType dtype, const Shape& shape) {
  return AllocateTensor(TensorSpec::Contiguous(dtype, shape, Device::Cpu()), AllocTag::kOther);
}

absl::Status CheckDataBytes(const RandomAccess& file, const NpyHeader& header) {
  const int64_t left = file.size() - header.data_at;
  const int64_t n = header.shape.num_elements(), size = header.type.bytes;
  if (left / size == n && left % size == 0) return absl::OkStatus();
  // numpy.save may be called more than once for one file.
  if (left / size > n && left - n * size >= 6) {
    char next[6] = {};
    FIRN_RETURN_IF_ERROR(file.ReadAt(header.data_at + n * size, next, 6, "elements"));
    FIRN_RETURN_IF(std::memcmp(next, "\x93NUMPY", 6) == 0,
                   Unimplemented(file.name(), ": offset ", header.data_at + n * size,
                                 ", elements: expected one array, got another one behind it"));
  }
  return Damaged(file.name(), header.data_at, "elements",
                 absl::StrCat("expected ", n * size, " bytes for shape ", header.shape.ToString(),
                              ", got ", left));
}

absl::Status ReadElements(const RandomAccess& file, int64_t offset, const StoredType& type,
                          int64_t n, const std::string& field, char* out, uint32_t* crc) {
  FIRN_RETURN_IF_ERROR(ReadPieces(file, offset, out, n * type.bytes, field, crc));
  const absl::Status converted = ConvertStored(type, n, out);
  if (converted.ok()) return converted;
  FIRN_RETURN_IF(absl::IsUnimplemented(converted),
                 Unimplemented(file.name(), ": offset ", offset, ", ", field, ": ",
                               std::string(converted.message())));
  return Damaged(file.name(), offset, field, std::string(converted.message()));
}

absl::StatusOr<Tensor> ReadNpyArray(const RandomAccess& file, const NpyOptions& options,
                                    uint32_t* crc) {
  FIRN_ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(file, options));
  FIRN_RETURN_IF_ERROR(CheckDataBytes(file, header));
  FIRN_ASSIGN_OR_RETURN(Tensor array, NewArray(header.type.dtype, header.shape));
  char* data = array.impl()->data;
  FIRN_RETURN_IF_ERROR(ReadElements(file, header.data_at, header.type, header.shape.num_elements(),
                                    "elements", data, crc));
  if (crc != nullptr) {
    std::string before(static_cast<size_t>(header.data_at), '\0');
    FIRN_RETURN_IF_ERROR(file.ReadAt(0, before.data(), header.data_at, "header"));
    *crc = Crc32Combine(Crc32(0, before.data(), before.size()), *crc,
                        static_cast<size_t>(header.data_bytes()));
  }
  if (!header.fortran_order || header.shape.rank() < 2) return array;
  FIRN_ASSIGN_OR_RETURN(Tensor turned, NewArray(header.type.dtype, header.shape));
  FromFortran(header.shape, SizeOf(header.type.dtype), data, turned.impl()->data);
  return turned;
}

}  // namespace internal

namespace {

constexpr std::string_view kEnd = ".npy";

std::unique_ptr<RandomAccess> Memory(std::string_view bytes, const std::string& name) {
  return RandomAccess::FromMemory(
      name, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

// A member that is not deflated is read directly to where it is used. Bytes that are no array may
// be a damaged one; the checksum tells, so it is verified first.
absl::StatusOr<Tensor> ReadMember(const internal::ZipReader& zip, const internal::ZipMember& member,
                                  const std::string& label, const NpyOptions& options) {
  if (!member.deflated) {
    uint32_t crc = 0;
    const auto source = zip.Stored(member, label);
    absl::StatusOr<Tensor> array = internal::ReadNpyArray(*source, options, &crc);
    if (array.ok()) {
      FIRN_RETURN_IF_ERROR(zip.CheckCrc(member, crc));
      return array;
    }
  }
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, zip.Read(member));
  return internal::ReadNpyArray(*Memory(bytes, label), options);
}

absl::StatusOr<StateDict> ReadArrays(const RandomAccess& file, const NpyOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const internal::ZipReader zip,
                        internal::ZipReader::Open(file, options.limits));
  StateDict arrays;
  int64_t total = 0;
  for (const internal::ZipMember& member : zip.members()) {
    const std::string label = absl::StrCat(file.name(), "(", member.name, ")");
    FIRN_RETURN_IF(!std::string_view(member.name).ends_with(kEnd),
                   Unimplemented(label, ": expected a member whose name ends in .npy"));
    // A member's size is checked against the limits, and for deflate against what it can expand
    // to, before it is unpacked.
    FIRN_RETURN_IF(
        member.size > options.limits.max_total_bytes - total,
        ResourceExhausted(file.name(), ": more than the ", options.limits.max_total_bytes,
                          " bytes allowed (limits.max_total_bytes)"));
    total += member.size;
    FIRN_ASSIGN_OR_RETURN(Tensor array, ReadMember(zip, member, label, options));
    arrays.Insert(member.name.substr(0, member.name.size() - kEnd.size()), std::move(array));
  }
  return arrays;
}

absl::Status WriteArrays(const std::string& path, const StateDict& arrays,
                         const WriteNpzOptions& options) {
  FIRN_ASSIGN_OR_RETURN(inner::internal::AtomicFile out, inner::internal::AtomicFile::Create(path));
  internal::ZipWriter zip(&out);
  for (const auto& [name, tensor] : arrays) {
    absl::StatusOr<std::string> bytes = TryFormatNpy(tensor);
    FIRN_RETURN_IF(!bytes.ok(), absl::Status(bytes.status().code(),
                                             absl::StrCat(name, ": ", bytes.status().message())));
    FIRN_RETURN_IF_ERROR(zip.Add(absl::StrCat(name, ".npy"), *bytes, options.compress));
  }
  FIRN_RETURN_IF_ERROR(zip.Finish());
  return out.Commit();
}

}  // namespace

absl::StatusOr<std::string> TryFormatNpy(const Tensor& tensor) {
  FIRN_RETURN_IF(!tensor.defined(),
                 InvalidArgument("npy: expected a tensor, got an undefined one"));
  FIRN_RETURN_IF_ERROR(firn::inner::CheckHostRead(tensor));
  FIRN_ASSIGN_OR_RETURN(std::string out, internal::FormatNpyHeader(tensor.dtype(), tensor.shape()));
  const Tensor host = tensor.To(Device::Cpu());
  if (tensor.dtype() == DType::kBF16) {
    const std::vector<float> values = host.ToVector<float>();
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return out;
  }
  const Tensor dense = host.Contiguous();
  out.append(dense.impl()->data, static_cast<size_t>(dense.num_elements() * SizeOf(dense.dtype())));
  return out;
}

absl::StatusOr<Tensor> TryParseNpy(std::string_view bytes, const std::string& name,
                                   const NpyOptions& options) {
  return internal::ReadNpyArray(*Memory(bytes, name), options);
}

absl::StatusOr<StateDict> TryParseNpz(std::string_view bytes, const std::string& name,
                                      const NpyOptions& options) {
  return ReadArrays(*Memory(bytes, name), options);
}

Tensor ReadNpy(const std::string& path, const NpyOptions& options) {
  const auto file = ValueOrRaise(RandomAccess::Open(path), "read_npy");
  return ValueOrRaise(internal::ReadNpyArray(*file, options), "read_npy");
}

void WriteNpy(const std::string& path, const Tensor& tensor) {
  const std::string bytes = ValueOrRaise(TryFormatNpy(tensor), "write_npy");
  RaiseIfError(inner::internal::ReplaceFile(path, bytes), "write_npy");
}

StateDict ReadNpz(const std::string& path, const NpyOptions& options) {
  const auto file = ValueOrRaise(RandomAccess::Open(path), "read_npz");
  return ValueOrRaise(ReadArrays(*file, options), "read_npz");
}

void WriteNpz(const std::string& path, const StateDict& arrays, const WriteNpzOptions& options) {
  RaiseIfError(WriteArrays(path, arrays, options), "write_npz");
}

}  // namespace firn::io
