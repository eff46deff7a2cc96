#include "tensor/kernels/cpu/half.h"

#include "device/half_rows.h"

namespace firn::cpu {

void ToFloats(const Half* from, int64_t n, float* to) {
  inner::internal::FloatsOfHalfBits(reinterpret_cast<const uint16_t*>(from), n, to);
}
void ToFloats(const BFloat16* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

void FromFloats(const float* from, int64_t n, Half* to) {
  inner::internal::HalfBitsOfFloats(from, n, reinterpret_cast<uint16_t*>(to));
}
void FromFloats(const float* from, int64_t n, BFloat16* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}

void ToFloats(DType dtype, const void* from, int64_t n, float* to) {
  dtype == DType::kF16 ? ToFloats(static_cast<const Half*>(from), n, to)
                       : ToFloats(static_cast<const BFloat16*>(from), n, to);
}
void FromFloats(const float* from, int64_t n, DType dtype, void* to) {
  dtype == DType::kF16 ? FromFloats(from, n, static_cast<Half*>(to))
                       : FromFloats(from, n, static_cast<BFloat16*>(to));
}

}  // namespace firn::cpu
