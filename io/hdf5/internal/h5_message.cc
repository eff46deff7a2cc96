// The layouts of the messages, field by field, are in section IV.A.2 of the HDF5 File Format
// Specification.
#include "firn/io/hdf5/internal/h5_message.h"

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

constexpr uint64_t kLastClass = 11;
const char* ClassName(uint64_t kind) {
  constexpr const char* kNames[] = {"integer",   "float",           "time",     "string",
                                    "bit field", "opaque",          "compound", "reference",
                                    "enum",      "variable-length", "array",    "complex"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

// Strings of one length, or of any.
bool IsWords(const TypeHead& head) {
  return head.kind == 3 || (head.kind == 9 && (head.bits & 15) == 1);
}

}  // namespace

absl::StatusOr<H5Space> ParseH5Space(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), rank = c.Uint(1), flags = c.Uint(1), kind = c.Uint(1);
  if (version == 1) c.Skip(4);
  if (version != 1 && version != 2) {
    return file.DamagedAt(offset, "dataspace", absl::StrCat("version ", version));
  }
  if (version == 2 && kind == 2) return file.Refused("a dataspace without elements");
  if (version == 2 && kind > 2) {
    return file.DamagedAt(offset, "dataspace", absl::StrCat("kind ", kind));
  }
  constexpr uint64_t kMaxRankOfHdf5 = 32;
  if (rank > kMaxRankOfHdf5) {
    return file.DamagedAt(offset, "dataspace", absl::StrCat(rank, " dimensions"));
  }
  if (rank > kMaxRank) {
    return file.Refused(absl::StrCat("expected at most ", kMaxRank, " dimensions, got ", rank));
  }
  Dims sizes;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t size = c.Uint(8);
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return file.DamagedAt(offset, "dataspace", absl::StrCat("a dimension of ", size));
    }
    sizes.push_back(static_cast<int64_t>(size));
  }
  H5Space space;
  for (uint64_t i = 0; i < rank; ++i) {
    const int64_t now = sizes.span()[i];
    const int64_t most = (flags & 1) != 0 ? static_cast<int64_t>(c.Uint(8)) : now;
    FIRN_RETURN_IF_ERROR(file.Check(c, "dataspace"));
    if (most < now && most != -1) {
      return file.DamagedAt(offset, "dataspace", "a dimension is larger than it may be");
    }
    space.most.push_back(most);
  }
  FIRN_RETURN_IF_ERROR(file.Check(c, "dataspace"));
  absl::StatusOr<Shape> shape = Shape::Make(sizes.span());
  if (!shape.ok()) {
    return file.DamagedAt(offset, "dataspace", std::string(shape.status().message()));
  }
  space.shape = *shape;
  return space;
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
      if (head.kind > kLastClass) {
        return file.DamagedAt(offset, "datatype", absl::StrCat("class ", head.kind));
      }
      return file.Refused(absl::StrCat("elements of class ", ClassName(head.kind),
                                       IsWords(head) ? ", which LoadHdf5Words reads" : ""));
  }
}

absl::StatusOr<H5WordType> ParseH5WordType(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const TypeHead head = ReadHead(&c);
  FIRN_RETURN_IF_ERROR(file.Check(c, "datatype"));
  constexpr uint64_t kString = 3, kVariableLength = 9, kMostBytes = 1 << 24;
  const bool in_heap = head.kind == kVariableLength;
  if (!in_heap && head.kind != kString) {
    return file.Refused(
        absl::StrCat("expected strings, got elements of class ", ClassName(head.kind)));
  }
  if (in_heap && (head.bits & 15) != 1) return file.Refused("lists of variable length");
  const uint64_t padding = in_heap ? head.bits >> 4 & 15 : head.bits & 15;
  if (head.size == 0 || padding > 2 || (in_heap && head.size != 16)) {
    return file.DamagedAt(offset, "datatype", "impossible strings");
  }
  if (head.size > kMostBytes) {
    return ResourceExhausted(file.name(), ": strings of ", head.size, " bytes (want at most ",
                             kMostBytes, ")");
  }
  return H5WordType{.bytes = static_cast<int>(head.size),
                    .in_heap = in_heap,
                    .padding = static_cast<H5WordType::Padding>(padding)};
}

