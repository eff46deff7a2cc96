// oneDNN's function for f32 reads 16 columns of B at a time from top to bottom, unless C has so
// many rows that it packs B first. If rows of B are an odd number of cache lines apart, these
// columns lie in all 64 sets of the first-level cache; 3 or 9 KiB apart they lie in 4 of them, and
// 12 KiB apart in one. The product itself copies B only where lines are a multiple of 2 KiB apart,
// since it does so each time; here a matrix is copied once.

#include "firn/tensor/kernels/cpu/matmul_constant.h"

#include <algorithm>
#include <cstring>

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/kernels/cpu/gemm_colliding.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"

namespace firn::cpu {
namespace {

// Where oneDNN 2.6 reads B in place, and it paid: [768, 2304] took 1.09 of the time with 32 rows
// and 0.78 with 197, [768, 3072] 0.64 and 0.57, and with 512 rows the time was the same.
constexpr int64_t kLeastRows = 32, kMostRows = 384;
constexpr int64_t kCacheLine = 64 / SizeOf(DType::kF32);

// Whether the product, or the copy that it makes of B, gains from longer lines of B.
bool Pays(const GemmShape& s, int64_t length) {
  if (!kPadsCopies || HasTileProducts() || std::min(s.n, s.k) < kRowsToCopyB) return false;
  if (CollidingOf(DType::kF32, s).b) return true;
  return s.b.col == 1 && length % (2 * kCacheLine) == 0 && s.m >= kLeastRows && s.m <= kMostRows;
}

}  // namespace

absl::StatusOr<std::optional<Tensor>> SpreadRight(const MatmulPlan& plan, const Kernel& kernel,
                                                  const Tensor& right) {
  if (kernel.device != DeviceType::kCpu || right.dtype() != DType::kF32) return std::nullopt;
  if (plan.batches != 1 || right.rank() != 2) return std::nullopt;
  const Dims& strides = right.spec().layout.strides;
  const int inner = strides[1] == 1 ? 1 : 0;
  const int64_t lines = right.shape()[1 - inner], length = right.shape()[inner];
  if (strides[inner] != 1 || strides[1 - inner] != length) return std::nullopt;
  if (!Pays(plan.one, length)) return std::nullopt;

  const int64_t line = length + kCacheLine;
  FIRN_ASSIGN_OR_RETURN(const Tensor room, AllocateTensor(TensorSpec::Contiguous(
                                               DType::kF32, Shape({lines, line}), Device())));
  const char* from = right.impl()->data;
  const size_t bytes = static_cast<size_t>(length) * sizeof(float);
  const size_t step = static_cast<size_t>(line) * sizeof(float);
  char* to = room.impl()->data;
  for (int64_t i = 0; i < lines; ++i, from += bytes, to += step) {
    std::memcpy(to, from, bytes);
    std::memset(to + bytes, 0, step - bytes);  // so that equal matrices are equal memory
  }
  Dims spread = strides;
  spread[1 - inner] = line;
  return WrapStorage(room.impl()->storage, room.impl()->data,
                     TensorSpec::Strided(DType::kF32, right.shape(), Device(), spread));
}

}  // namespace firn::cpu
