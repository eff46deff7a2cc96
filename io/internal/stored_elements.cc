// Integers are widened from the last to the first, so that none is overwritten before it is read.
#include "firn/io/internal/stored_elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class From, class To>
void Widen(int64_t n, char* data) {
  for (int64_t i = n - 1; i >= 0; --i) {
    From narrow;
    std::memcpy(&narrow, data + i * static_cast<int64_t>(sizeof(From)), sizeof(From));
    const To wide = narrow;
    std::memcpy(data + i * static_cast<int64_t>(sizeof(To)), &wide, sizeof(To));
  }
}

absl::Status CheckBools(int64_t n, const char* data) {
  const char* bad = std::find_if(data, data + n, [](char c) { return c != 0 && c != 1; });
  if (bad == data + n) return absl::OkStatus();
  return InvalidArgument("element ", bad - data, " is ", static_cast<int>(*bad),
                         ", expected a bool, 0 or 1");
}

absl::Status CheckUnsigned(int64_t n, const char* data) {
  for (int64_t i = 0; i < n; ++i) {
    uint64_t value;
    std::memcpy(&value, data + i * 8, 8);
    FIRN_RETURN_IF(value >> 63 != 0,
                   Unimplemented("element ", i, " is ", value, ", beyond the largest i64"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertStored(const StoredType& type, int64_t n, char* data) {
  if (type.big_endian && type.bytes > 1) {
    for (int64_t i = 0; i < n; ++i) {
      std::reverse(data + i * type.bytes, data + (i + 1) * type.bytes);
    }
  }
  if (type.dtype == DType::kBool) return CheckBools(n, data);
  if (type.dtype == DType::kI32 && type.bytes == 2) {
    type.is_signed ? Widen<int16_t, int32_t>(n, data) : Widen<uint16_t, int32_t>(n, data);
  } else if (type.dtype == DType::kI64 && type.bytes == 4) {
    type.is_signed ? Widen<int32_t, int64_t>(n, data) : Widen<uint32_t, int64_t>(n, data);
  } else if (type.dtype == DType::kI64 && !type.is_signed) {
    return CheckUnsigned(n, data);
  }
  return absl::OkStatus();
}

}  // namespace firn::io::internal