namespace {

// Version 4, and 5, with which indices have wider sizes: flags, the number of sizes and of bytes
// that each has, the sizes, the kind of index and its parameters, most of which its own header
// repeats; the address.
absl::Status ParseChunks4(const H5File& file, H5Cursor* c, H5Layout* layout) {
  const uint64_t offset = c->offset();
  const uint64_t flags = c->Uint(1), rank = c->Uint(1), size_bytes = c->Uint(1);
  if (rank < 2 || rank > kMaxRank + 1 || size_bytes < 1 || size_bytes > 8 || flags > 3) {
    return file.DamagedAt(offset, "chunks", absl::StrCat("of ", rank, " dimensions"));
  }
  for (uint64_t i = 0; i < rank; ++i) layout->chunk.push_back(c->Uint(size_bytes));
  const uint64_t index = c->Uint(1);
  layout->plain_border = (flags & 1) != 0;
  layout->index = static_cast<H5Layout::Index>(index);
  switch (index) {
    case H5Layout::kSingle:
      layout->filtered = (flags & 2) != 0;
      if (layout->filtered) {
        layout->stored_bytes = c->Uint(8);
        layout->skipped_filters = c->Uint(4);
      }
      break;
    case H5Layout::kImplicit:
      break;
    case H5Layout::kFixedArray:
      c->Skip(1);
      break;
    case H5Layout::kExtensibleArray:
      c->Skip(5);
      break;
    case H5Layout::kTree2:
      c->Skip(6);
      break;
    default:
      return file.DamagedAt(offset, "chunks", absl::StrCat("an index of kind ", index));
  }
  layout->address = c->Uint(8);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<H5Layout> ParseH5Layout(const H5File& file, H5Cursor c) {
  const uint64_t offset = c.offset();
  const uint64_t version = c.Uint(1), kind = c.Uint(1);
  FIRN_RETURN_IF_ERROR(file.Check(c, "layout"));
  if (version < 3 || version > 5) {
    return file.Refused(absl::StrCat("data layout of version ", version));
  }
  H5Layout layout;
  layout.kind = static_cast<H5Layout::Kind>(kind);
  layout.chunk.reserve(kind == H5Layout::kChunked ? kMaxRank + 1 : 0);
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
  } else if (kind == H5Layout::kChunked) {
    FIRN_RETURN_IF_ERROR(ParseChunks4(file, &c, &layout));
  } else if (kind == 3) {
    return file.Refused("a virtual dataset");
  } else {
    return file.DamagedAt(offset, "layout", absl::StrCat("class ", kind));
  }
  FIRN_RETURN_IF_ERROR(file.Check(c, "layout"));
  int64_t bytes = 1;
  for (const uint64_t size : layout.chunk) {
    if (size == 0 || size > kMaxChunkBytes ||
        __builtin_mul_overflow(bytes, static_cast<int64_t>(size), &bytes) ||
        bytes > kMaxChunkBytes) {
      return file.DamagedAt(offset, "chunks", "impossible sizes");
    }
  }
  return layout;
}

// Old message: size 4, value. Versions 1 and 2: version, when room is made, when it is filled,
// whether there is a value, and if so size and value. Version 3: version, flags (4 and 5: there is
// none; size and value follow). A size of 0 stands for zeros, and in the old message for no value.
absl::StatusOr<H5Fill> ParseH5Fill(const H5File& file, const H5Object& dataset, int bytes) {
  constexpr uint64_t kNever = 1;  // to fill room with the value
  H5Fill fill;
  const H5Message* m = dataset.Find(H5Message::kFill);
  const H5Message* old = dataset.Find(H5Message::kOldFill);
  if (m == nullptr && old == nullptr) return fill;
  H5Cursor c = (m != nullptr ? m : old)->cursor();
  const uint64_t offset = c.offset();
  bool has_value = true, never = false;
  if (m != nullptr) {
    const uint64_t version = c.Uint(1);
    if (version == 3) {
      const uint64_t flags = c.Uint(1);
      never = (flags >> 2 & 3) == kNever;
      fill.defined = (flags >> 4 & 1) == 0;
      has_value = (flags >> 5 & 1) != 0;
    } else if (version == 1 || version == 2) {
      c.Skip(1);
      never = c.Uint(1) == kNever;
      has_value = fill.defined = c.Uint(1) != 0;
    } else {
      return file.DamagedAt(offset, "fill value", absl::StrCat("version ", version));
    }
  }
  if (has_value) {
    const auto size = static_cast<int32_t>(c.Uint(4));
    if (size > 0) fill.value = std::string(c.Bytes(static_cast<size_t>(size)));
    fill.defined = size > 0 || (size == 0 && m != nullptr);
  }
  FIRN_RETURN_IF_ERROR(file.Check(c, "fill value"));
  if (!fill.value.empty() && fill.value.size() != static_cast<size_t>(bytes)) {
    return file.DamagedAt(offset, "fill value",
                          absl::StrCat("expected ", bytes, " bytes, got ", fill.value.size()));
  }
  // With "never fill" unwritten elements have no defined value; h5py gives zeros.
  if (never) return H5Fill{};
  return fill;
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
    const bool elsewhere = c.Uint(1) != 0 && version > 1;
    const uint64_t name_bytes = c.Uint(2), type_bytes = c.Uint(2), space_bytes = c.Uint(2);
    if (version == 3) c.Skip(1);
    const auto padded = [&](uint64_t n) { return version == 1 ? (n + 7) / 8 * 8 : n; };
    std::string_view name = c.Bytes(padded(name_bytes));
    name = name.substr(0, name.find('\0'));
    if (name != wanted) continue;
    if (elsewhere)
      return file.Refused(absl::StrCat("attribute ", std::string(wanted), " of a committed type"));
    const uint64_t type_at = c.offset();
    const std::string_view type_text = c.Bytes(padded(type_bytes));
    const uint64_t space_at = c.offset();
    const std::string_view space_text = c.Bytes(padded(space_bytes));
    FIRN_RETURN_IF_ERROR(file.Check(c, "attribute"));
    FIRN_ASSIGN_OR_RETURN(const StoredType type, ParseH5Type(file, H5Cursor(type_text, type_at)));
    FIRN_ASSIGN_OR_RETURN(const H5Space space, ParseH5Space(file, H5Cursor(space_text, space_at)));
    if (IsFloating(type.dtype) || space.shape.num_elements() != 1) {
      return file.Refused(absl::StrCat("attribute ", std::string(wanted),
                                       ": expected one integer, got ", DTypeName(type.dtype), " ",
                                       space.shape.ToString()));
    }
    const std::string_view stored = c.Bytes(static_cast<size_t>(type.bytes));
    FIRN_RETURN_IF_ERROR(file.Check(c, "attribute"));
    char data[8] = {};
    std::memcpy(data, stored.data(), stored.size());
    const absl::Status converted = ConvertStored(type, 1, data);
    if (!converted.ok()) return file.Unconverted(m.offset, "attribute", converted);
    return VisitDType(type.dtype, [&]<class T>(TypeTag<T>) -> std::optional<int64_t> {
      T value;
      std::memcpy(&value, data, sizeof(T));
      return static_cast<int64_t>(value);
    });
  }
  return std::nullopt;
}

}  // namespace firn::io::internal
