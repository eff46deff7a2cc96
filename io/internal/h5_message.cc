// The layouts of the messages, field by field, are in section IV.A.2 of the HDF5 File Format
// Specification.
#include "firn/io/internal/h5_message.h"

#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kMaxChunkBytes = int64_t{1} << 32;  // of the format itself

// Properties of a float: how many bits there are of what, and where.
struct FloatFormat {
  uint64_t exponent_at, exponent_bits, mantissa_bits, bias;
  DType dtype;
};
constexpr FloatFormat kFloatFormats[] = {
    {10, 5, 10, 15, DType::kF16},
    {7, 8, 7, 127, DType::kBF16},
    {23, 8, 23, 127, DType::kF32},
    {52, 11, 52, 1023, DType::kF64},
};

absl::StatusOr<StoredType> ParseFloat(const H5File& file, uint64_t bits, uint64_t size,
                                      H5Cursor c) {
  const uint64_t bit_offset = c.Uint(2), precision = c.Uint(2);
  const uint64_t exponent_at = c.Uint(1), exponent_bits = c.Uint(1);
  const uint64_t mantissa_at = c.Uint(1), mantissa_bits = c.Uint(1), bias = c.Uint(4);
  FIRN_RETURN_IF_ERROR(file.Check(c, "datatype"));
  const bool implied_one = (bits >> 4 & 3) == 2, vax = (bits >> 6 & 1) != 0;
  const uint64_t sign_at = bits >> 8 & 0xff;
  for (const FloatFormat& f : kFloatFormats) {
    if (static_cast<int64_t>(size) == SizeOf(f.dtype) && exponent_at == f.exponent_at &&
        exponent_bits == f.exponent_bits && mantissa_bits == f.mantissa_bits && bias == f.bias &&
        mantissa_at == 0 && bit_offset == 0 && precision == size * 8 && sign_at == size * 8 - 1 &&
        implied_one && !vax) {
      return StoredType{.dtype = f.dtype,
                        .bytes = static_cast<int>(size),
                        .big_endian = (bits & 1) != 0,
                        .is_signed = true};
    }
  }
  return file.Refused(absl::StrCat("a float type of ", size, " bytes, ", exponent_bits,
                                   " of exponent, ", mantissa_bits, " of mantissa"));
}

absl::StatusOr<StoredType> ParseInteger(const H5File& file, uint64_t bits, uint64_t size,
                                        H5Cursor c) {
  const uint64_t bit_offset = c.Uint(2), precision = c.Uint(2);
  FIRN_RETURN_IF_ERROR(file.Check(c, "datatype"));
  StoredType type{.dtype = DType::kI64,
                  .bytes = static_cast<int>(size),
                  .big_endian = (bits & 1) != 0,
                  .is_signed = (bits & 8) != 0};
  if (bit_offset != 0 || precision != size * 8) return file.Refused("an integer type with padding");
  switch (size) {
    case 1:
      type.dtype = type.is_signed ? DType::kI8 : DType::kU8;
      return type;
    case 2:
      type.dtype = DType::kI32;
      return type;
    case 4:
      type.dtype = type.is_signed ? DType::kI32 : DType::kI64;
      return type;
    case 8:
      return type;
    default:
      return file.Refused(absl::StrCat("an integer type of ", size, " bytes"));
  }
}

// The base type's first eight bytes of a datatype: class, version, bits, size.
struct TypeHead {
  uint64_t kind, version, bits, size;
};
TypeHead ReadHead(H5Cursor* c) {
  const uint64_t first = c->Uint(1);
  const uint64_t bits = c->Uint(3);
  return {first & 15, first >> 4, bits, c->Uint(4)};
}

