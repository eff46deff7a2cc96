#include "firn/io/wire/internal/wire.h"

#include <bit>

#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"

namespace firn::io::internal {
namespace {

uint64_t Tag(int field, WireType type) {
  return static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type);
}

// Bytes that a length takes at most: messages are smaller than 2 GiB. A tag has 32 bits, too.
constexpr int kMostLength = 5;

}  // namespace

void WireWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void WireWriter::Fixed(uint64_t value, int bytes) {
  AppendLittleEndian(&bytes_, value, static_cast<size_t>(bytes));
}

WireWriter& WireWriter::Integer(int field, int64_t value) {
  Varint(Tag(field, WireType::kVarint));
  Varint(static_cast<uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::Float(int field, float value) {
  Varint(Tag(field, WireType::kFixed32));
  Fixed(std::bit_cast<uint32_t>(value), 4);
  return *this;
}

WireWriter& WireWriter::Double(int field, double value) {
  Varint(Tag(field, WireType::kFixed64));
  Fixed(std::bit_cast<uint64_t>(value), 8);
  return *this;
}

WireWriter& WireWriter::Bytes(int field, std::string_view value) {
  Varint(Tag(field, WireType::kBytes));
  Varint(value.size());
  bytes_ += value;
  return *this;
}

WireWriter& WireWriter::PackedDoubles(int field, const std::vector<double>& values) {
  Varint(Tag(field, WireType::kBytes));
  Varint(values.size() * 8);
  for (double value : values) Fixed(std::bit_cast<uint64_t>(value), 8);
  return *this;
}

size_t WireWriter::Begin(int field) {
  Varint(Tag(field, WireType::kBytes));
  bytes_.append(size_t{kMostLength}, '\0');
  return bytes_.size();
}

// The message moves to behind its length, whose size is known only now.
void WireWriter::End(size_t begun) {
  WireWriter length;
  length.Varint(bytes_.size() - begun);
  bytes_.replace(begun - size_t{kMostLength}, size_t{kMostLength}, length.bytes_);
}

float WireField::AsFloat() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
double WireField::AsDouble() const { return std::bit_cast<double>(value); }

absl::Status WireReader::Varint(uint64_t* value, int most_bytes) {
  *value = 0;
  const size_t begin = at_;
  for (int i = 0; i < most_bytes; ++i) {
    FIRN_RETURN_IF(AtEnd(),
                   DataLoss("offset ", base_ + begin, ": expected an integer, got the end"));
    const auto byte = static_cast<unsigned char>(message_[at_++]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << 7 * i;
    if (byte < 0x80) return absl::OkStatus();
  }
  return DataLoss("offset ", base_ + begin, ": expected an integer, got one of more than ",
                  most_bytes == 10 ? "ten" : "five", " bytes");
}

absl::Status WireReader::Fixed(int bytes, uint64_t* value) {
  const auto n = static_cast<size_t>(bytes);
  FIRN_RETURN_IF(message_.size() - at_ < n, DataLoss("offset ", base_ + at_, ": expected ", n,
                                                     " bytes, got ", message_.size() - at_));
  *value = LittleEndian(message_.substr(at_, n));
  at_ += n;
  return absl::OkStatus();
}

absl::StatusOr<WireField> WireReader::Next() {
  uint64_t tag = 0;
  const size_t begin = at_;
  FIRN_RETURN_IF_ERROR(Varint(&tag, kMostLength));
  FIRN_RETURN_IF(tag >> 3 == 0 || tag >> 3 > 0x1fffffff,
                 DataLoss("offset ", base_ + begin, ": expected a field's number, got ", tag >> 3));
  WireField field;
  field.number = static_cast<int>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  field.offset = base_ + at_;
  switch (field.type) {
    case WireType::kVarint:
      FIRN_RETURN_IF_ERROR(Varint(&field.value));
      return field;
    case WireType::kFixed64:
      FIRN_RETURN_IF_ERROR(Fixed(8, &field.value));
      return field;
    case WireType::kFixed32:
      FIRN_RETURN_IF_ERROR(Fixed(4, &field.value));
      return field;
    case WireType::kBytes: {
      uint64_t size = 0;
      FIRN_RETURN_IF_ERROR(Varint(&size, kMostLength));
      FIRN_RETURN_IF(size > message_.size() - at_,
                     DataLoss("offset ", base_ + at_, ", field ", field.number, ": expected ", size,
                              " bytes, got ", message_.size() - at_));
      field.offset = base_ + at_;
      field.bytes = message_.substr(at_, static_cast<size_t>(size));
      at_ += static_cast<size_t>(size);
      return field;
    }
  }
  return DataLoss("offset ", base_ + begin, ", field ", field.number,
                  ": expected a type of 0, 1, 2 or 5,", " got ", tag & 7);
}

absl::Status ForEachNumber(const WireField& field, WireType type,
                           absl::FunctionRef<absl::Status(uint64_t)> take) {
  if (field.type == type) return take(field.value);
  const size_t bytes = type == WireType::kFixed32 ? 4 : 8;
  FIRN_RETURN_IF(
      field.type != WireType::kBytes,
      DataLoss("offset ", field.offset, ", field ", field.number, ": expected numbers of type ",
               static_cast<int>(type), ", got one of ", static_cast<int>(field.type)));
  if (type == WireType::kVarint) {
    WireReader reader(field.bytes, field.offset);
    while (!reader.AtEnd()) {
      uint64_t value = 0;
      FIRN_RETURN_IF_ERROR(reader.Varint(&value));
      FIRN_RETURN_IF_ERROR(take(value));
    }
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(
      field.bytes.size() % bytes != 0,
      DataLoss("offset ", field.offset, ", field ", field.number, ": expected numbers of ", bytes,
               " bytes, got ", field.bytes.size(), " bytes"));
  for (size_t at = 0; at < field.bytes.size(); at += bytes) {
    FIRN_RETURN_IF_ERROR(take(LittleEndian(field.bytes.substr(at, bytes))));
  }
  return absl::OkStatus();
}

absl::Status AppendDoubles(const WireField& field, std::vector<double>* out) {
  return ForEachNumber(field, WireType::kFixed64, [out](uint64_t bits) {
    out->push_back(std::bit_cast<double>(bits));
    return absl::OkStatus();
  });
}

}  // namespace firn::io::internal
