#include "tensor/kernels/cpu/half.h"

namespace firn::cpu {

void ToFloats(const Half* from, int64_t n, float* to) { FloatsOfBlock(from, n, to); }
void ToFloats(const BFloat16* from, int64_t n, float* to) { FloatsOfBlock(from, n, to); }

void FromFloats(const float* from, int64_t n, Half* to) { BlockOfFloats(from, n, to); }
void FromFloats(const float* from, int64_t n, BFloat16* to) { BlockOfFloats(from, n, to); }

void ToFloats(DType dtype, const void* from, int64_t n, float* to) {
  dtype == DType::kF16 ? ToFloats(static_cast<const Half*>(from), n, to)
                       : ToFloats(static_cast<const BFloat16*>(from), n, to);
}
void FromFloats(const float* from, int64_t n, DType dtype, void* to) {
  dtype == DType::kF16 ? FromFloats(from, n, static_cast<Half*>(to))
                       : FromFloats(from, n, static_cast<BFloat16*>(to));
}

}  // namespace firn::cpu