// h5py's bool: {FALSE = 0, TRUE = 1} over one byte. Names are padded to eight bytes before
// version 3.
absl::StatusOr<StoredType> ParseEnum(const H5File& file, const TypeHead& head, H5Cursor c) {
  const TypeHead base = ReadHead(&c);
  c.Skip(4);  // the properties of the integer
  bool is_bool = base.kind == 0 && base.size == 1 && head.size == 1 && (head.bits & 0xffff) == 2;
  for (const std::string_view expected : {"FALSE", "TRUE"}) {
    is_bool = is_bool && c.Text() == expected;
    if (head.version < 3) c.Skip(8 - expected.size() - 1);
  }
  is_bool = is_bool && c.Uint(1) == 0 && c.Uint(1) == 1;
  if (!is_bool || !c.ok()) return file.Refused("an enumeration other than FALSE, TRUE");
  return StoredType{.dtype = DType::kBool, .bytes = 1, .big_endian = false, .is_signed = true};
}

const char* ClassName(uint64_t kind) {
  constexpr const char* kNames[] = {"integer",   "float",           "time",     "string",
                                    "bit field", "opaque",          "compound", "reference",
                                    "enum",      "variable-length", "array"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

}  // namespace

absl::StatusOr<Shape> ParseH5Shape(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), rank = c.Uint(1);
  c.Skip(1);
  const uint64_t kind = c.Uint(1);
  if (version == 1) c.Skip(4);
  if (version != 1 && version != 2) {
    return file.DamagedAt(offset, "dataspace", absl::StrCat("version ", version));
  }
  if (version == 2 && kind > 1) return file.Refused("a dataspace without elements");
  if (rank > kMaxRank) {
    return file.DamagedAt(offset, "dataspace",
                          absl::StrCat("expected at most ", kMaxRank, " dimensions, got ", rank));
  }
  Dims sizes;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t size = c.Uint(8);
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return file.DamagedAt(offset, "dataspace", absl::StrCat("a dimension of ", size));
    }
    sizes.push_back(static_cast<int64_t>(size));
  }
  FIRN_RETURN_IF_ERROR(file.Check(c, "dataspace"));
  absl::StatusOr<Shape> shape = Shape::Make(sizes.span());
  if (!shape.ok()) {
    return file.DamagedAt(offset, "dataspace", std::string(shape.status().message()));
  }
  return shape;
}

absl::StatusOr<StoredType> ParseH5Type(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const TypeHead head = ReadHead(&c);
  FIRN_RETURN_IF_ERROR(file.Check(c, "datatype"));
  if (head.version < 1 || head.version > 5) {
    return file.DamagedAt(offset, "datatype", absl::StrCat("version ", head.version));
  }
  switch (head.kind) {
    case 0:
      return ParseInteger(file, head.bits, head.size, c);
    case 1:
      return ParseFloat(file, head.bits, head.size, c);
    case 8:
      return ParseEnum(file, head, c);
    default:
      return file.Refused(absl::StrCat("elements of class ", ClassName(head.kind)));
  }
}

absl::StatusOr<H5Layout> ParseH5Layout(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), kind = c.Uint(1);
  if (version != 3 && version != 4) {
    return file.Refused(absl::StrCat("data layout of version ", version));
  }
  H5Layout layout;
  layout.kind = static_cast<H5Layout::Kind>(kind);
  if (kind == H5Layout::kCompact) {
    layout.inside = std::string(c.Bytes(c.Uint(2)));
  } else if (kind == H5Layout::kContiguous) {
    layout.address = c.Uint(8);
    layout.bytes = c.Uint(8);
  } else if (kind == H5Layout::kChunked && version == 3) {
    const uint64_t rank = c.Uint(1);
    layout.address = c.Uint(8);
    if (rank < 2 || rank > kMaxRank + 1) {
      return file.DamagedAt(offset, "chunks", absl::StrCat("of ", rank, " dimensions"));
    }
    for (uint64_t i = 0; i < rank; ++i) layout.chunk.push_back(c.Uint(4));
    int64_t bytes = 1;  // the last size is that of an element
    for (const uint64_t size : layout.chunk) {
      if (size == 0 || __builtin_mul_overflow(bytes, static_cast<int64_t>(size), &bytes) ||
          bytes > kMaxChunkBytes) {
        return file.DamagedAt(offset, "chunks", "impossible sizes");
      }
    }
  } else if (kind == H5Layout::kChunked) {
    return file.Refused("chunks of version 4 (write with libver 'earliest')");
  } else {
    return file.Refused(kind == 3 ? "a virtual dataset" : absl::StrCat("layout class ", kind));
  }
  FIRN_RETURN_IF_ERROR(file.Check(c, "layout"));
  return layout;
}

