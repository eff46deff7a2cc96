// Conversions of rows, compiled here for all kernels.

#include "tensor/kernels/cpu/rows.h"

#include "tensor/kernels/cpu/half.h"

namespace firn::cpu::internal {

void LoadHalves(DType from, const void* in, int64_t n, float* to) {
  from == DType::kF16 ? ToFloats(static_cast<const Half*>(in), n, to)
                      : ToFloats(static_cast<const BFloat16*>(in), n, to);
}

void StoreHalves(const float* from, int64_t n, DType to, void* out) {
  to == DType::kF16 ? FromFloats(from, n, static_cast<Half*>(out))
                    : FromFloats(from, n, static_cast<BFloat16*>(out));
}

}  // namespace firn::cpu::internal
