#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_COLLIDING_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_COLLIDING_H_

// Operands of products of f32 whose lines collide in the cache: which of them are copied with lines
// of another length, and how much of them at once.

#include <algorithm>
#include <cstdint>

#include "firn/tensor/kernels/cpu/gemm_copy.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Operands of f32 are copied if their lines collide in the cache, because oneDNN reads several of
// these side by side. On a processor of 32-byte registers [197, 768] x [768, 3072] takes 28 ms,
// and 13 if the lines of B are 64 bytes longer; a copy costs less from about so many rows on for B,
// and columns for A. No processor with longer registers has shown that it pays there.
inline constexpr int64_t kRowsToCopyB = 48, kColumnsToCopyA = 256;
// Bytes of each operand that are copied at once, some of the inner direction times some of the
// other: copies stay in cache, and do not grow with the operands.
inline constexpr int64_t kCopied = 1 << 22, kCopiedInner = 1024;

struct Copied {
  bool a = false, b = false;
  // B has the lines of such a copy already, as constants in graphs do (matmul_constant.h). It is
  // read in the same parts, so that both give the same bits.
  bool b_spread = false;
  bool any() const { return a || b || b_spread; }
};
// Requires: canonical strides.
inline Copied CollidingOf(DType dtype, const GemmShape& s) {
  if (dtype != DType::kF32 || !kPadsCopies || s.in_place) return {};
  if (std::min(s.n, s.k) < kRowsToCopyB || s.m < kRowsToCopyB) return {};
  if (!InPlace(s.a, s.m, s.k) || !InPlace(s.b, s.k, s.n)) return {};
  constexpr int64_t kSize = SizeOf(DType::kF32);
  const auto collides = [](int64_t line) { return line % (kCollision / kSize) == 0; };
  const int64_t a_line = std::max(s.a.row, s.a.col), b_line = std::max(s.b.row, s.b.col);
  const int64_t b_length = s.b.col == 1 ? s.n : s.k;
  return {.a = s.n >= kColumnsToCopyA && collides(a_line),
          .b = collides(b_line),
          .b_spread = collides(b_length) && b_line == CopyLineOf(kSize, b_length)};
}

// The largest part of a product with such copies.
inline GemmShape PartOfCopied(const GemmShape& s, const Copied& copied) {
  const auto some = [](int64_t size, int64_t most) {
    return RoundUp(CeilDiv(size, CeilDiv(size, most)), kRowsToCopyB);
  };
  GemmShape part = s;
  part.k = std::min(s.k, some(s.k, kCopiedInner));
  const int64_t lines = kCopied / SizeOf(DType::kF32) / part.k;
  if (copied.a) part.m = std::min(s.m, some(s.m, lines));
  if (copied.b || copied.b_spread) part.n = std::min(s.n, some(s.n, lines));
  return part;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_COLLIDING_H_
