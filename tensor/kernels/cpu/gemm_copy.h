#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_COPY_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_COPY_H_

// The layouts of a product's operands, and copies of operands that no library reads in place.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Bytes of a dense copy; too many for any allocator when the product overflows (views with a stride
// of 0 are larger than memory).
inline size_t CopyBytes(int64_t size, int64_t rows, int64_t cols) {
  constexpr int64_t kTooMany = int64_t{1} << 60;
  int64_t bytes;
  if (__builtin_mul_overflow(rows, cols, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
      bytes > kTooMany) {
    return static_cast<size_t>(kTooMany);
  }
  return (static_cast<size_t>(bytes) + 63) & ~size_t{63};
}

// True when a library reads the matrix in place: one stride is 1, the other at least the extent of
// that direction.
inline bool InPlace(const MatrixStrides& s, int64_t rows, int64_t cols) {
  return (s.col == 1 && s.row >= std::max<int64_t>(cols, 1)) ||
         (s.row == 1 && s.col >= std::max<int64_t>(rows, 1));
}

// The elements of a line in a copy, of `size` bytes each: lines that lie kCollision apart have few
// places in a cache of the first level (32 KiB in 8 ways has 8 for each), and a library that packs
// a panel reads many of them side by side. Measured where registers have 32 bytes; primitives for
// half types want dense copies.
inline constexpr int64_t kCollision = 2048;  // bytes
inline constexpr bool kPadsCopies = kSimdBytes == 32;
inline int64_t CopyLineOf(int64_t size, int64_t length) {
  const bool pads = kPadsCopies && size >= 4 && length % (kCollision / size) == 0;
  return pads ? length + 64 / size : length;
}

// The strides of a copy of the matrix, in the order in which the original lies, or by rows.
inline MatrixStrides OfCopy(const MatrixStrides& s, int64_t size, int64_t rows, int64_t cols,
                            bool by_rows) {
  if (by_rows || std::abs(s.col) <= std::abs(s.row)) return {CopyLineOf(size, cols), 1};
  return {1, CopyLineOf(size, rows)};
}

// Bytes of a copy with these strides.
inline size_t CopyBytes(int64_t size, const MatrixStrides& s, int64_t rows, int64_t cols) {
  return s.col == 1 && s.row >= cols ? CopyBytes(size, rows, s.row) : CopyBytes(size, s.col, cols);
}
// The most bytes that a copy of these sizes, or of smaller ones, may take: lines of a smaller copy
// may collide where those of the larger one do not. The same room also covers a product whose parts
// grow in one direction as the other shrinks (PartOf in gemm.cc).
inline size_t MostCopyBytes(int64_t size, const MatrixStrides& s, int64_t rows, int64_t cols,
                            bool by_rows) {
  const int64_t more = 64 / size;
  return by_rows || std::abs(s.col) <= std::abs(s.row) ? CopyBytes(size, rows, cols + more)
                                                       : CopyBytes(size, rows + more, cols);
}

// Strides along directions of size 1 mean nothing; make them what the libraries expect.
inline MatrixStrides Canonical(MatrixStrides s, int64_t rows, int64_t cols) {
  if (cols == 1 && rows == 1) return {1, 1};
  if (cols == 1) s.col = s.row == 1 ? rows : 1;
  if (rows == 1) s.row = s.col == 1 ? cols : 1;
  return s;
}

// to[j] = from[j * step] in another type, in strips where the conversion is one of rows.
template <class To, class From>
void CopyLine(const From* from, int64_t step, int64_t length, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    for (int64_t j = 0; j < length; ++j) to[j] = from[j * step];
  } else if (step == 1) {
    ToFloats(from, length, to);
  } else {
    constexpr int64_t kStrip = 128;
    From strip[kStrip];
    for (int64_t j = 0; j < length; j += kStrip) {
      const int64_t n = std::min(kStrip, length - j);
      for (int64_t l = 0; l < n; ++l) strip[l] = from[(j + l) * step];
      ToFloats(strip, n, to + j);
    }
  }
}

// A line's worth of work for a thread.
inline int64_t LineGrain(int64_t length) {
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(length, 1));
}

// Lines of the copy are `to_line` elements apart.
template <class To, class From>
void CopyMatrix(const From* from, const MatrixStrides& s, int64_t rows, int64_t cols, To* to,
                int64_t to_line) {
  const bool by_rows = std::abs(s.col) <= std::abs(s.row);
  const int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
  const int64_t line_step = by_rows ? s.row : s.col, step = by_rows ? s.col : s.row;
  ParallelFor(lines, LineGrain(length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      CopyLine(from + i * line_step, step, length, to + i * to_line);
    }
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_COPY_H_