absl::StatusOr<H5Filters> ParseH5Filters(const H5File& file, H5Cursor c) {
  constexpr uint64_t kDeflate = 1, kShuffle = 2;
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), n = c.Uint(1);
  if (version != 1 && version != 2) {
    return file.DamagedAt(offset, "filters", absl::StrCat("version ", version));
  }
  if (version == 1) c.Skip(6);
  H5Filters filters;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t id = c.Uint(2);
    const uint64_t name_bytes = version == 1 || id >= 256 ? c.Uint(2) : 0;
    c.Skip(2);
    const uint64_t values = c.Uint(2);
    c.Skip(version == 1 ? (name_bytes + 7) / 8 * 8 : name_bytes);
    c.Skip(values * 4 + (version == 1 && values % 2 == 1 ? 4 : 0));
    FIRN_RETURN_IF_ERROR(file.Check(c, "filters"));
    if (id == kShuffle && !filters.shuffle && !filters.deflate) {
      filters.shuffle = true;
    } else if (id == kDeflate && !filters.deflate) {
      filters.deflate = true;
    } else {
      return file.Refused(absl::StrCat("filter ", id, " (only shuffle, then deflate)"));
    }
  }
  return filters;
}

absl::StatusOr<std::optional<int64_t>> FindH5Attribute(const H5File& file, const H5Object& object,
                                                       std::string_view wanted) {
  for (const H5Message& m : object.messages) {
    if (m.type != H5Message::kAttribute) continue;
    H5Cursor c = m.cursor();
    const uint64_t version = c.Uint(1);
    if (version < 1 || version > 3) {
      return file.DamagedAt(m.offset, "attribute", absl::StrCat("version ", version));
    }
    c.Skip(1);
    const uint64_t name_bytes = c.Uint(2), type_bytes = c.Uint(2), space_bytes = c.Uint(2);
    if (version == 3) c.Skip(1);
    const auto padded = [&](uint64_t n) { return version == 1 ? (n + 7) / 8 * 8 : n; };
    std::string_view name = c.Bytes(padded(name_bytes));
    name = name.substr(0, name.find('\0'));
    if (name != wanted) continue;
    const uint64_t type_at = c.offset();
    const std::string_view type_text = c.Bytes(padded(type_bytes));
    const uint64_t space_at = c.offset();
    const std::string_view space_text = c.Bytes(padded(space_bytes));
    FIRN_RETURN_IF_ERROR(file.Check(c, "attribute"));
    FIRN_ASSIGN_OR_RETURN(const StoredType type, ParseH5Type(file, H5Cursor(type_text, type_at)));
    FIRN_ASSIGN_OR_RETURN(const Shape shape, ParseH5Shape(file, H5Cursor(space_text, space_at)));
    if (IsFloating(type.dtype) || shape.num_elements() != 1) {
      return file.DamagedAt(
          m.offset, "attribute",
          absl::StrCat("expected one integer, got ", DTypeName(type.dtype), " ", shape.ToString()));
    }
    const std::string_view stored = c.Bytes(static_cast<size_t>(type.bytes));
    FIRN_RETURN_IF_ERROR(file.Check(c, "attribute"));
    char data[8] = {};
    std::memcpy(data, stored.data(), stored.size());
    const absl::Status converted = ConvertStored(type, 1, data);
    if (!converted.ok()) {
      return file.DamagedAt(m.offset, "attribute", std::string(converted.message()));
    }
    return VisitDType(type.dtype, [&]<class T>(TypeTag<T>) -> std::optional<int64_t> {
      T value;
      std::memcpy(&value, data, sizeof(T));
      return static_cast<int64_t>(value);
    });
  }
  return std::nullopt;
}

}  // namespace firn::io::internal
