#include "firn/io/safetensors/internal/safetensors_elements.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace firn::io::internal {
namespace {

struct Known {
  const char* word;
  StoredType type;
  bool wider = false;
};

constexpr Known kKnown[] = {
    {"F32", {DType::kF32, 4}},
    {"F64", {DType::kF64, 8}},
    {"F16", {DType::kF16, 2}},
    {"BF16", {DType::kBF16, 2}},
    {"I8", {DType::kI8, 1}},
    {"I32", {DType::kI32, 4}},
    {"I64", {DType::kI64, 8}},
    {"U8", {DType::kU8, 1, false, false}},
    {"BOOL", {DType::kBool, 1}},
    {"I16", {DType::kI32, 2}, true},
    {"U16", {DType::kI32, 2, false, false}, true},
    {"U32", {DType::kI64, 4, false, false}, true},
    {"U64", {DType::kI64, 8, false, false}, true},
};

// Bits of a sign, an exponent and a fraction.
struct Float8 {
  const char* word;
  int fraction;  // bits of it
  int bias;
  bool is_signed;
  // Which codes are NaN: those with the greatest exponent, except the infinities with a fraction of
  // zero (E5M2); only the greatest code (E4M3, E8M0); or only the code of minus zero (FNUZ).
  enum { kIeee, kGreatest, kMinusZero } special;
};

constexpr Float8 kFloat8[] = {
    {"F8_E4M3", 3, 7, true, Float8::kGreatest},
    {"F8_E5M2", 2, 15, true, Float8::kIeee},
    {"F8_E8M0", 0, 127, false, Float8::kGreatest},
    {"F8_E4M3FNUZ", 3, 8, true, Float8::kMinusZero},
    {"F8_E5M2FNUZ", 2, 16, true, Float8::kMinusZero},
};

float ValueOf(const Float8& type, int code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (!type.is_signed) return code == 255 ? kNan : std::ldexp(1.0f, code - type.bias);
  if (type.special == Float8::kMinusZero && code == 128) return kNan;
  const int magnitude = code & 127, fraction = magnitude & ((1 << type.fraction) - 1);
  const int exponent = magnitude >> type.fraction;
  const float sign = code < 128 ? 1.0f : -1.0f;
  if (type.special == Float8::kGreatest && magnitude == 127) return sign * kNan;
  if (type.special == Float8::kIeee && exponent == (127 >> type.fraction)) {
    return sign * (fraction == 0 ? std::numeric_limits<float>::infinity() : kNan);
  }
  const int hidden = exponent == 0 ? 0 : 1 << type.fraction;
  return sign * std::ldexp(static_cast<float>(hidden + fraction),
                           (exponent == 0 ? 1 : exponent) - type.bias - type.fraction);
}

const Float8* FindFloat8(std::string_view word) {
  for (const Float8& type : kFloat8) {
    if (type.word == word) return &type;
  }
  return nullptr;
}

}  // namespace

std::optional<StoredType> StoredTypeOf(std::string_view word, bool widen) {
  if (widen && IsFloat8(word)) return StoredType{DType::kF32, 1};
  for (const Known& known : kKnown) {
    if (known.word == word && (widen || !known.wider)) return known.type;
  }
  return std::nullopt;
}

const char* SafetensorsWord(DType dtype) {
  for (const Known& known : kKnown) {
    if (known.type.dtype == dtype && !known.wider) return known.word;
  }
  return nullptr;
}

bool IsFloat8(std::string_view word) { return FindFloat8(word) != nullptr; }

void WidenFloat8(std::string_view word, int64_t n, char* data) {
  std::array<float, 256> values;
  for (int code = 0; code < 256; ++code) {
    values[static_cast<size_t>(code)] = ValueOf(*FindFloat8(word), code);
  }
  // From the last to the first, so that no code is overwritten before it is read.
  for (int64_t i = n - 1; i >= 0; --i) {
    const float value = values[static_cast<unsigned char>(data[i])];
    std::memcpy(data + i * 4, &value, 4);
  }
}

}  // namespace firn::io::internal
