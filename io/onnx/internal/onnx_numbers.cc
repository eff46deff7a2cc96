// Typed fields hold wider numbers than most elements are: an int8 is an integer of up to ten bytes.
#include "firn/io/onnx/internal/onnx_numbers.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/wire/internal/wire.h"

namespace firn::io::internal {
namespace {

constexpr int kFloatData = 4, kInt32Data = 5, kInt64Data = 7, kDoubleData = 10, kUint64Data = 11;

struct Field {
  const char* name;
  WireType type;
};

Field FieldOf(int number) {
  switch (number) {
    case kFloatData:
      return {"float_data", WireType::kFixed32};
    case kInt32Data:
      return {"int32_data", WireType::kVarint};
    case kInt64Data:
      return {"int64_data", WireType::kVarint};
    case kDoubleData:
      return {"double_data", WireType::kFixed64};
    case kUint64Data:
      return {"uint64_data", WireType::kVarint};
  }
  return {"", WireType::kBytes};
}

bool IsSigned(const OnnxElement& element) {
  return element.id == 3 || element.id == 5 || element.id == 6;
}

// The numbers that a field may hold for an element: the bits of one, or a byte that several share.
std::pair<int64_t, int64_t> Range(const OnnxElement& element) {
  if (element.id == 9) return {0, 1};
  const int bits = element.bits == 2 || element.bits == 4 ? 8 : element.bits;
  if (IsSigned(element)) return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

// Numbers of `bits` each, the lowest first, as one stream of bits.
class Bits {
 public:
  explicit Bits(char* out) : out_(out) {}

  void Add(uint64_t value, int bits) {
    word_ |= value << held_;
    for (held_ += bits; held_ >= 8; held_ -= 8, word_ >>= 8) *out_++ = static_cast<char>(word_);
  }
  void Flush() {
    if (held_ > 0) *out_ = static_cast<char>(word_);
  }

 private:
  char* out_;
  uint64_t word_ = 0;
  int held_ = 0;
};

}  // namespace

absl::Status CopyOnnxNumbers(const OnnxTensor& tensor, const OnnxElement& element, char* out) {
  const Field stored = FieldOf(element.field);
  // Whole numbers are stored as they are; for 32 bits and less their range is checked.
  const bool whole = stored.type != WireType::kVarint || element.bits == 64;
  const size_t bytes = stored.type == WireType::kFixed32 ? 4 : 8;
  const std::pair<int64_t, int64_t> range = whole ? std::pair<int64_t, int64_t>() : Range(element);
  const int bits = element.bits < 6 ? 8 : element.bits;
  Bits packed(out);
  int64_t i = 0;
  const auto take = [&](uint64_t value) -> absl::Status {
    if (whole) {
      std::memcpy(out, &value, bytes);
      out += bytes;
      return absl::OkStatus();
    }
    const auto number = static_cast<int64_t>(value);
    FIRN_RETURN_IF(number < range.first || number > range.second,
                   DataLoss(stored.name, "[", i, "]: expected a number of ", range.first, " to ",
                            range.second, " for type ", element.word, ", got ", number));
    ++i;
    packed.Add(value & ((uint64_t{1} << bits) - 1), bits);
    return absl::OkStatus();
  };
  WireReader reader(tensor.bytes);
  while (!reader.AtEnd()) {
    FIRN_ASSIGN_OR_RETURN(const WireField field, reader.Next());
    if (field.number != element.field) continue;
    FIRN_RETURN_IF_ERROR(ForEachNumber(field, stored.type, take));
  }
  packed.Flush();
  return absl::OkStatus();
}

// From the last to the first: a byte becomes two.
absl::Status UnpackOnnx4(int64_t n, bool is_signed, char* data) {
  if (n % 2 != 0) {
    const int last = static_cast<unsigned char>(data[n / 2]);
    FIRN_RETURN_IF(last > 15, DataLoss("expected zero bits behind the last element, got ", last));
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    const int byte = static_cast<unsigned char>(data[i / 2]);
    const int value = i % 2 == 0 ? byte & 15 : byte >> 4;
    data[i] = static_cast<char>(is_signed && value > 7 ? value - 16 : value);
  }
  return absl::OkStatus();
}

}  // namespace firn::io::internal
